// Reductions of expressions on CUDA devices: against sums of the CPU, over all axes, for runs that are cut into parts.
// as: host
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "cuda_fixture.hpp"
#include "expressions_fixture.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/core/reduce.hpp"

namespace cuda_reductions {
namespace {

namespace fr = ferry;

// Element (i, j, k) is (7 i + 3 j + k) mod 101 - 50, so that sums of doubles are exact.
double element(std::size_t i, std::size_t j, std::size_t k) {
  return static_cast<double>((7 * i + 3 * j + k) % 101) - 50;
}
fr::device_array<double, 3> numbers(const fr::extents<3>& e) {
  fr::device_array<double, 3> a(e);
  a = fr::cast<double>((7 * fr::index(0) + 3 * fr::index(1) + fr::index(2)) % 101) - 50.;
  return a;
}

// The sums of element * factor along the axes whose bit is set, in order of the other indices.
std::vector<double> sums(const fr::extents<3>& e, int axes, double factor) {
  const std::size_t kept[] = {axes & 1 ? 1 : e[0], axes & 2 ? 1 : e[1], axes & 4 ? 1 : e[2]};
  std::vector<double> s(kept[0] * kept[1] * kept[2]);
  for (std::size_t i = 0; i != e[0]; ++i)
    for (std::size_t j = 0; j != e[1]; ++j)
      for (std::size_t k = 0; k != e[2]; ++k)
        s[((i % kept[0]) * kept[1] + j % kept[1]) * kept[2] + k % kept[2]] += factor * element(i, j, k);
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_reductions)

BOOST_AUTO_TEST_CASE(sums_along_all_axes) {
  for (const fr::extents<3>& e : {fr::extents<3>{3, 5, 700}, fr::extents<3>{2000, 3, 4}, fr::extents<3>{2, 90000, 2},
                                  fr::extents<3>{1, 1, 1000000}, fr::extents<3>{40, 50, 60}}) {
    const auto a = numbers(e);
    CHECK_ELEMENTS((fr::device_array<double, 3>(fr::sum(2. * a, fr::axes{0}, fr::keep_dims))), (sums(e, 1, 2)));
    CHECK_ELEMENTS((fr::device_array<double, 3>(fr::sum(2. * a, fr::axes{1}, fr::keep_dims))), (sums(e, 2, 2)));
    CHECK_ELEMENTS((fr::device_array<double, 3>(fr::sum(2. * a, fr::axes{2}, fr::keep_dims))), (sums(e, 4, 2)));
    CHECK_ELEMENTS((fr::device_array<double, 3>(fr::sum(2. * a, fr::axes{0, 2}, fr::keep_dims))), (sums(e, 5, 2)));
    CHECK_ELEMENTS((fr::device_array<double, 3>(fr::sum(2. * a, fr::axes{1, 2}, fr::keep_dims))), (sums(e, 6, 2)));
    CHECK_ELEMENTS((fr::device_array<double, 3>(fr::sum(2. * a, fr::keep_dims))), (sums(e, 7, 2)));
  }
}

BOOST_AUTO_TEST_CASE(several_results_in_one_pass) {
  const fr::extents<3> e{100, 70, 90};
  const auto a = numbers(e);
  const auto [least, where, variance, positive] =
      fr::reduce_all(fr::min(a), fr::argmax(a), fr::var(a), fr::count(a > 0.));
  double squares = 0, all = sums(e, 7, 1)[0] / static_cast<double>(e.count());
  std::uint64_t count = 0, first = e.count();
  for (std::size_t n = 0; n != e.count(); ++n) {
    const double x = element(n / 6300, n / 90 % 70, n % 90);
    squares += (x - all) * (x - all), count += x > 0;
    if (x == 50 && first == e.count()) first = n;
  }
  BOOST_TEST(double(least) == -50.);
  BOOST_TEST(std::int64_t(where) == static_cast<std::int64_t>(first));
  BOOST_TEST(double(variance) == squares / static_cast<double>(e.count()), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(std::uint64_t(positive) == count);
}

// Captures compile nothing. Each of these kernels occurs in this case alone.
BOOST_AUTO_TEST_CASE(captures_need_compiled_kernels) {
  const auto a = numbers({30, 40, 50});
  fr::stream s(fr::device(0));
  fr::device_array<double, 2> sums({40, 50});
  fr::device_array<double, 3> scanned({30, 40, 50});
  fr::device_array<std::uint64_t, 1> counts({7});
  const auto sum = fr::sum(a * 3. - fr::sqrt(fr::abs(a)) * 0., fr::axes{0});
  const auto scan = fr::cumsum(a * 3. + fr::floor(a), 1);
  const auto bins = fr::bincount(fr::cast<int>(fr::abs(a)) % 7, 7);
  const auto refused = [&](auto assign) {
    expressions_test::check_error<fr::not_supported>([&] { fr::graph g = fr::capture(s, assign); },
                                                     {"captures compile nothing", "fr::precompile"});
  };
  refused([&] { fr::assign(s, sums, sum); });
  refused([&] { fr::assign(s, scanned, scan); });
  refused([&] { fr::assign(s, counts, bins); });
  BOOST_TEST(fr::precompile(sum));
  BOOST_TEST(fr::precompile(scan));
  BOOST_TEST(fr::precompile(bins));
  fr::graph g = fr::capture(s, [&] {
    fr::assign(s, sums, sum);
    fr::assign(s, scanned, scan);
    fr::assign(s, counts, bins);
  });
  g.launch(s);
  const std::vector<double> in_graph = fr::to_vector(scanned), sums_in_graph = fr::to_vector(sums);
  const std::vector<std::uint64_t> counted = fr::to_vector(counts);
  fr::assign(s, sums, sum), fr::assign(s, scanned, scan), fr::assign(s, counts, bins);
  BOOST_TEST((fr::to_vector(scanned) == in_graph));
  BOOST_TEST((fr::to_vector(sums) == sums_in_graph));
  BOOST_TEST((fr::to_vector(counts) == counted));
  const std::string text = fr::explain(sum);
  BOOST_TEST(text.find(" ms\n  shape: ") != std::string::npos, text);
  BOOST_TEST(text.find("__global__") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(the_same_bits_each_time) {
  fr::device_array<float, 1> a({std::size_t{1} << 24});
  a = fr::sin(fr::cast<float>(fr::index(0)));
  const float first = fr::sum(a);
  for (int k = 0; k != 10; ++k) BOOST_TEST(float(fr::sum(a)) == first);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cuda_reductions
