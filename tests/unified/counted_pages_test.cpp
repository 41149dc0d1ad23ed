// Attribution of page events: synthetic events for arrays and phases that are known, and the meaning of CUPTI's
// records.
#include <map>
#include <random>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "counters/counted_pages.hpp"
#include "cupti/decode.hpp"

namespace fr = ferry;
using kind = fr::detail::page_event_kind;
using cause = fr::detail::page_event_cause;

namespace counted_pages {
namespace {

constexpr std::uint64_t base = 1 << 20;

fr::detail::byte_range bytes(std::uint64_t from, std::uint64_t to) {
  return {reinterpret_cast<const std::byte*>(base + from), reinterpret_cast<const std::byte*>(base + to)};
}

fr::detail::page_event moved(kind k, cause why, std::uint64_t from, std::uint64_t to, std::uint64_t at) {
  return {k, why, base + from, to - from, 1, at, at + 1};
}
fr::detail::page_event fault(kind k, std::uint64_t where, std::uint64_t at, std::uint64_t end = 0) {
  return {k, cause::unknown, base + where, 0, 1, at, end};
}

}  // namespace
}  // namespace counted_pages

BOOST_AUTO_TEST_SUITE(counted_pages)

BOOST_AUTO_TEST_CASE(each_kind_has_its_column) {
  fr::detail::counted_pages pages;
  pages.used(bytes(0, 100), "u", "p", 1);
  pages.enter({moved(kind::to_device, cause::asked, 0, 1, 2),
               moved(kind::to_device, cause::touched, 0, 2, 2),
               moved(kind::to_device, cause::speculated, 2, 4, 2),
               moved(kind::to_cpu, cause::asked, 0, 5, 2),
               moved(kind::to_cpu, cause::unknown, 0, 6, 2),
               moved(kind::to_cpu, cause::evicted, 0, 7, 2),
               moved(kind::between_devices, cause::asked, 0, 8, 2),
               moved(kind::between_devices, cause::counted, 0, 9, 2),
               moved(kind::remote_map, cause::unknown, 0, 10, 2),
               moved(kind::thrashing, cause::unknown, 0, 50, 2),
               fault(kind::throttling, 3, 2),
               fault(kind::cpu_fault, 3, 2),
               fault(kind::cpu_fault, 4, 2),
               {kind::device_fault, cause::unknown, base + 99, 0, 3, 2, 2}});
  const auto rows = pages.rows();
  BOOST_REQUIRE(rows.size() == 1U);
  const fr::counted_moves& c = rows.at({"u", "p"});
  BOOST_TEST((c.to_devices.by_prefetch == 1 && c.to_devices.by_fault == 4));
  BOOST_TEST((c.to_cpu.by_prefetch == 5 && c.to_cpu.by_fault == 6 && c.evicted == 7));
  BOOST_TEST((c.between_devices.by_prefetch == 8 && c.between_devices.by_fault == 9 && c.remote == 10));
  BOOST_TEST((c.thrashing == 1 && c.throttled == 1 && c.cpu_faults == 2 && c.device_faults == 3));
}

BOOST_AUTO_TEST_CASE(arrays_share_what_covers_several) {
  fr::detail::counted_pages pages;
  pages.used(bytes(10, 40), "a", "", 1);
  pages.used(bytes(40, 50), "b", "", 1);
  pages.enter({moved(kind::to_device, cause::touched, 0, 60, 5)});
  const auto rows = pages.rows();
  BOOST_TEST(rows.at({"a", ""}).to_devices.by_fault == 30);
  BOOST_TEST(rows.at({"b", ""}).to_devices.by_fault == 10);
  BOOST_TEST(rows.at({fr::detail::counted_pages::other_memory, ""}).to_devices.by_fault == 20);
}

// Faults are reported by page, which may begin before the array.
BOOST_AUTO_TEST_CASE(faults_belong_to_an_array_of_their_page) {
  fr::detail::counted_pages pages;
  pages.used(bytes(100, 200), "a", "", 1);
  pages.used(bytes(200, 300), "b", "", 1);
  pages.enter({fault(kind::device_fault, 0, 2), fault(kind::device_fault, 250, 2), fault(kind::device_fault, 8192, 2)});
  const auto rows = pages.rows();
  BOOST_TEST(rows.at({"a", ""}).device_faults == 1U);
  BOOST_TEST(rows.at({"b", ""}).device_faults == 1U);
  BOOST_TEST(rows.at({fr::detail::counted_pages::other_memory, ""}).device_faults == 1U);
}

BOOST_AUTO_TEST_CASE(phases_and_owners_by_the_time_of_the_event) {
  fr::detail::counted_pages pages;
  pages.used(bytes(0, 10), "a", "first", 10);
  pages.used(bytes(0, 10), "a", "second", 20);
  pages.used(bytes(0, 20), "b", "second", 30);  // a was destroyed
  const auto at = [](std::uint64_t t) { return moved(kind::to_cpu, cause::touched, 0, 10, t); };
  pages.enter({at(25), at(35), at(10), at(19)});  // events arrive in any order
  pages.enter({at(5)});                           // before the first record: attributed to the current owner
  const auto rows = pages.rows();
  BOOST_TEST(rows.at({"a", "first"}).to_cpu.by_fault == 20);
  BOOST_TEST(rows.at({"a", "second"}).to_cpu.by_fault == 10);
  BOOST_TEST(rows.at({"b", "second"}).to_cpu.by_fault == 20);
  BOOST_TEST(rows.size() == 3U);
  pages.clear_rows();
  BOOST_TEST(pages.rows().empty());
  pages.enter({at(40)});
  BOOST_TEST(pages.rows().at({"b", "second"}).to_cpu.by_fault == 10, "the place of the bytes is still known");
}

