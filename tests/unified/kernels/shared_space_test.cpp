// After Kokkos' TestSharedSpace: 100 pages, ten rounds in which a device and the CPU alternate, and each side finds the
// pages local. benchmarks/unified measures that they are then as fast as non-shared memory. Also concurrent readers on
// both sides.
#include <thread>

#include "unified/kernels/driver_pages.hpp"

namespace fr = ferry;
using namespace shared;

namespace shared_space {
namespace {

constexpr std::size_t pages = 100, page_bytes = 64 << 10, n = pages * page_bytes / sizeof(int);

struct increment {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* x) const { ++x[i]; }
};
struct add_to {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* to, const int* from) const { to[i] += from[i]; }
};

void grow(std::span<int> x) {
  for (int& e : x) ++e;
}

}  // namespace
}  // namespace shared_space

BOOST_AUTO_TEST_SUITE(shared_space)

// Each side uses the pages twice before the other's turn.
BOOST_AUTO_TEST_CASE(ten_rounds) {
  place here;
  fr::unified_array<int> u({n}, dev(0));
  for (int& x : u) x = 0;
  for (int round = 0; round < 10; ++round) {
    for (int use = 0; use < 2; ++use) {
      fr::parallel_for(fr::default_stream(dev(0)), n, increment{}, fr::inout(u));
      fr::default_stream(dev(0)).synchronize();
      BOOST_TEST(is_at(u, dev(0)), "round " << round);
    }
    for (int use = 0; use < 2; ++use) {
      grow(fr::host_span(u));
      BOOST_TEST(is_on_cpu(u), "round " << round);
    }
  }
  const auto all = std::as_const(u).begin();
  BOOST_TEST(std::all_of(all, all + n, [](int x) { return x == 40; }));
}

BOOST_AUTO_TEST_CASE(both_sides_read) {
  place here;
  fr::unified_array<int> u({n}, dev(0)), sum({n}, dev(0));
  for (int& x : u) x = 3;
  for (int& x : sum) x = 0;
  constexpr int kernels = 10;
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < kernels; ++i)
    fr::parallel_for(fr::default_stream(dev(0)), n, add_to{}, fr::inout(sum), fr::in(u));
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      const fr::array_view<const int, 1, fr::memory_kind::unified> mine = std::as_const(u).slice(fr::all_of);
      for (int pass = 0; pass < 5; ++pass)
        for (const int x : mine) wrong += x != 3;
    });
  for (std::thread& t : readers) t.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST((std::as_const(sum)[0] == 3 * kernels && std::as_const(sum)[n - 1] == 3 * kernels));
}

BOOST_AUTO_TEST_SUITE_END()
