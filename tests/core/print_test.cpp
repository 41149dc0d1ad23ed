// Arrays as text, as NumPy's str() writes them (expected texts are from NumPy 2), and single elements.
#include <complex>
#include <cstdint>
#include <limits>
#include <sstream>

#include "expressions_fixture.hpp"
#include "ferry/core/print.hpp"

namespace print_suite {
namespace {

namespace fr = ferry;
using expressions_test::array_of;
using expressions_test::check_error;
using expressions_test::counted;

struct simulated {
  fr::simulation sim{"devices=2;check=races;schedule=random:3"};
};

template <class T>
std::string text(const std::vector<T>& v) {
  return fr::to_text(array_of<T>(v));
}

}  // namespace
}  // namespace print_suite

BOOST_FIXTURE_TEST_SUITE(print_suite, simulated)

BOOST_AUTO_TEST_CASE(floating_point_numbers) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  BOOST_TEST(text<double>({1., 2.5, -3.125}) == "[ 1.     2.5   -3.125]");
  BOOST_TEST(text<double>({1e10, 1., -2.5e-7}) == "[ 1.0e+10  1.0e+00 -2.5e-07]");
  BOOST_TEST(text<double>({nan, inf, -inf, 1.5}) == "[ nan  inf -inf  1.5]");
  BOOST_TEST(text<double>({nan, inf, 1.}) == "[nan inf  1.]");
  BOOST_TEST(text<double>({nan, -nan}) == "[nan nan]");
  BOOST_TEST(text<double>({nan, 1e-10}) == "[   nan 1.e-10]");
  BOOST_TEST(text<double>({0.1, 1. / 3, 2. / 3}) == "[0.1        0.33333333 0.66666667]");
  BOOST_TEST(text<float>({0.1f, 1.f / 3, 2.f / 3, 100.f}) == "[  0.1          0.33333334   0.6666667  100.        ]");
  BOOST_TEST(text<fr::half>({fr::half(0.1f), fr::half(1.f / 3), fr::half(50.03f), fr::half(2.f)}) ==
             "[ 0.1     0.3333 50.03    2.    ]");
  BOOST_TEST(text<double>({0., -0.}) == "[ 0. -0.]");
  BOOST_TEST(text<double>({1e100, -1.}) == "[ 1.e+100 -1.e+000]");
  BOOST_TEST(text<double>({1e-5, 1.}) == "[1.e-05 1.e+00]");
  BOOST_TEST(text<double>({123456789.}) == "[1.23456789e+08]");
  BOOST_TEST(text<double>({0.0001, 0.1}) == "[0.0001 0.1   ]");
  BOOST_TEST(text<double>({999., 1.}) == "[999.   1.]");
  BOOST_TEST(text<double>({1001., 1.}) == "[1.001e+03 1.000e+00]");
  BOOST_TEST(text<double>({0.123456789012, 1.5}) == "[0.12345679 1.5       ]");
  BOOST_TEST(text<double>({1.999999999, 1.}) == "[2. 1.]");
}

BOOST_AUTO_TEST_CASE(other_types) {
  BOOST_TEST(text<std::uint8_t>({255, 0}) == "[255   0]");
  BOOST_TEST(text<std::int8_t>({-128, 7}) == "[-128    7]");
  BOOST_TEST(text<std::uint64_t>({~std::uint64_t{0}, 0}) == "[18446744073709551615                    0]");
  BOOST_TEST(fr::to_text(expressions_test::mask_of({true, false})) == "[ True False]");
  BOOST_TEST(fr::to_text(expressions_test::mask_of({true, true})) == "[ True  True]");
  using z = std::complex<double>;
  BOOST_TEST(text<z>({z(1, 2), z(-1.5, -0.25)}) == "[ 1. +2.j   -1.5-0.25j]");
  using c = std::complex<float>;
  BOOST_TEST(text<c>({c(1e10f, 2), c(-1.5f, -0.25f)}) == "[ 1.0e+10+2.j   -1.5e+00-0.25j]");
}

BOOST_AUTO_TEST_CASE(dimensions_and_lines) {
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<2>{3, 4}, -5)) == "[[-5 -4 -3 -2]\n [-1  0  1  2]\n [ 3  4  5  6]]");
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<2>{2, 2}).transpose()) == "[[0 2]\n [1 3]]");
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<3>{2, 3, 2})) ==
             "[[[ 0  1]\n  [ 2  3]\n  [ 4  5]]\n\n [[ 6  7]\n  [ 8  9]\n  [10 11]]]");
  BOOST_TEST(fr::to_text(fr::device_array<float, 2>({0, 3})) == "[]");
  BOOST_TEST(fr::to_text(fr::full<double, 0>({}, 1.5)) == "1.5");
  BOOST_TEST(fr::to_text(fr::full<bool, 0>({}, true)) == "True");
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<1>{30})) ==
             "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]");
  BOOST_TEST(fr::to_text(fr::cast<double>(counted<int>(fr::extents<1>{14})) / 7.) ==
             "[0.         0.14285714 0.28571429 0.42857143 0.57142857 0.71428571\n"
             " 0.85714286 1.         1.14285714 1.28571429 1.42857143 1.57142857\n 1.71428571 1.85714286]");
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<2>{2, 30}) * 1000) ==
             "[[    0  1000  2000  3000  4000  5000  6000  7000  8000  9000 10000 11000\n"
             "  12000 13000 14000 15000 16000 17000 18000 19000 20000 21000 22000 23000\n"
             "  24000 25000 26000 27000 28000 29000]\n"
             " [30000 31000 32000 33000 34000 35000 36000 37000 38000 39000 40000 41000\n"
             "  42000 43000 44000 45000 46000 47000 48000 49000 50000 51000 52000 53000\n"
             "  54000 55000 56000 57000 58000 59000]]");
}

