// Kernels that several threads run together: FERRY_SIM=threads=N, and the backend `cpu`.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ferry/core.hpp>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/check_error.hpp"
#include "support/failures.hpp"

namespace fr = ferry;

namespace cpu_kernels {
namespace {

using support::check_error;

constexpr const char* machines[] = {"devices=2", "devices=2;threads=2", "devices=2;threads=5"};

// Waits in every 256th call until three such calls have begun, and lists their threads.
std::mutex threads_mutex;
std::set<std::thread::id> threads;
std::atomic<int> begun{0};
struct wait_for_others {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* to) const {
    to[i] = 1;
#if !FERRY_IN_DEVICE_CODE
    if (i % 256 != 0) return;
    ++begun;
    while (begun < 3) std::this_thread::yield();
    const std::lock_guard lock(threads_mutex);
    threads.insert(std::this_thread::get_id());
#endif
  }
};
struct number_1 {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] += static_cast<int>(i) + 1; }
};
struct number_2 {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<int, 2> y) const {
    y(i, j) += static_cast<int>(100000 * i + j);
  }
};
struct number_3 {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<int, 3> y) const {
    y(i, j, k) += static_cast<int>(1000000 * i + 1000 * j + k);
  }
};
struct mark_tile {
  FERRY_HOST_DEVICE void operator()(fr::tile t, fr::mdspan<int, 2> y) const {
    for (std::size_t i = 0; i != t.rows; ++i)
      for (std::size_t j = 0; j != t.columns; ++j) y(t.row + i, t.column + j) += 1;
  }
};
struct value_at {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const double* x) const { return x[i]; }
};
struct count_into {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* counters) const {
    fr::atomic_ref<int>(counters[i % 3]).fetch_add(1);
  }
};
struct fails_at {
  std::size_t at;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int*) const { FERRY_ASSERT(i < at, "planted"); }
};
struct sum_and_difference {
  FERRY_HOST_DEVICE float operator()(float a, float b) const { return a + 2 * b; }
};

}  // namespace
}  // namespace cpu_kernels

BOOST_AUTO_TEST_SUITE(cpu_kernels)
using namespace cpu_kernels;

BOOST_AUTO_TEST_CASE(loops_call_each_index_once) {
  for (const char* machine : machines) {
    const fr::simulation sim(machine);
    for (const std::size_t n : {1, 255, 256, 513, 10007}) {
      fr::unified_array<int> y({n}, 0);
      fr::parallel_for(n, number_1{}, fr::inout(y));
      for (std::size_t i = 0; i != n; ++i) BOOST_REQUIRE(y[i] == static_cast<int>(i) + 1);
    }
    for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{1, 999}, {999, 1}, {37, 53}, {3, 4001}}) {
      fr::unified_array<int, 2> y({rows, columns}, 0);
      fr::parallel_for({rows, columns}, number_2{}, fr::inout(y));
      for (std::size_t i = 0; i != rows; ++i)
        for (std::size_t j = 0; j != columns; ++j) BOOST_REQUIRE(y(i, j) == static_cast<int>(100000 * i + j));
    }
    fr::unified_array<int, 3> z({11, 13, 17}, 0);
    fr::parallel_for({11, 13, 17}, number_3{}, fr::inout(z));
    for (std::size_t i = 0; i != 11; ++i)
      for (std::size_t j = 0; j != 13; ++j)
        for (std::size_t k = 0; k != 17; ++k) BOOST_REQUIRE(z(i, j, k) == static_cast<int>(1000000 * i + 1000 * j + k));
    fr::unified_array<int, 2> t({45, 67}, 0);
    fr::parallel_for(fr::tiles{{45, 67}, 8, 16}, mark_tile{}, fr::inout(t));
    for (const int marks : t) BOOST_REQUIRE(marks == 1);
  }
}

BOOST_AUTO_TEST_CASE(several_threads_call_the_functor) {
  const fr::simulation sim("threads=3");
  fr::unified_array<int> y({768}, 0);
  fr::parallel_for(768, wait_for_others{}, fr::out(y));
  BOOST_TEST(threads.size() == 3u);
}

