// Sorting on CUDA devices: random arrays of all types as by the standard library, large arrays, and graphs.
// as: host
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda_fixture.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/core/print.hpp"
#include "sorting_checks.hpp"
#include "support/seeds.hpp"

namespace cuda_sorting {
namespace {

using namespace sorting_test;

// Elements without a pattern: the lowest bits of a linear congruential sequence, and their negatives.
template <class T>
std::vector<T> scattered(std::size_t n) {
  std::vector<T> v(n);
  std::uint64_t x = 1;
  for (T& e : v) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    e = static_cast<T>(static_cast<std::int32_t>(x >> 33) - (1 << 30));
  }
  return v;
}

template <class T>
void check_large(std::size_t rows, std::size_t length) {
  std::vector<T> v = scattered<T>(rows * length);
  const auto a = fr::device_array<T, 2>::from(std::span<const T>(v), fr::extents<2>{rows, length});
  const auto sorted = elements(fr::sort(a));
  const auto places = elements(fr::argsort(a));
  std::size_t wrong = 0;
  for (std::size_t r = 0; r != rows; ++r) {
    const std::size_t first = r * length;
    for (std::size_t i = 0; i != length; ++i) {
      const auto k = static_cast<std::size_t>(places[first + i]);
      wrong += k >= length || v[first + k] != sorted[first + i];
      if (i != 0) wrong += v[first + k] == sorted[first + i - 1] && places[first + i - 1] > places[first + i];
    }
    std::sort(v.begin() + static_cast<std::ptrdiff_t>(first), v.begin() + static_cast<std::ptrdiff_t>(first + length));
  }
  BOOST_TEST(wrong == 0u);
  BOOST_TEST((sorted == v));
}

}  // namespace
}  // namespace cuda_sorting

BOOST_AUTO_TEST_SUITE(cuda_sorting)

BOOST_AUTO_TEST_CASE(random_arrays_of_all_types) {
  for (std::size_t seed = 0; seed != support::seeds(100); ++seed) {
    dice d(seed);
    check<bool, 2>(d, 1), check<std::int8_t, 2>(d, 1), check<std::uint8_t, 1>(d, 1), check<std::int16_t, 2>(d, 1);
    check<std::uint16_t, 1>(d, 1), check<std::int32_t, 2>(d, 1), check<std::uint32_t, 1>(d, 1);
    check<std::int64_t, 2>(d, 1), check<std::uint64_t, 1>(d, 1), check<fr::half, 2>(d, 1), check<fr::bfloat16, 1>(d, 1);
    check<float, 2>(d, 1), check<double, 3>(d, 1);
    check_unique<std::uint8_t>(d), check_unique<fr::half>(d), check_unique<float>(d), check_unique<std::int64_t>(d);
    check_search<std::int8_t>(d), check_search<std::uint64_t>(d), check_search<float>(d), check_search<fr::bfloat16>(d);
    check_selection<std::uint8_t>(d), check_selection<fr::half>(d), check_selection<double>(d);
  }
}

BOOST_AUTO_TEST_CASE(large_arrays) {
  check_large<int>(1, (1 << 22) + 3);
  check_large<float>(1, (1 << 22) + 3);
  check_large<double>(3, (1 << 20) + 1);  // row by row
  check_large<std::uint32_t>(3000, 700);  // by key, then by row
  check_large<std::int64_t>(200000, 5);
  const std::size_t n = (1 << 22) + 5;
  fr::device_array<int> a({n});
  a = fr::cast<int>(fr::index(0) % 1000);
  const auto few = fr::unique_counts(a);
  BOOST_TEST(few.values.size() == 1000u);
  BOOST_TEST((elements(few.counts)[0] == (1 << 22) / 1000 + 1));
  const auto some = elements(fr::flatnonzero(a == 999));
  BOOST_TEST_REQUIRE(some.size() == n / 1000);
  for (std::size_t i = 0; i != some.size(); ++i) BOOST_TEST(some[i] == static_cast<std::int64_t>(1000 * i + 999));
}

BOOST_AUTO_TEST_CASE(sorts_in_graphs) {
  const fr::stream s;
  fr::device_array<float> a({100000});
  fr::graph g = fr::capture(s, [&] { fr::sort_in_place(s, a, 0, fr::sort_order::descending); });
  for (int k = 0; k != 3; ++k) {
    fr::assign(s, a, fr::cast<float>((fr::index(0) * 7919 + k) % 100000));
    g.launch(s);
    BOOST_TEST(double(fr::value_at(a, 0)) == 99999.);
    BOOST_TEST(double(fr::value_at(a, 99999)) == 0.);
  }
}

BOOST_AUTO_TEST_SUITE_END()
