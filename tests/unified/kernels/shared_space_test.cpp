// The idea of Kokkos' TestSharedSpace: 100 pages, ten rounds in which a device and the CPU take turns; once touched, pages
// are as fast as memory of one's own. And readers of both sides at the same time.
#include <chrono>
#include <thread>

#include "unified/kernels/shared.hpp"

namespace fr = ferry;
using namespace shared;

namespace {

constexpr std::size_t pages = 100, page_bytes = 64 << 10, n = pages * page_bytes / sizeof(int);

struct increment {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* x) const { ++x[i]; }
};
struct add_to {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* to, const int* from) const { to[i] += from[i]; }
};

template <class F>
double microseconds(F f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}
double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}
void grow(std::span<int> x) {
  for (int& e : x) ++e;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_space)

BOOST_AUTO_TEST_CASE(ten_rounds) {
  place here;
  fr::unified_array<int> u({n}, dev(0));
  fr::device_array<int> own({n}, 0, dev(0));
  std::vector<int> local(n, 0);
  for (int& x : u) x = 0;
  const fr::stream_ref s = fr::default_stream(dev(0));
  const auto on_device = [&](auto& a) {
    return microseconds([&] {
      fr::parallel_for(s, n, increment{}, fr::inout(a));
      s.synchronize();
    });
  };
  std::vector<double> device_shared, device_own, cpu_shared, cpu_own;
  for (int round = 0; round < 10; ++round) {
    on_device(u), on_device(own);
    device_shared.push_back(on_device(u));
    device_own.push_back(on_device(own));
    grow(fr::host_span(u)), grow(local);
    cpu_shared.push_back(microseconds([&] { grow(fr::host_span(u)); }));
    cpu_own.push_back(microseconds([&] { grow(local); }));
  }
  const auto all = std::as_const(u).begin();
  BOOST_TEST(std::all_of(all, all + n, [](int x) { return x == 40; }));
  if (here.is_simulated()) return;  // times of a simulator say nothing
  BOOST_TEST(median(device_shared) < 1.5 * median(device_own));
  BOOST_TEST(median(cpu_shared) < 1.5 * median(cpu_own));
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
