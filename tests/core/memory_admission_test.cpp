// Limits under concurrent requests, limits that change meanwhile, and sizes that overflow counters.
#include <atomic>
#include <barrier>
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "support/device_bytes.hpp"

namespace fr = ferry;
using fr::memory_kind;
using support::device_bytes;

namespace memory_admission {
namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;
constexpr memory_kind all_kinds[] = {memory_kind::device, memory_kind::unified, memory_kind::host};
constexpr fr::pool_kind every_pool[] = {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned,
                                        fr::pool_kind::none};

bool comes(std::size_t n) {
  try {
    device_bytes(n);
    return true;
  } catch (const fr::out_of_memory&) {
    return false;
  }
}

}  // namespace
}  // namespace memory_admission

BOOST_AUTO_TEST_SUITE(memory_admission)

// A callback is not called for its own allocations.
BOOST_AUTO_TEST_CASE(callbacks_are_not_called_for_what_they_allocate) {
  const fr::simulation sim("devices=1;memory=4MiB");
  int asked = 0;
  const auto callback = fr::on_out_of_memory([&](const fr::memory_demand&) -> std::size_t {
    ++asked;
    if (asked < 10) BOOST_TEST(!comes(8 * MiB));
    return 1;
  });
  BOOST_TEST(!comes(8 * MiB));
  BOOST_TEST(asked == 1);
  BOOST_TEST(!comes(8 * MiB));
  BOOST_TEST(asked == 2);
}

// One allocation has passed its tag's limit and waits for memory. Another one under the same tag arrives meanwhile.
BOOST_AUTO_TEST_CASE(what_a_tag_is_about_to_get_counts) {
  fr::simulation sim("devices=1;memory=64MiB", {512, 2 * MiB, 2 * MiB, fr::pool_kind::split});
  fr::set_memory_limit({.tag = "t"}, {.hard = "1MiB"});
  fr::set_memory_limit(fr::device(0), {.hard = "2MiB"});
  auto cache = device_bytes(2 * MiB);
  const fr::memory_peak_meter meter(fr::memory_scope{.tag = "t"});
  std::optional<fr::host_array<char>> beside;
  bool asked = false, refused = false;
  const auto callback = fr::on_out_of_memory([&](const fr::memory_demand&) -> std::size_t {
    if (std::exchange(asked, true)) return 0;  // the call from the allocation below
    try {
      beside.emplace(fr::extents<1>(600 * KiB));
    } catch (const fr::out_of_memory&) {
      refused = true;
    }
    cache.free();
    return 2 * MiB;
  });
  const fr::memory_tag_scope tag{"t"};
  const auto a = device_bytes(600 * KiB);
  BOOST_TEST(refused);
  BOOST_TEST(meter.peak_bytes() <= MiB);
  const auto b = device_bytes(424 * KiB);  // refused bytes do not count
  BOOST_TEST(!comes(1));
}

// A failed allocation's reservation is released.
BOOST_AUTO_TEST_CASE(what_a_tag_did_not_get_does_not_count) {
  for (const fr::pool_kind kind : every_pool) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
      fr::simulation sim("devices=1;memory=1MiB", {512, 8 * KiB, 64 * KiB, kind});
      fr::set_memory_limit({.tag = "t"}, {.hard = "1MiB"});
      const auto most = device_bytes(512 * KiB);
      const fr::memory_tag_scope tag{"t"};
      for (int i = 0; i < 3; ++i) BOOST_TEST(!comes(1000 * KiB));
      BOOST_TEST(comes(256 * KiB));
      BOOST_TEST(fr::memory_budget({.on = fr::device(0), .kind = memory_kind::host, .tag = "t"}).would_fit(MiB));
    }
}

