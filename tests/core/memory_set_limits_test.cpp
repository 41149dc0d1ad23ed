// Setting a hard limit below the current use: cached bytes are released, and an error names what arrays hold.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"

namespace fr = ferry;
using fr::memory_kind;

namespace memory_set_limits {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

constexpr fr::pool_kind every_kind[] = {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned,
                                        fr::pool_kind::none};

template <class Error, class Call>
void refused(Call call, std::initializer_list<std::string> parts) {
  try {
    call();
    BOOST_ERROR("nothing was thrown; expected " << *parts.begin());
  } catch (const Error& e) {
    for (const std::string& p : parts)
      BOOST_TEST(std::string(e.what()).find(p) != std::string::npos, "'" << p << "' in: " << e.what());
  }
}

fr::device_array<char> device_bytes(std::size_t n, int d = 0) { return fr::device_array<char>({n}, fr::device(d)); }

// Arrays of a thread that a stream still uses when they are destroyed.
template <class Array>
void cache(std::size_t each, int count) {
  const fr::stream s;
  std::vector<Array> all;
  for (int i = 0; i < count; ++i) {
    all.emplace_back(fr::extents<1>{each});
    fr::fill(s, all.back(), 'x');
  }
}

std::string schedule(int seed) { return seed == 0 ? "" : ";schedule=random:" + std::to_string(seed); }

}  // namespace
}  // namespace memory_set_limits

BOOST_AUTO_TEST_SUITE(memory_set_limits)

BOOST_AUTO_TEST_CASE(what_is_cached_goes_back) {
  for (const fr::pool_kind kind : every_kind)
    for (int seed = 0; seed < 4; ++seed) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind) << ", seed " << seed) {
        fr::simulation sim("devices=2;memory=64MiB" + schedule(seed), {512, 2 * MiB, 2 * MiB, kind});
        const fr::detail::memory_accounting& accounting = sim.get().memory();
        cache<fr::device_array<char>>(2 * MiB, 8);
        cache<fr::unified_array<char>>(2 * MiB, 8);
        cache<fr::host_array<char>>(2 * MiB, 8);
        const auto held = device_bytes(2 * MiB), elsewhere = device_bytes(2 * MiB, 1);
        fr::set_memory_limit(fr::device(0), {.hard = "8MiB"});
        BOOST_TEST(accounting.limits().used_bytes({.on = fr::device(0)}) <= 8 * MiB);
        fr::set_memory_limit({.kind = memory_kind::host}, {.hard = "4MiB"});
        BOOST_TEST(accounting.limits().used_bytes({.kind = memory_kind::host}) <= 4 * MiB);
        fr::set_memory_limit({.on = fr::device(0), .kind = memory_kind::unified}, {.hard = "1MiB"});
        BOOST_TEST(accounting.limits().used_bytes({.on = fr::device(0), .kind = memory_kind::unified}) <= MiB);
        refused<fr::out_of_memory>([] { device_bytes(8 * MiB); }, {"hard limit of 8.000 MiB"});
        const auto more = device_bytes(4 * MiB);  // room up to the limit
      }
}

// Releases only the excess.
BOOST_AUTO_TEST_CASE(what_the_limit_allows_stays_cached) {
  fr::simulation sim("devices=1;memory=64MiB", {512, 2 * MiB, 2 * MiB, fr::pool_kind::split});
  cache<fr::device_array<char>>(2 * MiB, 16);
  const fr::detail::memory_accounting& accounting = sim.get().memory();
  BOOST_REQUIRE(accounting.pools().reserved_bytes(memory_kind::device, 0) == 32 * MiB);
  fr::set_memory_limit(fr::device(0), {.hard = "20MiB"});
  const std::size_t left = accounting.pools().reserved_bytes(memory_kind::device, 0);
  BOOST_TEST((left > 8 * MiB && left <= 20 * MiB), left);
}

BOOST_AUTO_TEST_CASE(what_arrays_hold_is_told_and_nothing_changes) {
  for (const fr::pool_kind kind : every_kind) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
      fr::simulation sim("devices=2;memory=64MiB", {512, 2 * MiB, 2 * MiB, kind});
      fr::set_memory_limit(fr::device(0), {.hard = "32MiB"});
      auto a = device_bytes(16 * MiB);
      a.name("velocity");
      const auto unnamed = device_bytes(2 * MiB);
      refused<fr::out_of_memory>(
          [] { fr::set_memory_limit(fr::device(0), {.hard = "8MiB"}); },
          {"cannot set the hard limit of 8.000 MiB on device and unified memory of device 0", "18.000 MiB are in use",
           "'velocity' 16.000 MiB", "arrays without a name or tag 2.000 MiB", "No limit has changed"});
      // Together with other limits that could be set.
      refused<fr::out_of_memory>(
          [] { fr::set_memory_limits(fr::parse_memory_limits("hard:40MiB;device=0,hard:25%;tag=t,hard:1MiB")); },
          {"hard limit of 25% (16.000 MiB)"});
      const auto rules = sim.get().memory().limits().all();
      BOOST_TEST_REQUIRE(rules->size() == 1u);
      BOOST_TEST(rules->front().hard == 32 * MiB);
      const auto more = device_bytes(8 * MiB);  // the old limit still applies
      refused<fr::out_of_memory>([] { device_bytes(8 * MiB); }, {"hard limit of 32.000 MiB"});
      fr::set_memory_limit(fr::device(0), {.hard = "26MiB"});  // exactly what is in use
    }
}

