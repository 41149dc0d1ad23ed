// Scans and histograms: values, edges, weights, types, and what is refused.
#include <climits>
#include <cmath>
#include <limits>
#include <random>

#include "expressions_fixture.hpp"
#include "ferry/core/reduce.hpp"

namespace reductions_scans {
namespace {

namespace fr = ferry;
using expressions_test::array_of;
using expressions_test::check_error;
using expressions_test::counted;

struct on_a_simulated_device {
  fr::simulation sim{"devices=1;check=races"};
};

}  // namespace
}  // namespace reductions_scans

BOOST_FIXTURE_TEST_SUITE(reductions_scans, on_a_simulated_device)

BOOST_AUTO_TEST_CASE(running_sums_and_products) {
  const auto a = array_of<int>({1, 2, 3, 4});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 1>(fr::cumsum(a))), {1, 3, 6, 10});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 1>(fr::cumprod(a))), {1, 2, 6, 24});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 1>(fr::exclusive_scan(a, fr::plus(), 0, 100))), {100, 101, 103, 106});
  CHECK_ELEMENTS((fr::device_array<int, 1>(fr::inclusive_scan(array_of<int>({2, 5, 1, 7}), fr::maximum(), -1))),
                 {2, 5, 5, 7});
  CHECK_ELEMENTS((fr::device_array<int, 1>(fr::exclusive_scan(array_of<int>({2, 5, 1, 7}), fr::minimum(), 0, 4))),
                 {4, 2, 2, 1});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 1>(fr::exclusive_scan(a, fr::plus(), 0))), {0, 1, 3, 6});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 1>(fr::exclusive_scan(a, fr::multiplies(), 0))), {1, 1, 2, 6});
  CHECK_ELEMENTS((fr::device_array<int, 1>(fr::exclusive_scan(a, fr::minimum(), 0))), {INT_MAX, 1, 1, 1});
  CHECK_ELEMENTS((fr::device_array<float, 1>(fr::exclusive_scan(fr::cast<float>(a), fr::maximum(), 0))),
                 {-INFINITY, 1, 2, 3});
  const auto m = counted<int>(fr::extents<2>{2, 3});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 2>(fr::cumsum(m, 0))), {0, 1, 2, 3, 5, 7});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 2>(fr::cumsum(m, 1))), {0, 1, 3, 3, 7, 12});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 2>(fr::cumsum(m * m, -1))), {0, 1, 5, 9, 25, 50});
}

BOOST_AUTO_TEST_CASE(long_scans_go_on_from_block_to_block) {
  constexpr std::size_t n = 100000;
  fr::device_array<int, 1> a({n});
  a = fr::cast<int>(fr::index(0) % 7);
  fr::host_array<std::int64_t, 1> sums(fr::cumsum(a));
  std::int64_t expected = 0;
  bool good = true;
  for (std::size_t i = 0; i != n; ++i) expected += static_cast<std::int64_t>(i % 7), good = good && sums(i) == expected;
  BOOST_TEST(good);
  BOOST_TEST(sums(n - 1) == expected);
}

BOOST_AUTO_TEST_CASE(float_scans_carry_what_float_would_lose) {
  constexpr std::size_t n = 1 << 20;
  fr::device_array<float, 1> a({n});
  a = 0.1f + 0.f * fr::index(0);
  fr::host_array<float, 1> sums(fr::cumsum(a));
  BOOST_TEST(sums(n - 1) == static_cast<float>(n * static_cast<double>(0.1f)));
  fr::device_array<double, 1> b({n});
  b = 0.1 + 0. * fr::index(0);
  fr::host_array<double, 1> exact(fr::cumsum(b));
  const long double want = n * static_cast<long double>(0.1);
  BOOST_TEST(std::fabs(static_cast<double>(exact(n - 1) - want)) <= 2 * 0x1p-53 * static_cast<double>(want));
}

