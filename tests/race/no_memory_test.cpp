// When the CPU has no memory left: what must not throw does not, and forgets nothing.
// as: host
#include <cstdlib>
#include <new>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

namespace {
thread_local bool no_memory = false;
}

// What logs are made of: their entries are aligned to more than usual.
void* operator new(std::size_t bytes, std::align_val_t to) {
  const auto a = static_cast<std::size_t>(to);
  void* p = no_memory ? nullptr : std::aligned_alloc(a, (bytes + a - 1) / a * a);
  if (!p) throw std::bad_alloc();
  return p;
}
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(no_memory_left)

// Freed neighbours put their logs together, which takes memory. They stay apart instead, and the next owner waits for all.
BOOST_AUTO_TEST_CASE(freeing_needs_none) {
  for (int seed = 0; seed < 10; ++seed) {
    const fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    std::vector<fr::stream> streams;
    for (std::size_t i = 0; i < 12; ++i) streams.emplace_back(fr::devices()[i % 2]);
    fr::unified_array<int> from({512}, 0);
    for (int& e : from) e = 7;
    {
      fr::unified_array<int> a({512}), b({512}), c({512});
      for (auto* array : {&a, &b, &c})
        for (std::size_t i = 0; i < streams.size(); ++i)
          fr::copy(streams[i], std::as_const(from).slice({40 * i, 40 * i + 40}), array->slice({40 * i, 40 * i + 40}));
      no_memory = true;
      b.free(), a.free(), c.free();
      no_memory = false;
    }
    fr::unified_array<int> x({512}), y({512}), z({512});
    for (auto* array : {&x, &y, &z}) {
      for (int& e : *array) e = 9;
      for (fr::stream& s : streams) s.synchronize();
      for (const int e : std::as_const(*array)) BOOST_TEST(e == 9, "seed " << seed);
    }
  }
}

// An array that cannot be had, or only in a block that is too large, leaves the pool whole.
BOOST_AUTO_TEST_CASE(allocation_leaves_the_pool_whole) {
  for (const auto kind :
       {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::simple, fr::pool_kind::none, fr::pool_kind::driver})
    BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
      fr::simulation sim("devices=1;schedule=random:1", {.kind = kind});
      std::vector<fr::stream> streams(8);
      fr::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
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
        } catch (const fr::out_of_memory&) {  // of the simulator, which takes devices' memory from the same place
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