BOOST_AUTO_TEST_CASE(tags_kinds_and_pinned_memory) {
  fr::simulation sim("devices=1;memory=64MiB");
  const fr::memory_tag_scope scope{"solver of limits"};
  const auto a = device_bytes(4 * MiB);
  refused<fr::out_of_memory>([] { fr::set_memory_limit({.tag = "solver of limits"}, {.hard = "2MiB"}); },
                             {"memory under the tag 'solver of limits'", "4.000 MiB are in use"});
  fr::set_memory_limit({.tag = "solver of limits"}, {.hard = "4MiB"});
  std::vector<char> v(4 * MiB);
  {
    const auto p = fr::pin(v);
    refused<fr::out_of_memory>(
        [] { fr::set_memory_limit({.kind = memory_kind::host}, {.hard = "2MiB"}); },
        {"hard limit of 2.000 MiB on host memory", "ranges that ferry::pin has pinned 4.000 MiB"});
  }
  fr::set_memory_limit({.kind = memory_kind::host}, {.hard = "2MiB"});
}

// Blocks in quarantine count as cached; those of a workspace do not.
BOOST_AUTO_TEST_CASE(quarantine_and_workspaces) {
  fr::simulation sim("devices=1;memory=64MiB", {512, 2 * MiB, 2 * MiB, fr::pool_kind::split});
  {
    const fr::memory_checks_scope checks;
    cache<fr::device_array<char>>(2 * MiB, 8);
  }
  fr::set_memory_limit(fr::device(0), {.hard = "4MiB"});
  BOOST_TEST(sim.get().memory().limits().used_bytes({.on = fr::device(0)}) <= 4 * MiB);
  fr::set_memory_limit(fr::device(0), {});
  fr::workspace w;
  {
    const fr::workspace_scope iteration(w);
    const auto a = device_bytes(8 * MiB);
  }
  refused<fr::out_of_memory>([] { fr::set_memory_limit(fr::device(0), {.hard = "4MiB"}); }, {"workspace::clear"});
  w.clear();
  fr::set_memory_limit(fr::device(0), {.hard = "4MiB"});
}

BOOST_AUTO_TEST_CASE(inside_a_submission_only_where_nothing_has_to_go_back) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
  cache<fr::device_array<char>>(8 * MiB, 2);
  const fr::stream s;
  fr::device_array<char> a({1});
  fr::submit(
      s,
      [](fr::native_stream, char*) {
        fr::set_memory_limit(fr::device(0), {.hard = "63MiB"});
        refused<fr::invalid_argument>([] { fr::set_memory_limit(fr::device(0), {.hard = "1MiB"}); },
                                      {"trim pools for a memory limit"});
      },
      a);
}

// Threads allocate while limits are set: the limit in force always holds.
BOOST_AUTO_TEST_CASE(threads_that_allocate_meanwhile) {
  for (int seed = 0; seed < 4; ++seed) {
    fr::simulation sim("devices=1;memory=64MiB" + schedule(seed), {512, 2 * MiB, 2 * MiB, fr::pool_kind::split});
    fr::runtime& m = sim.get();
    std::vector<std::jthread> threads;
    std::atomic<bool> stop{false};
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        while (!stop) try {
            const auto a = device_bytes(2 * MiB);
          } catch (const fr::out_of_memory&) {
          }
      });
    for (int i = 0; i < 50; ++i) try {
        fr::set_memory_limit(fr::device(0), {.hard = i % 2 ? "16MiB" : "4MiB"});
        BOOST_TEST(m.memory().limits().all()->front().hard == (i % 2 ? 16 : 4) * MiB);
        std::this_thread::yield();
      } catch (const fr::out_of_memory&) {  // the threads' arrays exceeded the limit
      }
    stop = true;
    threads.clear();
    const auto rules = m.memory().limits().all();
    if (!rules->empty()) BOOST_TEST(m.memory().pools().reserved_bytes(memory_kind::device, 0) <= rules->front().hard);
  }
}

BOOST_AUTO_TEST_SUITE_END()
