// When host memory is exhausted, functions that must not throw do not throw, and no ordering information is lost.
// as: host
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "support/counting_backend.hpp"
#include "support/forwarding_pools.hpp"

namespace {
thread_local bool no_memory = false;    // for histories
thread_local bool none_at_all = false;  // for everything else
}  // namespace

// Not inlined: otherwise GCC pairs the malloc and free inside with the caller's new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* p = none_at_all ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

// Used for access histories: their entries are over-aligned.
void* operator new(std::size_t bytes, std::align_val_t to) {
  const auto a = static_cast<std::size_t>(to);
  void* p = no_memory ? nullptr : std::aligned_alloc(a, (bytes + a - 1) / a * a);
  if (!p) throw std::bad_alloc();
  return p;
}
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace fr = ferry;

namespace no_memory_left {
namespace {

constexpr fr::pool_kind kinds[] = {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned,
                                   fr::pool_kind::none};

struct without_memory {
  without_memory() { no_memory = none_at_all = true; }
  ~without_memory() { no_memory = none_at_all = false; }
};

// Drivers have their own memory, which does not run out here.
struct with_memory {
  ~with_memory() { no_memory = logs, none_at_all = rest; }
  const bool logs = std::exchange(no_memory, false), rest = std::exchange(none_at_all, false);
};
class rich_pools : public support::forwarding_pools {
 public:
  using forwarding_pools::forwarding_pools;
  void free(void* p, fr::native_stream s) override {
    const with_memory own;
    forwarding_pools::free(p, s);
  }
};
class rich_backend : public support::counting_backend {
 public:
  rich_backend(fr::detail::backend& below, support::call_counts& calls)
      : counting_backend(below, calls),
        pools_(*below.pools()) {}
  void record(fr::native_event e, fr::native_stream s) override {
    const with_memory own;
    counting_backend::record(e, s);
  }
  void wait(fr::native_stream s, fr::native_event e) override {
    const with_memory own;
    counting_backend::wait(s, e);
  }
  fr::detail::pool_backend* pools() override { return &pools_; }

 private:
  rich_pools pools_;
};

// Frees arrays that many streams use while no memory is available, and checks the arrays that reuse their bytes.
template <fr::memory_kind K>
void free_without_memory(const support::call_counts& calls) {
  using array = fr::basic_array<int, 1, K>;
  fr::runtime& m = fr::runtime::current();
  fr::detail::memory_pool& pool = m.pool(K, 0);
  std::vector<fr::stream> streams;
  for (std::size_t i = 0; i < 12; ++i) streams.emplace_back(fr::devices()[i % 2]);
  fr::unified_array<int> from({512}, 0);
  for (int& e : from) e = 7;
  {
    array a({512}), b({512}), c({512});
    for (auto* one : {&a, &b, &c})
      for (std::size_t i = 0; i < streams.size(); ++i)
        fr::copy(streams[i], std::as_const(from).slice({40 * i, 40 * i + 40}), one->slice({40 * i, 40 * i + 40}));
    fr::copy(streams[0], std::as_const(from).slice({0, 1}), a.slice({0, 1}));
    array d({512});  // used by one stream only, on which nothing was freed yet
    fr::copy(streams[0], from, d);
    std::vector<array> more;  // exceeds a thread's shard: the surplus goes to the pool at once, which joins neighbours
    for (std::size_t i = 0; i < 24; ++i) {
      more.emplace_back(fr::extents<1>{512});
      fr::copy(streams[i % streams.size()], from, more.back());
    }
    const long waits = calls.cpu_waits;
    {
      const without_memory now;
      b.free(), a.free(), c.free(), d.free();
      for (array& one : more) one.free();
    }
    BOOST_TEST(calls.cpu_waits == waits);
    BOOST_TEST(pool.statistics().allocations == (K == fr::memory_kind::unified ? 1u : 0u));
    if (const fr::detail::native_pool driver = pool.native(); driver.handle)  // freed at once, without memory
      BOOST_TEST(m.backend().pools()->usage(driver).used_bytes == 0u);
  }
  array x({512}), y({512}), z({512}), w({512}), large({4096});
  for (auto* one : {&x, &y, &z, &w, &large}) {
    if constexpr (K == fr::memory_kind::device)
      fr::fill(streams[1], *one, 9);
    else
      for (int& e : *one) e = 9;
    for (fr::stream& s : streams) s.synchronize();
    for (const int e : fr::to_vector(*one)) BOOST_TEST(e == 9);
  }
}

}  // namespace
}  // namespace no_memory_left

BOOST_AUTO_TEST_SUITE(no_memory_left)

