// Reports with counters: page traffic of simulated devices by array and phase, and the reason if there are none.
#include <cstdlib>
#include <map>
#include <optional>
#include <random>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "ferry/core/detail/runtime/unified_pages.hpp"
#include "sim/sim_backend.hpp"
#include "support/counting_backend.hpp"

namespace fr = ferry;

namespace migration_counters {
namespace {

constexpr std::size_t page = std::size_t{2} << 20;

fr::detail::sim::traffic moved() {
  return dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend()).moved();
}

void finish() {
  for (const fr::device d : fr::devices()) fr::default_stream(d).synchronize();
}

std::uint64_t asked(const fr::counted_moves& c) {
  return c.to_devices.by_prefetch + c.to_cpu.by_prefetch + c.between_devices.by_prefetch;
}
std::uint64_t faulted(const fr::counted_moves& c) {
  return c.to_devices.by_fault + c.to_cpu.by_fault + c.between_devices.by_fault;
}

const fr::migration_entry& entry(const fr::migration_report& r, const std::string& array, const std::string& phase) {
  for (const fr::migration_entry& e : r.entries)
    if (e.array == array && e.phase == phase) return e;
  throw std::runtime_error("no entry of " + array + " in " + phase + "\n" + r.table());
}

// Sets FERRY_MIGRATION_COUNTERS, and restores it in the destructor.
class counters_variable {
 public:
  explicit counters_variable(const char* value) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~counters_variable() { before_ ? ::setenv(name, before_->c_str(), 1) : ::unsetenv(name); }

 private:
  static constexpr const char* name = "FERRY_MIGRATION_COUNTERS";
  std::optional<std::string> before_;
};

}  // namespace
}  // namespace migration_counters

BOOST_AUTO_TEST_SUITE(migration_counters)

BOOST_AUTO_TEST_CASE(off_unless_asked_for) {
  counters_variable none("");
  fr::simulation sim("devices=1");
  fr::unified_array<char> u({page}, 'x');
  const fr::migration_report r = fr::report_migration();
  BOOST_TEST((!r.is_counted && r.not_counted.empty()));
  for (const fr::migration_entry& e : r.entries) BOOST_TEST(!e.counted.has_value());
  BOOST_TEST(r.table().find("counted") == std::string::npos);
  BOOST_TEST(r.json().find("counted") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(by_array_and_phase) {
  counters_variable on("on");
  fr::simulation sim("devices=2;memory=64MiB");
  fr::set_migration(fr::migration::explicitly);
  fr::unified_array<char> u({4 * page}), v({2 * page});
  u.name("u"), v.name("v");
  const fr::device d0 = fr::devices()[0], d1 = fr::devices()[1];
  {
    fr::migration_phase phase("faults");
    fr::fill(fr::default_stream(d0), u, 'a');
    fr::fill(fr::default_stream(d1), u.slice({0, page}), 'b');
    finish();
  }
  {
    fr::migration_phase phase("hints");
    fr::prefetch(v, d1);
    fr::prefetch(u, fr::host);
    finish();
  }
  const fr::migration_report r = fr::report_migration();
  BOOST_REQUIRE(r.is_counted);
  BOOST_TEST(r.lost_counts == 0U);
  const fr::counted_moves &uf = *entry(r, "u", "faults").counted, &uh = *entry(r, "u", "hints").counted,
                          &vh = *entry(r, "v", "hints").counted;
  BOOST_TEST((uf.to_devices.by_fault == 4 * page && uf.between_devices.by_fault == page && uf.device_faults == 5));
  BOOST_TEST((asked(uf) == 0 && uf.to_cpu.by_fault == 0 && uf.cpu_faults == 0));
  BOOST_TEST((uh.to_cpu.by_prefetch == 4 * page && faulted(uh) == 0 && uh.device_faults == 0));
  BOOST_TEST((vh.to_devices.by_prefetch == 2 * page && faulted(vh) == 0));
  const std::string table = r.table(), json = r.json();
  BOOST_TEST(table.find("GPU faults") != std::string::npos, table);
  BOOST_TEST(table.find("thrashing") == std::string::npos, "a column of zeros\n" << table);
  BOOST_TEST(json.find("\"counted\": {\"to_devices\": {\"by_prefetch\": 0, \"by_fault\": " +
                       std::to_string(4 * page)) != std::string::npos,
             json);

  fr::reset_migration_report();
  fr::fill(fr::default_stream(d1), v, 'c');  // already there
  finish();
  for (const fr::migration_entry& e : fr::report_migration().entries)
    BOOST_TEST((e.counted && asked(*e.counted) + faulted(*e.counted) == 0), e.array);
  fr::set_migration_counters(fr::migration_counters::off);
  BOOST_TEST(!fr::report_migration().is_counted);
  fr::set_migration_counters(fr::migration_counters::on);
  BOOST_TEST(fr::report_migration().is_counted);
}

// A device too small for both arrays: each evicts the other. Its 6 pages hold 4 of u, then 5 of v, which begins
// slightly after a page boundary.
BOOST_AUTO_TEST_CASE(evictions_count_for_the_evicted_array) {
  fr::simulation sim("devices=1;memory=12MiB");
  fr::set_migration_counters(fr::migration_counters::on);
  fr::set_migration(fr::migration::explicitly);
  fr::unified_array<char> u({4 * page}), v({4 * page});
  u.name("u"), v.name("v");
  fr::fill(u, 'a');
  fr::fill(v, 'b');
  finish();
  const fr::migration_report r = fr::report_migration();
  BOOST_TEST(moved().evicted == 3 * page);
  BOOST_TEST(entry(r, "u", "").counted->evicted == 3 * page);
  BOOST_TEST(entry(r, "u", "").counted->to_cpu.by_fault == 0U);
  BOOST_TEST(entry(r, "v", "").counted->evicted == 0U);
  BOOST_TEST(r.table().find("evicted") != std::string::npos);
}

// Random steps, each with one array in one phase, and complete before the next: traffic in between belongs to that
// array.
BOOST_AUTO_TEST_CASE(random_steps_against_the_traffic) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    fr::simulation sim("devices=3;memory=256MiB;schedule=random:" + std::to_string(seed));
    for (const fr::device d : fr::devices())
      sim.get().pages().test_links(d.index());  // runs the link tests, which move pages
    fr::set_migration_counters(fr::migration_counters::on);
    std::map<std::pair<std::string, std::string>, fr::detail::sim::traffic> expected;
    std::vector<std::optional<fr::unified_array<char>>> arrays(3);
    int made = 0;
    for (int step = 0; step < 40; ++step) {
      auto& u = arrays[pick(arrays.size())];
      if (!u || pick(8) == 0) {  // new arrays with other names and sizes reuse old bytes
        u.emplace(fr::extents<1>{page / 4 * (1 + pick(12))});
        u->name("array " + std::to_string(made++ % 5));
      }
      const std::string phase = "phase " + std::to_string(pick(3));
      const fr::detail::sim::traffic before = moved();
      {
        fr::migration_phase in(phase);
        fr::migration_scope how(pick(2) == 0 ? fr::migration::automatic : fr::migration::explicitly);
        const fr::device d = fr::devices()[pick(3)];
        const std::size_t from = pick(u->size()), to = from + 1 + pick(u->size() - from);
        switch (pick(4)) {
          case 0: fr::fill(fr::default_stream(d), u->slice({from, to}), 'x'); break;
          case 1: fr::prefetch(u->slice({from, to}), d); break;
          case 2: fr::prefetch(*u, fr::host); break;
          case 3:
            for (char& c : u->slice({from, to})) c = 'y';
            break;
        }
        finish();
      }
      const fr::detail::sim::traffic after = moved();
      fr::detail::sim::traffic& t = expected[{u->owner().get().name.get(), phase}];
      t.prefetched += after.prefetched - before.prefetched;
      t.faulted += after.faulted - before.faulted;
    }
    const fr::migration_report r = fr::report_migration();
    std::size_t rows = 0;
    for (const fr::migration_entry& e : r.entries) {
      BOOST_REQUIRE(e.counted.has_value());
      const fr::detail::sim::traffic t = expected[{e.array, e.phase}];
      BOOST_TEST((asked(*e.counted) == t.prefetched && faulted(*e.counted) == t.faulted),
                 "seed " << seed << ": " << e.array << ", " << e.phase);
      rows += t.prefetched + t.faulted > 0;
    }
    for (const auto& [row, t] : expected) rows -= t.prefetched + t.faulted > 0;
    BOOST_TEST(rows == 0U, "seed " << seed << ": every row that moved is there");
  }
}