// Five threads each request a quarter of the limit: exactly four succeed.
BOOST_AUTO_TEST_CASE(threads_share_the_limit_of_a_tag) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
  fr::set_memory_limit({.tag = "t"}, {.hard = "1MiB"});
  const fr::memory_peak_meter meter(fr::memory_scope{.tag = "t"});
  constexpr int threads = 5, rounds = 300;
  std::atomic<int> came{0}, wrong{0};
  std::barrier together(threads, [&]() noexcept {});
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      const fr::memory_tag_scope tag{"t"};
      for (int i = 0; i < rounds; ++i) {
        std::vector<fr::device_array<char>> a;
        together.arrive_and_wait();
        try {
          a.push_back(device_bytes(256 * KiB));
          ++came;
        } catch (const fr::out_of_memory&) {
        }
        together.arrive_and_wait();
        if (t == 0) wrong += came.exchange(0) != threads - 1;
        a.clear();
      }
    });
  all.clear();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(meter.peak_bytes() == MiB);
}

// Limits set together take effect together, or not at all if one of them is refused.
BOOST_AUTO_TEST_CASE(limits_change_as_a_whole) {
  fr::simulation sim("devices=2;memory=64MiB");
  const std::vector<fr::scoped_memory_limit> few = fr::parse_memory_limits("soft:1MiB,hard:2MiB;tag=t,hard:1MiB"),
                                             many = fr::parse_memory_limits("soft:3MiB,hard:4MiB;tag=t,hard:3MiB");
  fr::set_memory_limits(few);
  BOOST_CHECK_THROW(fr::set_memory_limits(fr::parse_memory_limits("hard:4MiB;device=1,hard:65MiB")),
                    fr::invalid_argument);
  BOOST_CHECK_THROW(fr::set_memory_limits(fr::parse_memory_limits("device=0,hard:4MiB;tag=t,hard:50%")),
                    fr::invalid_argument);
  const fr::detail::limit_enforcer& limits = sim.get().memory().limits();
  const auto hard = [&] {
    const auto rules = limits.all();
    std::vector<std::size_t> all;
    for (const fr::detail::limit_rule& r : *rules) all.push_back(r.hard);
    return all;
  };
  const std::vector<std::size_t> small{2 * MiB, 2 * MiB, 1 * MiB}, large{4 * MiB, 4 * MiB, 3 * MiB};
  BOOST_TEST(hard() == small, boost::test_tools::per_element());
  std::atomic<bool> done{false};
  std::jthread writer([&] {
    for (int i = 0; i < 5000; ++i) fr::set_memory_limits(i % 2 ? few : many);
    done = true;
  });
  int mixed = 0;
  while (!done) {
    const auto now = hard();
    mixed += now != small && now != large;
  }
  BOOST_TEST(mixed == 0);
}

// Sums that overflow must not make room: neither limits nor the backend are consulted.
BOOST_AUTO_TEST_CASE(sizes_that_wrap_are_refused) {
  fr::simulation sim("devices=1;memory=64MiB", {512, 2 * MiB, 2 * MiB, fr::pool_kind::split});
  fr::detail::memory_accounting& accounting = sim.get().memory();
  const fr::device d0(0);
  for (const bool limited : {false, true}) {
    if (limited) {
      fr::set_memory_limit(d0, {.hard = "32MiB"});
      fr::set_memory_limit({.kind = memory_kind::host}, {.hard = "32MiB"});
      fr::set_memory_limit({.tag = "t"}, {.hard = "4MiB"});
    }
    const fr::device_array<char> a({2 * MiB});
    const fr::unified_array<char> u({2 * MiB});
    const fr::host_array<char> h({2 * MiB});
    std::vector<char> v(2 * MiB);
    const auto pinned = fr::pin(v);
    for (const memory_kind kind : all_kinds) {
      fr::detail::memory_pool& pool = sim.get().pool(kind, 0);
      const std::size_t reserved = accounting.pools().reserved_bytes(kind, 0);
      for (const std::size_t n : {SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX - reserved + 1, SIZE_MAX - 2 * reserved + 1,
                                  std::size_t{1} << 63, (std::size_t{1} << 63) - 1, std::size_t{1} << 60}) {
        bool asked = false;
        BOOST_CHECK_THROW(accounting.acquire_once(pool, n, [&] { asked = true; }), fr::out_of_memory);
        BOOST_CHECK_THROW(accounting.acquire(pool, n, [&] { asked = true; }), fr::out_of_memory);
        BOOST_TEST(!asked, n << " bytes of " << fr::kind_name(kind) << " memory");
        BOOST_TEST(accounting.pools().reserved_bytes(kind, 0) == reserved);
      }
    }
    const std::size_t ours = accounting.pools().pinned_bytes();
    for (const std::size_t n : {SIZE_MAX, SIZE_MAX - ours + 1, std::size_t{1} << 63}) {
      BOOST_CHECK_THROW(accounting.reserve_pinned(n, 0), fr::out_of_memory);
      BOOST_TEST(accounting.pools().pinned_bytes() == ours);
    }
    if (!limited) continue;
    const fr::memory_tag_scope tag{"t"};
    const fr::device_array<char> tagged({MiB});
    for (const std::size_t n : {SIZE_MAX, SIZE_MAX - MiB + 1, std::size_t{1} << 63})
      BOOST_CHECK_THROW((void)accounting.before_allocate(sim.get().pool(memory_kind::device, 0), n), fr::out_of_memory);
  }
}