// Without memory, histories of freed neighbours cannot be merged: the blocks stay apart, and the next owner waits for
// all uses. Frees to the driver's pools cannot be ordered after all uses, and skip that step. No call waits.
BOOST_AUTO_TEST_CASE(freeing_needs_none) {
  for (const fr::pool_kind kind : kinds)
    for (int seed = 0; seed < 10; ++seed) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind) << " pools, seed " << seed) {
        const fr::simulation below("devices=2;schedule=random:" + std::to_string(seed));
        support::call_counts calls;
        const fr::runtime_scope scope(std::make_unique<rich_backend>(fr::runtime::current().backend(), calls),
                                      {.kind = kind});
        free_without_memory<fr::memory_kind::unified>(calls);
        free_without_memory<fr::memory_kind::device>(calls);
        free_without_memory<fr::memory_kind::host>(calls);
      }
}

// Freed neighbours whose histories cannot be merged stay apart: the next owner of their bytes waits for all uses.
BOOST_AUTO_TEST_CASE(neighbours_with_unmergeable_histories_stay_apart) {
  for (const auto kind : {fr::memory_kind::device, fr::memory_kind::unified, fr::memory_kind::host})
    BOOST_TEST_CONTEXT(fr::kind_name(kind)) {
      fr::simulation sim("devices=1;check=races", {.kind = fr::pool_kind::split});
      fr::detail::memory_pool& pool = sim.get().pool(kind, 0);
      const std::vector<fr::stream> streams(12);
      const auto write = [](const fr::stream& s, const fr::detail::allocation_ref& r, std::size_t from,
                            std::size_t bytes) {
        std::byte* const begin = r.get().begin + from;
        fr::detail::access use{&r.get(), {begin, begin + bytes}, true};
        const fr::detail::access_guard guard(fr::detail::admission::unchecked(s.timeline(), {&use, 1}));
        fr::runtime::current().backend().fill_strided(s.timeline().stream(), {begin, {1}}, {1, 1, {bytes}}, "x");
      };
      constexpr std::size_t bytes = 1024, held = 16;
      std::vector<fr::detail::allocation_ref> blocks;
      for (std::size_t i = 0; i < held + 2; ++i) blocks.push_back(pool.allocate(bytes));
      fr::detail::allocation_ref b = std::move(blocks.back());
      blocks.pop_back();
      fr::detail::allocation_ref a = std::move(blocks.back());
      blocks.clear();  // exceeds a thread's shard of this size: a and b go to the pool at once
      const std::byte* const second = b.get().begin;
      BOOST_TEST_REQUIRE(a.get().range().end == second);
      write(streams[0], a, 0, bytes);
      for (std::size_t i = 0; i < streams.size(); ++i) write(streams[i], b, 64 * i, 64);
      {
        const without_memory now;
        a.free(), b.free();
      }
      const fr::detail::allocation_ref c = pool.allocate(2 * bytes);
      BOOST_TEST(c.get().begin == second);
      const fr::stream last;
      write(last, c, 0, 2 * bytes);  // the simulator reports unordered accesses
    }
}

// A failed allocation leaves the pool unchanged, even if the failure comes after a larger block was found.
BOOST_AUTO_TEST_CASE(allocation_leaves_the_pool_whole) {
  for (const auto kind : kinds) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
      fr::simulation sim("devices=1;schedule=random:1", {.kind = kind});
      std::vector<fr::stream> streams(8);
      fr::detail::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
      for (int i = 0; i < 3; ++i) {
        {
          fr::device_array<char> all({2 << 20});
          for (std::size_t k = 0; k < streams.size(); ++k)
            fr::fill(streams[k], all.slice({k * 1000, k * 1000 + 1000}), 'x');
        }
        const fr::pool_statistics before = pool.statistics();
        no_memory = true;
        try {
          const fr::device_array<char> some({1000}), more({100000});
        } catch (const std::bad_alloc&) {
        } catch (const fr::out_of_memory&) {  // simulated device memory uses the same operator new
        }
        no_memory = false;
        BOOST_TEST(pool.statistics().allocations == before.allocations);
        BOOST_TEST(pool.statistics().allocated_bytes == before.allocated_bytes);
      }
      { const fr::device_array<char> all({2 << 20}); }
      if (kind == fr::pool_kind::split) BOOST_TEST(pool.statistics().segments == 1u);
      BOOST_TEST(pool.trim() > 0);
      BOOST_TEST((pool.statistics().reserved_bytes == 0 && pool.statistics().blocks == 0));
    }
}

BOOST_AUTO_TEST_SUITE_END()
