// Scans and histograms on CUDA devices: against loops of the CPU, for lines of one tile, of several, and of thousands.
// as: host
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "cuda_fixture.hpp"
#include "expressions_fixture.hpp"
#include "ferry/core/reduce.hpp"

namespace cuda_scans {
namespace {

namespace fr = ferry;

// Element (i, j, k): whole numbers of both signs.
std::int64_t element(std::size_t i, std::size_t j, std::size_t k) {
  return static_cast<std::int64_t>((7 * i + 3 * j + k) % 101) - 50;
}
auto elements() {
  return fr::cast<std::int64_t>((7 * fr::index(0) + 3 * fr::index(1) + fr::index(2)) % 101) - std::int64_t{50};
}

// The running values along an axis, by join(before, element).
template <class Join>
std::vector<std::int64_t> scanned(const fr::extents<3>& e, int axis, std::int64_t initial, bool is_exclusive,
                                  Join join) {
  std::vector<std::int64_t> to(e.count());
  const std::size_t stride = axis == 0 ? e[1] * e[2] : axis == 1 ? e[2] : 1, length = e[static_cast<std::size_t>(axis)];
  for (std::size_t n = 0; n != to.size(); ++n) {
    const std::size_t at = n / stride % length;
    const std::int64_t x = element(n / (e[1] * e[2]), n / e[2] % e[1], n % e[2]);
    const std::int64_t before = at == 0 ? initial : to[n - stride];
    to[n] = is_exclusive && at == 0 ? initial
            : is_exclusive
                ? join(before, element((n - stride) / (e[1] * e[2]), (n - stride) / e[2] % e[1], (n - stride) % e[2]))
                : join(before, x);
  }
  return to;
}

template <class R>
bool are_equal(const R& result, const std::vector<std::int64_t>& want) {
  const std::vector<std::int64_t> got = fr::to_vector(fr::device_array<std::int64_t, 3>(result));
  const auto differs = std::mismatch(got.begin(), got.end(), want.begin(), want.end());
  if (differs.first == got.end()) return true;
  BOOST_TEST_MESSAGE("element " << differs.first - got.begin() << ": " << *differs.first << " is not "
                                << *differs.second);
  return false;
}

const std::vector<fr::extents<3>> shapes{
    {3, 5, 700},    {2000, 3, 4},   {2, 90000, 2},  {1, 1, 5000000}, {40, 50, 60},    {1, 1, 1},
    {2, 3, 100000}, {70, 1, 33},    {9000, 1, 700}, {200000, 1, 33}, {1, 3000000, 1}, {500, 40, 2},
    {3, 1, 4097},   {1, 300000, 5}, {700, 1, 5003}, {150, 1, 20001}};  // many lines of several tiles

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_scans)

BOOST_AUTO_TEST_CASE(along_all_axes) {
  const auto sum = [](std::int64_t a, std::int64_t b) { return a + b; };
  const auto greater = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
  for (const fr::extents<3>& e : shapes) {
    fr::device_array<std::int64_t, 3> a(e);
    a = elements();
    fr::device_array<int, 3> narrow(e);
    narrow = fr::cast<int>(elements());
    for (int axis = 0; axis != 3; ++axis) {
      BOOST_TEST_CONTEXT(e[0] << " x " << e[1] << " x " << e[2] << " along " << axis) {
        BOOST_TEST(are_equal(fr::cumsum(a, axis), scanned(e, axis, 0, false, sum)));
        BOOST_TEST(are_equal(fr::cumsum(narrow, axis), scanned(e, axis, 0, false, sum)));
        BOOST_TEST(
            are_equal(fr::exclusive_scan(a, fr::plus(), axis, std::int64_t{1000}), scanned(e, axis, 1000, true, sum)));
        BOOST_TEST(are_equal(fr::inclusive_scan(a, fr::maximum(), axis), scanned(e, axis, -1000, false, greater)));
        BOOST_TEST(
            are_equal(fr::exclusive_scan(a, fr::maximum(), axis, std::int64_t{7}), scanned(e, axis, 7, true, greater)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(views_and_fused_expressions) {
  const fr::extents<3> e{300, 20, 500};
  fr::device_array<std::int64_t, 3> a(e), y(e);
  a = elements();
  std::vector<std::int64_t> want =
      scanned(e, 0, 0, false, [](std::int64_t x, std::int64_t v) { return x + 2 * v + 1; });
  y = fr::cumsum(2 * a + 1, 0);
  BOOST_TEST((fr::to_vector(y) == want));
  // Backwards: the transposed and reversed array, scanned and turned back.
  const std::vector<std::int64_t> plain = fr::to_vector(a);
  fr::device_array<std::int64_t, 3> turned(fr::cumsum(a.transpose(), 0));
  const std::vector<std::int64_t> got = fr::to_vector(turned);  // of shape 500 x 20 x 300, along the last axis of a
  std::size_t wrong = 0;
  for (std::size_t i = 0; i != 300; ++i)
    for (std::size_t j = 0; j != 20; ++j) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k != 500; ++k) {
        sum += plain[(i * 20 + j) * 500 + k];
        wrong += got[(k * 20 + j) * 300 + i] != sum;
      }
    }
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(float_sums_carry_what_float_would_lose) {
  constexpr std::size_t n = 1 << 22;
  fr::device_array<float, 1> a({n});
  a = 0.1f + 0.f * fr::index(0);
  const fr::host_array<float, 1> sums(fr::cumsum(a));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i != n; ++i)
    wrong += sums(i) != static_cast<float>(static_cast<double>(i + 1) * static_cast<double>(0.1f));
  BOOST_TEST(wrong == 0u);
  fr::device_array<double, 1> b({n});
  b = 0.1 + 0. * fr::index(0);
  const fr::host_array<double, 1> exact(fr::cumsum(b));
  const long double want = n * static_cast<long double>(0.1);
  BOOST_TEST(std::fabs(static_cast<double>(exact(n - 1) - want)) <= 64 * 0x1p-53 * static_cast<double>(want));
  fr::device_array<std::complex<float>, 1> z({1000});
  z = fr::cast<std::complex<float>>(fr::cast<float>(fr::index(0)));
  const std::vector<std::complex<float>> all = fr::to_vector(fr::device_array<std::complex<float>, 1>(fr::cumsum(z)));
  BOOST_TEST((all[999] == std::complex<float>(499500, 0)));
}

BOOST_AUTO_TEST_CASE(the_same_bits_each_time) {
  fr::device_array<double, 1> a({std::size_t{1} << 23});
  a = fr::sin(fr::cast<double>(fr::index(0)));
  const std::vector<double> first = fr::to_vector(fr::device_array<double, 1>(fr::cumsum(a)));
  for (int k = 0; k != 5; ++k) {
    const std::vector<double> again = fr::to_vector(fr::device_array<double, 1>(fr::cumsum(a)));
    BOOST_TEST((std::memcmp(first.data(), again.data(), first.size() * sizeof(double)) == 0));
  }
}

BOOST_AUTO_TEST_CASE(least_and_greatest_follow_nan) {
  constexpr std::size_t n = 100000, at = 70000;
  fr::device_array<float, 1> a({n});
  a = fr::where(fr::index(0) == std::int64_t(at), std::numeric_limits<float>::quiet_NaN(), -1.f * fr::index(0));
  const std::vector<float> got = fr::to_vector(fr::device_array<float, 1>(fr::inclusive_scan(a, fr::minimum(), 0)));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i != n; ++i) wrong += i < at ? got[i] != -static_cast<float>(i) : !std::isnan(got[i]);
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(counts_of_few_and_many_bins) {
  constexpr std::size_t n = 3000001;
  fr::device_array<std::int64_t, 1> a({n});
  a = (fr::index(0) * 7919) % 6007 - 3;  // some are outside of the bins
  fr::device_array<double, 1> w({n});
  w = fr::cast<double>(fr::index(0) % 5);
  const std::vector<std::int64_t> x = fr::to_vector(a);
  for (const std::size_t bins : {1, 2, 100, 256, 257, 4096, 4097, 10000}) {
    std::vector<std::uint64_t> want(bins);
    std::vector<double> weights(bins);
    for (std::size_t i = 0; i != n; ++i)
      if (x[i] >= 0 && static_cast<std::size_t>(x[i]) < bins)
        ++want[static_cast<std::size_t>(x[i])], weights[static_cast<std::size_t>(x[i])] += static_cast<double>(i % 5);
    BOOST_TEST((fr::to_vector(fr::device_array<std::uint64_t, 1>(fr::bincount(a, bins))) == want), bins << " bins");
    BOOST_TEST((fr::to_vector(fr::device_array<double, 1>(fr::bincount(a, bins, w))) == weights), bins << " bins");
  }
}

BOOST_AUTO_TEST_CASE(histograms_of_rows_and_of_other_types) {
  fr::device_array<float, 2> m({1000, 700});
  m = fr::cast<float>((fr::index(0) * 31 + fr::index(1)) % 1000) / 1000.f;
  const std::vector<float> x = fr::to_vector(m);
  std::vector<std::uint64_t> want(10);
  for (const float v : x) ++want[std::min<std::size_t>(9, static_cast<std::size_t>(std::floor(double(v) * 10)))];
  const std::vector<std::uint64_t> got = fr::to_vector(fr::device_array<std::uint64_t, 1>(fr::histogram(m, 10, 0, 1)));
  std::uint64_t all = 0, near = 0;
  for (std::size_t k = 0; k != 10; ++k) all += got[k], near += got[k] > want[k] ? got[k] - want[k] : want[k] - got[k];
  BOOST_TEST(all == x.size());
  BOOST_TEST(near <= x.size() / 100);  // values at edges
  fr::device_array<int, 1> narrow({10});
  narrow = fr::bincount(fr::cast<int>(m * 0.f + 3.f), 10);
  BOOST_TEST((fr::to_vector(narrow) == std::vector<int>{0, 0, 0, 700000, 0, 0, 0, 0, 0, 0}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cuda_scans
