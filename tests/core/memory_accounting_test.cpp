// What pools report to the runtime's memory accounting, and the out-of-memory handlers.
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"

namespace fr = ferry;

namespace memory_accounting {
namespace {

struct recorder : fr::detail::allocation_observer {
  std::mutex mutex;
  std::set<const fr::detail::allocation*> alive;
  std::size_t allocated = 0, freed = 0, reserved_bytes = 0, returned_bytes = 0;
  void on_allocate(fr::detail::allocation& a) noexcept override {
    std::lock_guard lock(mutex);
    ++allocated;
    alive.insert(&a);
  }
  void on_free(fr::detail::allocation& a) noexcept override {
    std::lock_guard lock(mutex);
    ++freed;
    alive.erase(&a);
  }
  void on_reserve(fr::memory_kind, int, const void*, std::size_t bytes) noexcept override {
    std::lock_guard lock(mutex);
    reserved_bytes += bytes;
  }
  void on_return(fr::memory_kind, int, const void*, std::size_t bytes) noexcept override {
    std::lock_guard lock(mutex);
    returned_bytes += bytes;
  }
};

}  // namespace
}  // namespace memory_accounting

BOOST_AUTO_TEST_SUITE(memory_accounting)

BOOST_AUTO_TEST_CASE(observers_see_every_allocation_once) {
  fr::simulation sim("devices=2");
  fr::detail::memory_accounting& accounting = sim.get().memory();
  const fr::device_array<int> unseen({100});
  const std::size_t before = accounting.pools().reserved_bytes(fr::memory_kind::device, 0);
  recorder seen;
  accounting.observers().add(seen);
  {
    fr::device_array<int> a({10}), b({20}, fr::device(1));
    fr::unified_array<int> c({30});
    BOOST_TEST(seen.alive.contains(b.owner().unchecked()));
    BOOST_TEST(seen.alive.size() == 3u);
    b.free();
    BOOST_TEST(!seen.alive.contains(b.owner().unchecked()));
  }
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) fr::device_array<char> a({1000});
    });
  threads.clear();
  BOOST_TEST(seen.alive.empty());
  BOOST_TEST((seen.allocated == 803u && seen.freed == 803u));
  for (const auto kind : {fr::memory_kind::device, fr::memory_kind::unified})
    for (const fr::device d : fr::devices()) sim.get().pool(kind, d.index()).trim();
  BOOST_TEST(seen.returned_bytes + accounting.pools().reserved_bytes(fr::memory_kind::device, 0) ==
             seen.reserved_bytes + before);
  accounting.observers().remove(seen);
  fr::device_array<int> after({10});
  BOOST_TEST(seen.allocated == 803u);
}

// Pools report what they take from the backend; the driver's pools report what arrays hold. A failure leaves no trace.
BOOST_AUTO_TEST_CASE(acquired_and_released_bytes_balance) {
  for (const auto kind : {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::none}) {
    fr::simulation sim("devices=1;memory=128KiB", {64, 1024, 4096, kind});
    const fr::detail::memory_accounting& accounting = sim.get().memory();
    const auto booked = [&] { return accounting.pools().reserved_bytes(fr::memory_kind::device, 0); };
    fr::detail::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
    const auto held = [&] {
      const fr::pool_statistics s = pool.statistics();
      return kind == fr::pool_kind::driver ? s.allocated_bytes : s.reserved_bytes;
    };
    {
      fr::device_array<char> a({40000}), b({10});
      BOOST_TEST((booked() == held() && held() >= 40010u));
      BOOST_CHECK_THROW(fr::device_array<char>({100000}), fr::out_of_memory);
      BOOST_TEST((booked() == held() && held() >= 40010u));
    }
    pool.trim();
    BOOST_TEST((booked() == 0u && pool.statistics().reserved_bytes == 0u));
  }
}

// Handlers run in their order, with a retry after each one that freed memory, until the allocation succeeds.
BOOST_AUTO_TEST_CASE(handlers_run_in_order) {
  fr::simulation sim("devices=1;memory=1MiB", {64, 1024, 4096});
  fr::detail::memory_accounting& accounting = sim.get().memory();
  fr::device_array<char> hoard({900000});
  std::string climbed;
  const auto useless =
      accounting.handlers().add({"useless", fr::handler_order::callbacks, [&](const fr::memory_demand& d) {
                                   climbed += 'u';
                                   BOOST_TEST((d.bytes >= 500000u && d.device == 0));
                                   return std::size_t{0};
                                 }});
  accounting.handlers().add({"late", fr::handler_order::to_peer, [&](const fr::memory_demand&) {
                               climbed += 'l';
                               return std::size_t{0};
                             }});
  const auto helpful =
      accounting.handlers().add({"helpful", fr::handler_order::callbacks, [&](const fr::memory_demand&) {
                                   climbed += 'h';
                                   hoard.free();
                                   return sim.get().pool(fr::memory_kind::device, 0).trim();
                                 }});
  { const fr::device_array<char> a({500000}); }
  BOOST_TEST(climbed == "uh");
  accounting.handlers().remove(useless);
  accounting.handlers().remove(helpful);
  climbed.clear();
  hoard = fr::device_array<char>({900000});
  BOOST_CHECK_THROW(fr::device_array<char>({500000}), fr::out_of_memory);
  BOOST_TEST(climbed == "l");
}

BOOST_AUTO_TEST_SUITE_END()