BOOST_AUTO_TEST_CASE(large_arrays_are_abbreviated) {
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<1>{1001})) == "[   0    1    2 ...  998  999 1000]");
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<2>{2, 600})) ==
             "[[   0    1    2 ...  597  598  599]\n [ 600  601  602 ... 1197 1198 1199]]");
  const auto m = counted<int>(fr::extents<2>{50, 40});
  BOOST_TEST(fr::to_text(m) ==
             "[[   0    1    2 ...   37   38   39]\n [  40   41   42 ...   77   78   79]\n"
             " [  80   81   82 ...  117  118  119]\n ...\n [1880 1881 1882 ... 1917 1918 1919]\n"
             " [1920 1921 1922 ... 1957 1958 1959]\n [1960 1961 1962 ... 1997 1998 1999]]");
  BOOST_TEST(fr::to_text(m.transpose(), {.edge_items = 1}) == "[[   0 ... 1960]\n ...\n [  39 ... 1999]]");
  BOOST_TEST(fr::to_text(m, {.edge_items = 0}) == "[...]");
  const std::string cube = fr::to_text(counted<double>(fr::extents<3>{10, 3, 100}));
  BOOST_TEST(cube.starts_with("[[[0.000e+00 1.000e+00 2.000e+00 ... 9.700e+01 9.800e+01 9.900e+01]\n  [1.000e+02 "));
  BOOST_TEST((cube.find("8.990e+02]]\n\n ...\n\n [[2.100e+03 2.101e+03 2.102e+03 ... 2.197e+03") != cube.npos));
  BOOST_TEST(cube.ends_with("2.997e+03 2.998e+03 2.999e+03]]]"));
}

BOOST_AUTO_TEST_CASE(options_and_streams) {
  BOOST_TEST(fr::to_text(array_of<double>({1. / 3, 2.}), {.precision = 3}) == "[0.333 2.   ]");
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<1>{6}), {.line_width = 8}) == "[0 1 2\n 3 4 5]");
  BOOST_TEST(fr::to_text(counted<int>(fr::extents<1>{6}), {.threshold = 5, .edge_items = 2}) == "[0 1 ... 4 5]");
  std::ostringstream to;
  to << fr::printed(counted<int>(fr::extents<1>{3})) << '!';
  BOOST_TEST(to.str() == "[0 1 2]!");
  fr::stream s(fr::device(1));
  fr::device_array<int, 1> late({4}, fr::device(1));
  fr::assign(s, late, 7);
  BOOST_TEST(fr::to_text(late) == "[7 7 7 7]");
}

BOOST_AUTO_TEST_CASE(single_elements) {
  const auto m = counted<float>(fr::extents<2>{3, 4});
  BOOST_TEST(fr::value_at(m, 2, 1) == 9.f);
  BOOST_TEST(fr::value_at(m.transpose(), 3, 0) == 3.f);
  fr::unified_array<int> u({5}, 3);
  u[4] = 8;
  BOOST_TEST(fr::value_at(u, 4) == 8);
  check_error<fr::invalid_argument>([&] { (void)fr::value_at(m, 3, 0); }, {"3"});
  fr::device_array<float> freed({3}, 1.f);
  freed.free();
  check_error<fr::use_after_free>([&] { (void)fr::value_at(freed, 0); }, {"free"});
  check_error<fr::use_after_free>([&] { (void)fr::to_text(freed); }, {"free"});
}

BOOST_AUTO_TEST_CASE(elements_of_device_arrays) {
  fr::device_array<float, 2> m(fr::extents<2>{3, 4}, fr::device(1));
  m = fr::cast<float>(fr::index(0) * 4 + fr::index(1));
  BOOST_TEST(m(2, 1).get() == 9.f);
  BOOST_TEST(m.at(0, 3).get() == 3.f);
  BOOST_TEST(m.transpose()(3, 0).get() == 3.f);
  const fr::device_array<std::complex<double>> z({5}, std::complex<double>(1, 2));
  BOOST_TEST((z[4].get() == std::complex<double>(1, 2)));
  const fr::array_view<const std::complex<double>, 1, fr::memory_kind::device> view = z;
  BOOST_TEST((view[0].get() == std::complex<double>(1, 2)));
  const fr::device_array<int, 0> one(fr::extents<0>{}, 7);
  BOOST_TEST(one().get() == 7);
  fr::stream s(fr::device(1));
  fr::assign(s, m, 5.f);
  const auto late = m(0, 0);
  BOOST_TEST(late.get() == 5.f);
  fr::assign(s, m, 6.f);
  BOOST_TEST(late.get() == 6.f);
  m.name("m");
  check_error<fr::invalid_argument>([&] { (void)m(3, 0); }, {"array 'm'", "3"});
  m.free();
  check_error<fr::use_after_free>([&] { (void)late.get(); }, {"free"});
}

BOOST_AUTO_TEST_SUITE_END()
