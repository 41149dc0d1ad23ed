// Poison, red zones and quarantine: reads of unwritten elements, writes past the end, and uses after free are detected.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contract/memory_checks_fixture.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "support/counting_backend.hpp"

using namespace contract;

namespace contract_of_memory_checks {
namespace {

struct square {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const double* x, double* y) const { y[i] = x[i] * x[i]; }
};
struct set_int {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] = 5; }
};

// Writes bytes on a stream, outside ferry.
void scribble(fr::native_stream s, const void* p, std::ptrdiff_t offset, std::size_t count, unsigned char value = 7) {
  auto* const at = static_cast<std::byte*>(const_cast<void*>(p)) + offset;
  fr::runtime::current().backend().fill_strided(s, {at, {1}}, {1, 1, {count}}, &value);
}

}  // namespace
}  // namespace contract_of_memory_checks

BOOST_FIXTURE_TEST_SUITE(contract_of_memory_checks, checked)

BOOST_AUTO_TEST_CASE_TEMPLATE(what_was_never_written_reads_as_nan, K, kinds) {
  const fr::memory_checks_scope on;
  for (const std::size_t n : {1u, 3u, 1000u, 100001u}) {
    const fr::basic_array<float, 1, K::value> f({n});
    const fr::basic_array<double, 1, K::value> d({n});
    const fr::basic_array<unsigned char, 1, K::value> bytes({n});
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(d.unsynchronized_data()) % 256 == 0u);
    BOOST_TEST(all_nan(fr::to_vector(f)));
    BOOST_TEST(all_nan(fr::to_vector(d)));
    BOOST_TEST((fr::to_vector(bytes) == std::vector<unsigned char>(n, 0xFF)));
    fr::device_array<double> y({n});
    fr::stream s;
    fr::parallel_for(s, n, square{}, fr::in(d), fr::out(y));
    BOOST_TEST(all_nan(fr::to_vector(y)));
    if constexpr (K::value != memory_kind::device) BOOST_TEST(std::isnan(f[n - 1]));
  }
  BOOST_TEST(fr::check_memory().empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_was_freed_reads_as_nan, K, kinds) {
  const fr::memory_checks_scope on;
  constexpr std::size_t n = 5000;
  fr::stream s;
  fr::basic_array<double, 1, K::value> a({n}, 1.0);
  const double* const stale = a.unsynchronized_data();
  a.free();
  s.synchronize();
  std::vector<double> seen(n, 1.0);
  (void)fr::check_memory();  // waits for the poison fill, because the raw copy below is not ordered
  fr::runtime::current().backend().copy(s.native(), seen.data(), stale, n * sizeof(double));
  s.synchronize();
  BOOST_TEST(all_nan(seen));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(writes_outside_are_found, K, kinds) {
  const fr::memory_checks_scope on;
  fr::stream s;
  for (const std::ptrdiff_t offset : {-1, -200, 401, 656}) {
    fr::basic_array<int, 1, K::value> a({100}, 3);
    fr::basic_array<unsigned char, 1, K::value> odd({401});
    a.name("victim");
    odd.name("odd");
    const int* const p = fr::pointer(a, s);
    const unsigned char* const q = fr::pointer(odd, s);
    const std::ptrdiff_t at = offset > 0 ? offset - 1 : offset;
    scribble(s.native(), p, at, 1);
    scribble(s.native(), q, 401, 3);
    const bool freed = offset % 2 == 0;
    if (freed) a.free(), odd.free();
    const auto faults = fr::check_memory();
    BOOST_REQUIRE(faults.size() == 2u);
    const auto& f = faults[0].name == "victim" ? faults[0] : faults[1];
    const auto& g = faults[0].name == "victim" ? faults[1] : faults[0];
    BOOST_TEST((f.name == "victim" && f.kind == K::value && f.bytes == 400u && f.first == at && f.changed == 1u));
    BOOST_TEST((f.where == (offset < 0 ? fr::memory_fault::place::before : fr::memory_fault::place::after)));
    BOOST_TEST((g.name == "odd" && g.first == 401 && g.changed == 3u));
    BOOST_TEST((f.address == reinterpret_cast<const std::byte*>(p)));
    for (const std::string_view part : {"'victim'", "400 bytes at 0x", "device 0", "1 byte is"})
      BOOST_TEST(contains(f.text(), part), f.text());
    BOOST_TEST(contains(f.text(), offset < 0 ? "before its first byte" : "past its end"), f.text());
    BOOST_TEST(fr::check_memory().empty());  // reported once
  }
}

// The freeing thread does not wait. The next synchronization reports the fault.
BOOST_AUTO_TEST_CASE(a_free_does_not_wait) {
  support::call_counts calls;
  auto& below = fr::runtime::current().backend();
  const fr::runtime_scope counted(std::make_unique<support::counting_backend>(below, calls));
  const fr::memory_checks_scope on;
  fr::stream s;
  fr::device_array<int> a({100000});
  a.name("late");
  fr::submit(
      s, [](fr::native_stream to, int* p) { scribble(to, p, 400000, 1); }, a);
  const long before = calls.cpu_waits;
  a.free();
  BOOST_TEST(calls.cpu_waits == before);
  for (int i = 0; i < 10 && fr::check_memory().empty(); ++i) BOOST_TEST(i == 0);
  BOOST_TEST(calls.cpu_waits > before);
}

BOOST_AUTO_TEST_CASE(a_synchronisation_tells) {
  const fr::memory_checks_scope on;
  fr::stream s;
  {
    fr::device_array<int> a({100});
    fr::submit(
        s, [](fr::native_stream to, int* p) { scribble(to, p, 400, 2); }, a);
  }
  fr::stream t;
  for (int i = 0; i < 100; ++i) {
    fr::device_array<int> b({10}, 1);
    (void)fr::to_vector(b);
    t.synchronize();  // already on stderr
  }
  const auto faults = fr::check_memory();
  BOOST_REQUIRE(faults.size() == 1u);
  BOOST_TEST(faults[0].changed == 2u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(writes_after_free_are_found, K, kinds) {
  const fr::memory_checks_scope on;
  fr::stream s;
  fr::basic_array<int, 1, K::value> a({1000}, 0), b({1000}, 0);
  a.name("gone");
  const auto* const p = a.unsynchronized_data();
  const auto* const q = b.unsynchronized_data();
  a.free();
  b.free();
  BOOST_TEST(fr::check_memory().empty());
  scribble(s.native(), p, 8, 4);
  scribble(s.native(), q, 3999, 1);
  s.synchronize();
  const auto faults = fr::check_memory();
  BOOST_REQUIRE(faults.size() == 2u);
  for (const auto& f : faults) {
    BOOST_TEST((f.where == fr::memory_fault::place::freed));
    BOOST_TEST(contains(f.text(), "after it was freed"));
    BOOST_TEST(f.first == (f.name == "gone" ? 8 : 3999));
  }
}

// Blocks in quarantine are not reused. Beyond its limits the oldest blocks leave, after a final check.
BOOST_AUTO_TEST_CASE(quarantine_delays_reuse) {
  fr::pool split(fr::default_device(), {.kind = fr::pool_kind::split});  // a kind of pool that would reuse them
  const fr::pool_scope from(split);
  const fr::memory_checks_scope on(fr::memory_checks{.quarantine_blocks = 5});
  std::vector<const int*> seen;
  fr::stream s;
  for (int i = 0; i < 5; ++i) {
    fr::device_array<int> a({1000});
    BOOST_TEST((std::find(seen.begin(), seen.end(), a.unsynchronized_data()) == seen.end()));
    seen.push_back(a.unsynchronized_data());
  }
  (void)fr::check_memory();             // waits for the poison fill
  scribble(s.native(), seen[0], 0, 4);  // the oldest block
  s.synchronize();
  { fr::device_array<int> a({1000}); }  // pushes it out
  bool reused = false;
  std::vector<fr::device_array<int>> held;
  for (int i = 0; i < 50; ++i) {
    held.emplace_back(fr::extents<1>(1000));
    reused |= held.back().unsynchronized_data() == seen[0];
    for (std::size_t k = 1; k < seen.size(); ++k) BOOST_TEST(held.back().unsynchronized_data() != seen[k]);
  }
  BOOST_TEST(reused);
  held.clear();
  const auto faults = fr::check_memory();
  BOOST_REQUIRE(faults.size() == 1u);
  BOOST_TEST((faults[0].where == fr::memory_fault::place::freed && faults[0].changed == 4u));
}

BOOST_AUTO_TEST_CASE(quarantine_ends_when_memory_runs_out) {
  const fr::simulation runtime("devices=1;memory=64MiB");
  const fr::memory_checks_scope on;
  for (int i = 0; i < 20; ++i) fr::device_array<char> a({20u << 20}, 'x');
  BOOST_TEST(fr::runtime::current().allocations() == 0u);
}

// Blocks of the driver's pools, checked and retained by workspaces, on devices without peer access: each block needs
// its own grant.
BOOST_AUTO_TEST_CASE(checked_blocks_and_workspaces_where_no_devices_are_peers) {
  for (const bool with_checks : {false, true})
    for (const fr::pool_kind kind : {fr::pool_kind::driver, fr::pool_kind::split}) {
      const fr::simulation runtime("devices=2;peers=none", {.kind = kind});
      fr::runtime::current().peers().kernels(fr::detail::peer_kernels::error);
      if (with_checks) fr::set_memory_checks(fr::memory_checks());
      fr::workspace w;
      for (int i = 0; i < 3; ++i) {
        const fr::workspace_scope scope(w);
        std::vector<fr::device_array<float>> all;
        std::vector<fr::host_array<float>> pinned;
        for (const fr::device d : fr::devices()) {
          const fr::stream s(d);
          all.emplace_back(fr::extents<1>{100}, 1.f, d);
          pinned.emplace_back(fr::extents<1>{100}, 2.f, d);
          fr::parallel_for(s, 50, set_some{}, fr::inout(all.back()));
          fr::parallel_for(s, 50, set_some{}, fr::inout(pinned.front()));  // all devices can access it
        }
        const fr::stream s(fr::devices()[1]);
        BOOST_CHECK_THROW(fr::parallel_for(s, 50, set_some{}, fr::inout(all[0])), fr::peer_access_error);
        fr::copy(s, all[0], all[1]);
        BOOST_TEST(fr::to_vector(all[1])[3] == 1.f);
      }
      BOOST_TEST(w.statistics().reused == 8u);
      w.clear();
      BOOST_TEST(fr::check_memory().empty());
      fr::set_memory_checks(std::nullopt);
    }
}

// Arrays created and destroyed inside a capture belong to the graph. Checks do not enter it.
BOOST_AUTO_TEST_CASE(captures_and_submissions) {
  const fr::memory_checks_scope on;
  fr::stream s;
  fr::device_array<int> y({100});
  {
    fr::graph g = fr::capture(s, [&] {
      fr::device_array<int> tmp({100});
      fr::parallel_for(s, 100, set_int{}, fr::out(tmp));
      fr::copy(s, tmp, y);
      fr::device_array<int> unused({10});
    });
    g.launch(s);
    g.launch(s);
    CHECK_EQUAL(fr::to_vector(y), std::vector<int>(100, 5));
  }
  std::optional<fr::device_array<int>> inside(fr::extents<1>(10));
  fr::submit(
      s, [&](fr::native_stream, int*) { inside.reset(); }, y);  // freed where no work can be enqueued
  BOOST_TEST(fr::check_memory().empty());
}

BOOST_AUTO_TEST_CASE(workspaces_are_poisoned_for_each_array) {
  const fr::memory_checks_scope on;
  fr::workspace w;
  for (int i = 0; i < 3; ++i) {
    const fr::workspace_scope use(w);
    fr::device_array<float> a({100});
    BOOST_TEST(all_nan(fr::to_vector(a)));
    fr::fill(a, 1.f);
  }
  BOOST_TEST(w.statistics().reused == 2u);
}

// With checks off, creating an array makes no backend call once the pool is warm.
BOOST_AUTO_TEST_CASE(off_costs_no_call) {
  support::call_counts calls;
  auto& below = fr::runtime::current().backend();
  const fr::runtime_scope counted(std::make_unique<support::counting_backend>(below, calls),
                                  {.kind = fr::pool_kind::split});
  const auto round = [&] {
    const long before = calls.all;
    for (int i = 0; i < 10; ++i) fr::device_array<int> a({1000});
    return calls.all - before;
  };
  fr::set_memory_checks(std::nullopt);
  (void)round();
  BOOST_TEST(round() == 0);
  {
    const fr::memory_checks_scope on;
    (void)round();
    BOOST_TEST(round() >= 10 * (3 + 3));  // three fills each; two copies and a fill
  }
  (void)fr::check_memory();
}

BOOST_AUTO_TEST_CASE(threads_make_and_free_checked_arrays) {
  const fr::memory_checks_scope on(fr::memory_checks{.quarantine_blocks = 10});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 30; ++i) {
        fr::unified_array<int> a({static_cast<std::size_t>(100 + 7 * i)}, t);
        if (fr::to_vector(a) != std::vector<int>(a.size(), t)) throw std::runtime_error("wrong data");
      }
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(fr::check_memory().empty());
}

BOOST_AUTO_TEST_CASE(settings_that_make_no_sense) {
  check_error<fr::invalid_argument>([] { fr::set_memory_checks(fr::memory_checks{.red_zone = 100}); },
                                    {"100 bytes", "multiple of 256"});
  BOOST_TEST((fr::parse_memory_checks("on") == fr::memory_checks()));
  BOOST_TEST((fr::parse_memory_checks("off") == std::nullopt));
  BOOST_TEST((fr::parse_memory_checks("zone=512;quarantine=2MiB;blocks=3;poison=off") ==
              fr::memory_checks{false, 512, 2u << 20, 3}));
  for (const std::string_view wrong :
       {"", "yes", "zone", "zone=100", "zone=12x", "quarantine=-1", "poison=maybe", "color=red",
        "quarantine=99999999999GiB", "zone=512;zone=1024", "poison=on;blocks=2;poison=on", "zone=512;zone=512"})
    check_error<fr::parse_error>([&] { (void)fr::parse_memory_checks(wrong); },
                                 {"FERRY_POISON \"" + std::string(wrong), "Allowed: on; off"});
}

BOOST_AUTO_TEST_SUITE_END()