// The number of threads does not change a sum, and the sum is right.
BOOST_AUTO_TEST_CASE(sums_do_not_depend_on_the_number_of_threads) {
  const auto sum_with = [](const char* machine, std::size_t n) {
    const fr::simulation sim(machine);
    fr::unified_array<double> x({n});
    for (std::size_t i = 0; i != n; ++i) x[i] = std::sqrt(static_cast<double>(i));
    return fr::parallel_reduce(n, value_at{}, fr::plus{}, fr::in(x)).value();
  };
  for (const std::size_t n : {1, 1000, 2048, 99991}) {
    double exact = 0;
    for (std::size_t i = 0; i != n; ++i) exact += std::sqrt(static_cast<double>(i));
    const double two = sum_with("threads=2", n);
    BOOST_TEST(two == sum_with("threads=7", n));
    BOOST_TEST(std::abs(two - exact) <= 1e-12 * exact);
  }
}

BOOST_AUTO_TEST_CASE(atomic_operations_are_atomic) {
  const fr::simulation sim("threads=4");
  fr::unified_array<int> counters({3}, 0);
  fr::parallel_for(30000, count_into{}, fr::inout(counters));
  for (const int c : counters) BOOST_TEST(c == 10000);
}

BOOST_AUTO_TEST_CASE(errors_name_the_index) {
  const fr::simulation sim("threads=4");
  fr::unified_array<int> x({5000}, 0);
  check_error<fr::device_error>(
      [&] {
        fr::parallel_for(5000, fails_at{4321}, fr::in(x));
        fr::default_stream(fr::devices()[0]).synchronize();
      },
      {"planted", "4321"});
}

// Large enough to be divided: 1 MiB and more.
BOOST_AUTO_TEST_CASE(copies_and_fills_are_whole) {
  for (const char* machine : machines) {
    const fr::simulation sim(machine);
    constexpr std::size_t n = 1001, m = 700;
    fr::unified_array<int, 2> a({n, m}), b({n, m}, -1), c({m, n}, -1);
    for (std::size_t i = 0; i != n; ++i)
      for (std::size_t j = 0; j != m; ++j) a(i, j) = static_cast<int>(i * m + j);
    fr::copy(a, b);
    BOOST_TEST(fr::to_vector(b) == fr::to_vector(a));
    fr::copy(a.transpose(), c);
    for (std::size_t i = 0; i != n; ++i)
      for (std::size_t j = 0; j != m; ++j) BOOST_REQUIRE(c(j, i) == a(i, j));
    fr::fill(b, 5);
    BOOST_TEST(fr::to_vector(b) == std::vector<int>(n * m, 5));
    fr::fill(b.slice({{0, n, 2}, {1, m}}), 6);
    for (std::size_t i = 0; i != n; ++i)
      for (std::size_t j = 0; j != m; ++j) BOOST_REQUIRE(b(i, j) == (i % 2 == 0 && j > 0 ? 6 : 5));
  }
}

BOOST_AUTO_TEST_CASE(transforms_and_expressions_are_whole) {
  for (const char* machine : machines) {
    const fr::simulation sim(machine);
    for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{1, 20001}, {300, 70}, {5000, 3}}) {
      fr::unified_array<float, 2> a({n, m}), b({n, m}), y({n, m}, -1.f), z({m, n}, -1.f);
      for (std::size_t i = 0; i != n; ++i)
        for (std::size_t j = 0; j != m; ++j)
          a(i, j) = static_cast<float>(i * m + j), b(i, j) = static_cast<float>(i) - static_cast<float>(j);
      fr::transform(fr::out(y), sum_and_difference{}, fr::in(a), fr::in(b));
      fr::transform(fr::out(z.transpose()), sum_and_difference{}, fr::in(a), fr::in(b));
      for (std::size_t i = 0; i != n; ++i)
        for (std::size_t j = 0; j != m; ++j) {
          BOOST_REQUIRE(y(i, j) == a(i, j) + 2 * b(i, j));
          BOOST_REQUIRE(z(j, i) == y(i, j));
        }
    }
    fr::unified_array<float> x({std::size_t{3} << 20}, 1.f), w({std::size_t{3} << 20});
    w = 2.f * x + 1.f;
    for (const float v : w) BOOST_REQUIRE(v == 3.f);
    BOOST_TEST(static_cast<float>(fr::sum(w)) == 9.f * (1 << 20));
  }
}

BOOST_AUTO_TEST_SUITE_END()