BOOST_AUTO_TEST_CASE(the_report_says_why_not) {
  {
    fr::simulation sim("devices=1;concurrent_managed=off");
    fr::set_migration_counters(fr::migration_counters::on);
    fr::unified_array<char> u({page}, 'x');
    for (char& c : u) c = 'y';
    const fr::migration_report r = fr::report_migration();
    BOOST_TEST(!r.is_counted);
    BOOST_TEST(r.not_counted.find("stays where it is") != std::string::npos, r.not_counted);
    BOOST_TEST(r.table().find("Not counted by the driver: unified memory stays where it is") != std::string::npos,
               r.table());
    BOOST_TEST(r.json().find("\"not_counted\": \"unified memory stays where it is") != std::string::npos, r.json());
    fr::set_migration_counters(fr::migration_counters::off);
    BOOST_TEST(fr::report_migration().not_counted.empty());
  }
  fr::simulation sim("devices=1");
  support::call_counts calls;
  fr::runtime_scope scope(std::make_unique<support::counting_backend>(sim.get().backend(), calls));
  fr::set_migration_counters(fr::migration_counters::on);
  const fr::migration_report r = fr::report_migration();
  BOOST_TEST(r.not_counted.find("does not count") != std::string::npos, r.not_counted);
}

BOOST_AUTO_TEST_CASE(what_the_environment_may_say) {
  {
    counters_variable on("on");
    fr::simulation sim("devices=1");
    BOOST_TEST(fr::report_migration().is_counted);
  }
  counters_variable wrong("yes");
  try {
    fr::simulation sim("devices=1");
    BOOST_ERROR("FERRY_MIGRATION_COUNTERS=yes was accepted");
  } catch (const fr::parse_error& e) {
    const std::string text = e.what();
    BOOST_TEST(text.find("'yes'") != std::string::npos, text);
    BOOST_TEST(text.find("allowed are off, on") != std::string::npos, text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