// One interval serves a batch of faults.
BOOST_AUTO_TEST_CASE(time_is_counted_once) {
  fr::detail::counted_pages pages;
  pages.used(bytes(0, 100), "a", "", 0);
  constexpr std::uint64_t ms = 1000000;
  pages.enter({fault(kind::device_fault, 2, 5 * ms, 7 * ms),
               fault(kind::device_fault, 1, 4 * ms, 6 * ms),  // earlier, but reported later
               fault(kind::device_fault, 3, 4 * ms, 6 * ms),
               fault(kind::throttling, 3, 10 * ms, 11 * ms),
               {kind::to_device, cause::asked, base, 10, 1, 20 * ms, 30 * ms},
               {kind::to_cpu, cause::touched, base, 10, 1, 40 * ms, 42 * ms}});
  BOOST_TEST(pages.rows().at({"a", ""}).busy_milliseconds == 6.0, boost::test_tools::tolerance(1e-9));
}

// Random arrays over 64 bytes. A simple oracle stores each byte's owner at each time.
BOOST_AUTO_TEST_CASE(random_histories) {
  struct life {
    std::uint64_t begin, end, since, until;
    std::string name;
    std::map<std::uint64_t, std::string> phases;
  };
  constexpr std::uint64_t now_and_ever = 1000;
  using row_name = fr::detail::counted_pages::row_name;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::uint64_t n) { return random() % n; };
    fr::detail::counted_pages pages;
    std::vector<life> lives;
    for (std::uint64_t now = 10; now < 400; now += 10) {
      const std::uint64_t begin = pick(4) * 16, end = begin + 16 * (1 + pick((64 - begin) / 16));
      const std::string name(1, static_cast<char>('a' + pick(3))), phase(1, static_cast<char>('0' + pick(3)));
      pages.used(bytes(begin, end), name, phase, now);
      life* same = nullptr;
      for (life& l : lives) {
        if (l.until != now_and_ever || l.end <= begin || end <= l.begin) continue;
        if (l.begin == begin && l.end == end && l.name == name)
          same = &l;
        else
          l.until = now;
      }
      if (!same) same = &lives.emplace_back(life{begin, end, now, now_and_ever, name, {}});
      same->phases[now] = phase;
    }
    std::map<row_name, std::uint64_t> expected, found;
    std::vector<fr::detail::page_event> events;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t from = pick(60), to = from + 1 + pick(64 - from), at = pick(420);
      events.push_back(moved(kind::to_device, cause::touched, from, to, at));
      for (std::uint64_t b = from; b < to; ++b) {
        const life *then = nullptr, *now = nullptr;
        for (const life& l : lives) {
          if (b < l.begin || l.end <= b) continue;
          if (l.until == now_and_ever) now = &l;
          if (l.since <= at && at < l.until) then = &l;
        }
        const life* const owner = then ? then : now;
        row_name row{fr::detail::counted_pages::other_memory, ""};
        if (owner) {
          auto p = owner->phases.upper_bound(at);
          if (p != owner->phases.begin()) --p;
          row = {owner->name, p->second};
        }
        ++expected[row];
      }
    }
    pages.enter(events);
    for (const auto& [row, c] : pages.rows()) found[row] = c.to_devices.by_fault;
    BOOST_TEST((found == expected), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(records_of_cupti) {
  using fr::detail::cupti::decode;
  const auto e = decode({1, 4096, 10, 20, 77, 1});
  BOOST_REQUIRE(e);
  BOOST_TEST((e->kind == kind::to_device && e->cause == cause::asked && e->bytes == 4096 && e->address == 77));
  BOOST_TEST((e->start == 10 && e->end == 20));
  BOOST_TEST((decode({2, 8, 0, 0, 0, 4})->kind == kind::to_cpu && decode({2, 8, 0, 0, 0, 4})->cause == cause::evicted));
  BOOST_TEST((decode({8, 8, 0, 0, 0, 2})->kind == kind::between_devices));
  BOOST_TEST((decode({8, 8, 0, 0, 0, 2})->cause == cause::touched));
  BOOST_TEST((decode({1, 8, 0, 0, 0, 3})->cause == cause::speculated));
  BOOST_TEST((decode({1, 8, 0, 0, 0, 5})->cause == cause::counted));
  BOOST_TEST((decode({1, 8, 0, 0, 0, 99})->cause == cause::unknown));
  // For a CPU fault, the value field is an instruction's address, the end is meaningless, and the flags give the kind
  // of access.
  const auto cpu = decode({3, 0x7f0012345678, 10, 99, 5, 2});
  BOOST_TEST((cpu->kind == kind::cpu_fault && cpu->times == 1 && cpu->bytes == 0 && cpu->end == 0));
  BOOST_TEST((cpu->cause == cause::unknown));
  const auto gpu = decode({4, 3, 10, 30, 5, 1});
  BOOST_TEST((gpu->kind == kind::device_fault && gpu->times == 3 && gpu->bytes == 0 && gpu->end == 30));
  BOOST_TEST((decode({4, 0, 0, 0, 0, 0})->times == 1));
  BOOST_TEST((decode({5, 64, 0, 7, 0, 1})->kind == kind::thrashing && decode({5, 64, 0, 7, 0, 1})->end == 0));
  BOOST_TEST((decode({6, 0, 1, 7, 0, 1})->kind == kind::throttling && decode({6, 0, 1, 7, 0, 1})->bytes == 0));
  BOOST_TEST((decode({7, 64, 0, 0, 0, 3})->kind == kind::remote_map && decode({7, 64, 0, 0, 0, 3})->bytes == 64));
  BOOST_TEST((!decode({0, 1, 1, 1, 1, 1}) && !decode({9, 1, 1, 1, 1, 1})));
}

BOOST_AUTO_TEST_SUITE_END()