// Pools do not release memory for them, either.
BOOST_AUTO_TEST_CASE(sizes_that_wrap_are_refused_by_all_pools) {
  for (const fr::pool_kind kind : every_pool)
    for (const memory_kind memory : all_kinds) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
        fr::simulation sim("devices=1;memory=64MiB", {.kind = kind});
        fr::detail::memory_pool& pool = sim.get().pool(memory, 0);
        const fr::memory_budget budget({.on = fr::device(0), .kind = memory});
        const fr::detail::allocation_ref held = pool.allocate(MiB);
        { const fr::detail::allocation_ref cached = pool.allocate(3 * MiB); }
        const std::size_t reserved = pool.statistics().reserved_bytes;
        for (const std::size_t n : {SIZE_MAX, SIZE_MAX - 511, SIZE_MAX - MiB, (std::size_t{1} << 63) + 1,
                                    std::size_t{1} << 63, (std::size_t{1} << 63) - 1, std::size_t{1} << 60}) {
          BOOST_CHECK_THROW(pool.allocate(n), fr::out_of_memory);
          BOOST_TEST(!budget.would_fit(n));
        }
        BOOST_TEST(pool.statistics().reserved_bytes == reserved);
        const fr::memory_checks_scope checked;
        BOOST_CHECK_THROW(fr::detail::allocate_array(memory, fr::device(0), SIZE_MAX - 100, 1), fr::out_of_memory);
      }
}

BOOST_AUTO_TEST_CASE(red_zones_that_wrap_are_refused) {
  fr::simulation sim("devices=1");
  for (const std::size_t n : {std::size_t{1} << 63, std::size_t{3} << 62, std::size_t{1} << 60})
    BOOST_CHECK_THROW(fr::set_memory_checks(fr::memory_checks{.red_zone = n}), fr::invalid_argument);
  BOOST_TEST(!fr::current_memory_checks());
}

// A pin relies on another pin's registration, which is removed before the first pin is accounted.
BOOST_AUTO_TEST_CASE(pins_book_what_others_unpin_meanwhile) {
  for (const bool gives_way : {false, true}) {
    fr::simulation sim("devices=1;memory=64MiB");
    const fr::detail::memory_accounting& accounting = sim.get().memory();
    fr::set_memory_limit({.kind = memory_kind::host}, {.hard = "4MiB"});
    std::vector<char> v(4 * MiB), w(MiB);
    std::optional<fr::pinned<char>> most = fr::pin(std::span(v).first(3 * MiB)), other = fr::pin(w);
    const auto callback = fr::on_out_of_memory([&](const fr::memory_demand&) -> std::size_t {
      if (most) return most.reset(), 3 * MiB;
      if (gives_way && other) return other.reset(), MiB;
      return 0;
    });
    const auto pin_all = [&] { return fr::pin(v); };  // first needs 1 MiB more than is pinned, then 4 MiB
    if (gives_way) {
      const auto all = pin_all();
      BOOST_TEST(accounting.pools().pinned_bytes() == 4 * MiB);
    } else {
      BOOST_CHECK_THROW(pin_all(), fr::out_of_memory);
      BOOST_TEST(accounting.pools().pinned_bytes() == MiB);
    }
    BOOST_TEST(!most);
    other.reset();
    BOOST_TEST(accounting.pools().pinned_bytes() == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