BOOST_AUTO_TEST_CASE(no_rows_and_one_row) {
  fr::device_array<float, 2> none({0, 4}), one({1, 4});
  BOOST_TEST((fr::device_array<float, 2>(fr::cumsum(none, 0))).size() == 0u);
  one = 1.f * fr::index(1);
  CHECK_ELEMENTS((fr::device_array<float, 2>(fr::cumsum(one, 0))), {0, 1, 2, 3});
}

BOOST_AUTO_TEST_CASE(histograms_have_the_edges_of_numpy) {
  const auto a = array_of<double>(
      {0, 0.1, 0.2, 0.3, 0.30000000000000004, 0.7, 0.9999, 1, 1.0001, -0.1, std::numeric_limits<double>::quiet_NaN()});
  // numpy.histogram of the first eight with bins=10, range=(0, 1)
  CHECK_ELEMENTS((fr::device_array<std::uint64_t, 1>(fr::histogram(a, 10, 0, 1))), {1, 1, 2, 1, 0, 0, 1, 0, 0, 2});
  std::mt19937 random(7);
  std::vector<double> v;
  for (int i = 0; i != 100000; ++i) v.push_back((static_cast<double>(random() % 4001) - 500) / 1000);
  fr::host_array<std::uint64_t, 1> found(fr::histogram(array_of(v), 70, 0, 2.8));
  std::vector<std::uint64_t> expected(70);
  for (const double x : v) {
    if (x < 0 || x > 2.8) continue;
    std::size_t bin = 0;
    while (bin != 69 && x >= 0 + static_cast<double>(bin + 1) * (2.8 / 70)) ++bin;
    ++expected[bin];
  }
  CHECK_ELEMENTS(found, (expected));
}

BOOST_AUTO_TEST_CASE(counts_of_integers_and_weights) {
  const auto a = array_of<int>({0, 1, 1, 3, -1, 7, 3, 3});
  CHECK_ELEMENTS((fr::device_array<std::uint64_t, 1>(fr::bincount(a, 5))), {1, 2, 0, 3, 0});
  const auto u = array_of<std::uint64_t>({~std::uint64_t(0), 1, std::uint64_t(1) << 63});
  CHECK_ELEMENTS((fr::device_array<std::uint64_t, 1>(fr::bincount(u, 2))), {0, 1});
  const auto w = array_of<float>({0.5f, 1, 2, 4, 8, 16, 32, 64});
  CHECK_ELEMENTS((fr::device_array<double, 1>(fr::bincount(a, 5, w))), {0.5, 3, 0, 100, 0});
  CHECK_ELEMENTS((fr::device_array<double, 1>(fr::histogram(a * 1., 2, 0, 8, w * 2.f))), {207, 32});
  fr::device_array<float, 1> out({5});
  out = fr::bincount(a % 2 + 1, 5);
  CHECK_ELEMENTS(out, {1, 1, 6, 0, 0});
  fr::device_array<int, 2> many({300, 700});
  many = fr::cast<int>((fr::index(0) + fr::index(1)) % 10);
  BOOST_TEST(std::uint64_t(fr::sum(fr::bincount(many, 10))) == 210000u);
  CHECK_ELEMENTS((fr::device_array<std::uint64_t, 1>(fr::bincount(many, 2))), {21000, 21000});
}

BOOST_AUTO_TEST_CASE(bad_calls) {
  auto a = counted<int>(fr::extents<1>{4});
  a.name("hits");
  const auto w = counted<float>(fr::extents<1>{3});
  check_error<fr::invalid_argument>([&] { (void)fr::bincount(a, 0); }, {"bincount('hits', 0)"});
  check_error<fr::invalid_argument>([&] { (void)fr::bincount(a, 3, w); }, {"weights", "of 3", "of 4"});
  check_error<fr::invalid_argument>([&] { (void)fr::histogram(a, 3, 1, 1); },
                                    {"histogram('hits', 3", "low must be less"});
  check_error<fr::invalid_argument>([&] { (void)fr::histogram(a, 3, 0, std::nan("")); }, {"both finite"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::device_array<double, 1> y({2});
        y = fr::histogram(a, 3, 0, 1);
      },
      {"histogram(hits, 3)' of 3", "of 2"});
}

BOOST_AUTO_TEST_SUITE_END()
