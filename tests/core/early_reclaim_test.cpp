// Soft limits: memory is released early, in calls that wait for devices, and the additional pauses are bounded.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <ferry/core.hpp>

#include "accounting/reclaim_pacer.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "support/busy_stream.hpp"

namespace fr = ferry;
using fr::memory_kind;

namespace early_reclaim {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

fr::device_array<char> device_bytes(std::size_t n, int d = 0) { return fr::device_array<char>({n}, fr::device(d)); }

constexpr fr::pool_kind every_kind[] = {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned,
                                        fr::pool_kind::none};

}  // namespace
}  // namespace early_reclaim

BOOST_AUTO_TEST_SUITE(early_reclaim)

// Above a soft limit a synchronization releases unused memory, and does nothing else.
BOOST_AUTO_TEST_CASE(soft_limits_reclaim_at_synchronisation) {
  fr::simulation sim("devices=1;memory=256MiB", {.kind = fr::pool_kind::split});  // the numbers depend on the pool kind
  fr::detail::memory_accounting& accounting = sim.get().memory();
  fr::set_memory_limit(fr::device(0), {.soft = "100MiB"});
  int asked = 0;
  const auto callback = fr::on_memory_pressure([&](const fr::memory_pressure& p) {
    ++asked;
    BOOST_TEST(p.used_bytes > p.soft_bytes);
    BOOST_TEST(p.soft_bytes == 100 * MiB);
    BOOST_TEST((p.pressure() > 0 && p.pressure() < 1));
    return std::size_t{0};
  });
  {
    const auto a = device_bytes(40 * MiB), b = device_bytes(40 * MiB);
    fr::default_stream(fr::device(0)).synchronize();
    BOOST_TEST(asked == 0);
  }
  { const auto c = device_bytes(90 * MiB); }  // caches 80 MiB of it
  BOOST_TEST(asked == 0);
  for (int i = 0; i < 4000 && accounting.pools().reserved_bytes(memory_kind::device, 0) > 100 * MiB; ++i) {
    fr::default_stream(fr::device(0)).synchronize();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < until) {
    }
  }
  BOOST_TEST(accounting.pools().reserved_bytes(memory_kind::device, 0) <= 100 * MiB);
  BOOST_TEST(asked >= 1);
  const int before = asked;
  for (int i = 0; i < 10; ++i) fr::default_stream(fr::device(0)).synchronize();
  BOOST_TEST(asked == before);
}

// Memory in use by pending work stays: early reclaim never waits.
BOOST_AUTO_TEST_CASE(early_reclaim_never_waits) {
  for (const fr::pool_kind kind : every_kind) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
      fr::simulation sim("devices=1;memory=64MiB;schedule=random:1", {512, 8 << 10, 64 << 10, kind});
      const fr::detail::memory_accounting& accounting = sim.get().memory();
      const auto kept = device_bytes(2 * MiB);
      auto used = device_bytes(2 * MiB);
      const fr::stream slow, other;
      support::busy_stream busy(slow);
      fr::fill(slow, used, 'x');
      used.free();
      const bool driver = kind == fr::pool_kind::driver;  // freed bytes do not count against limits
      BOOST_TEST(accounting.pools().reserved_bytes(memory_kind::device, 0) == (driver ? 2 : 4) * MiB);
      int pauses = 0;
      const auto callback = fr::on_memory_pressure([&](const fr::memory_pressure&) {
        ++pauses;
        return std::size_t{0};
      });
      fr::set_memory_limit(fr::device(0), {.soft = "1MiB"});
      other.synchronize();
      BOOST_TEST(pauses == 1);
      BOOST_TEST(busy.is_busy());
      BOOST_TEST(accounting.pools().reserved_bytes(memory_kind::device, 0) == (driver ? 2 : 4) * MiB);
      busy.release();
      slow.synchronize();
    }
}

BOOST_AUTO_TEST_CASE(pauses_are_spread_out) {
  using namespace std::chrono_literals;
  fr::detail::reclaim_pacer pacer;
  fr::detail::reclaim_pacer::clock::time_point t{};
  BOOST_TEST(pacer.is_due(t, 0));
  pacer.ran(t, t + 1ms, 100, 100);
  t += 1ms;
  BOOST_TEST(!pacer.is_due(t + 4ms, 1));
  BOOST_TEST(pacer.is_due(t + 6ms, 1));  // under high pressure: a fifth of the time
  BOOST_TEST(!pacer.is_due(t + 99ms, 0));
  BOOST_TEST(pacer.is_due(t + 101ms, 0));                      // under low pressure: one percent
  for (int i = 0; i < 20; ++i) pacer.ran(t, t + 1ms, 0, 100);  // without releasing anything
  t += 1ms;
  BOOST_TEST(!pacer.is_due(t + 300ms, 1));
  BOOST_TEST(pacer.is_due(t + 330ms, 1));  // but it is tried again
  pacer.ran(t, t + 1ms, 90, 100);
  BOOST_TEST(pacer.is_due(t + 7ms, 1));
}

// The share of a long program's time: each opportunity costs a simulated pause of 1 ms.
BOOST_AUTO_TEST_CASE(pauses_take_a_bounded_share) {
  using namespace std::chrono_literals;
  for (const double pressure : {0.0, 0.5, 1.0}) {
    fr::detail::reclaim_pacer pacer;
    fr::detail::reclaim_pacer::clock::time_point t{};
    double paused = 0;
    for (int i = 0; i < 100000; ++i, t += 100us)
      if (pacer.is_due(t, pressure)) {
        pacer.ran(t, t + 1ms, 100, 100);
        t += 1ms;
        paused += 1;
      }
    const double share = paused / std::chrono::duration<double, std::milli>(t.time_since_epoch()).count();
    BOOST_TEST(share < 0.01 + 0.19 * pressure + 0.001);
    BOOST_TEST(share > 0.5 * (0.01 + 0.19 * pressure));
  }
}

BOOST_AUTO_TEST_SUITE_END()
