// allclose and all_equal: NumPy's rules, types, shapes; results are read later.
#include <complex>
#include <cstdint>
#include <limits>

#include "expressions_fixture.hpp"
#include "ferry/core/compare.hpp"

namespace compare_suite {
namespace {

namespace fr = ferry;
using expressions_test::array_of;
using expressions_test::check_error;

struct on_two_devices {
  fr::simulation sim{"devices=2;check=races;schedule=random:9"};
};

bool is(const fr::scalar<bool>& s) { return s; }

}  // namespace
}  // namespace compare_suite

BOOST_FIXTURE_TEST_SUITE(compare_suite, on_two_devices)

BOOST_AUTO_TEST_CASE(elements_within_tolerance) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto a = array_of<double>({1., 100., -3.});
  BOOST_TEST(is(fr::allclose(a, a * (1 + 0.9e-5))));
  BOOST_TEST(!is(fr::allclose(a, a * (1 + 1.1e-5))));
  BOOST_TEST(is(fr::allclose(a, a + 0.5, 0., 0.6)));
  BOOST_TEST(!is(fr::allclose(a, a + 0.5, 0., 0.4)));
  BOOST_TEST(is(fr::allclose(array_of<double>({0.}), array_of<double>({1e-9}))));
  BOOST_TEST(is(fr::allclose(array_of<double>({inf, -inf}), array_of<double>({inf, -inf}))));
  BOOST_TEST(!is(fr::allclose(array_of<double>({inf}), array_of<double>({-inf}))));
  BOOST_TEST(!is(fr::allclose(array_of<double>({1.}), array_of<double>({inf}))));
  BOOST_TEST(!is(fr::allclose(array_of<double>({inf}), array_of<double>({1.}))));
  const auto n = array_of<double>({nan, 1.});
  BOOST_TEST(!is(fr::allclose(n, n)));
  BOOST_TEST(is(fr::allclose(n, n, 1e-5, 1e-8, fr::nan_rule::equals)));
  BOOST_TEST(!is(fr::allclose(n, array_of<double>({1., nan}), 1e-5, 1e-8, fr::nan_rule::equals)));
  // The tolerance is relative to the second operand.
  BOOST_TEST(is(fr::allclose(array_of<double>({1.}), array_of<double>({2.}), 0.5, 0.)));
  BOOST_TEST(!is(fr::allclose(array_of<double>({2.}), array_of<double>({1.}), 0.5, 0.)));
}

BOOST_AUTO_TEST_CASE(types_and_numbers) {
  BOOST_TEST(!is(fr::allclose(array_of<std::uint8_t>({0}), array_of<std::uint8_t>({255}), 0.5)));
  BOOST_TEST(is(fr::allclose(array_of<unsigned>({4}), array_of<unsigned>({5}), 0., 1.)));
  BOOST_TEST(is(fr::allclose(array_of<float>({0.1f, 0.1f}), 0.1)));
  BOOST_TEST(is(fr::allclose(array_of<int>({3, 3}), 3)));
  BOOST_TEST(is(fr::allclose(fr::full<float, 2>({2, 3}, 2.f), array_of<float>({2.f, 2.f, 2.f}))));
  using z = std::complex<float>;
  BOOST_TEST(is(fr::allclose(array_of<z>({z(1, 2)}), array_of<z>({z(1, 2.00001f)}))));
  BOOST_TEST(!is(fr::allclose(array_of<z>({z(1, 2)}), array_of<z>({z(1, 3)}))));
  BOOST_TEST(is(fr::allclose(fr::device_array<float>({0}), 1.f)));
  check_error<fr::invalid_argument>(
      [] {
        (void)fr::allclose(array_of<int>({1, 2}), array_of<int>({1, 2, 3}));
      },
      {"broadcast"});
}

BOOST_AUTO_TEST_CASE(equal_elements_and_shapes) {
  const auto a = array_of<int>({1, 2, 3});
  BOOST_TEST(is(fr::all_equal(a, a + 0)));
  BOOST_TEST(!is(fr::all_equal(a, array_of<int>({1, 2, 4}))));
  BOOST_TEST(!is(fr::all_equal(a, array_of<int>({1, 2}))));
  BOOST_TEST(!is(fr::all_equal(array_of<int>({1}), array_of<int>({1, 1}))));
  BOOST_TEST(!is(fr::all_equal(a, fr::new_axis(a, 0))));
  BOOST_TEST(is(fr::all_equal(a > 0, true)));
  BOOST_TEST(is(fr::all_equal(array_of<float>({0.5f, 0.5f}), 0.5)));
  const auto n = array_of<float>({std::numeric_limits<float>::quiet_NaN()});
  BOOST_TEST(!is(fr::all_equal(n, n)));
  fr::stream s(fr::device(1));
  fr::device_array<int> late({1000}, 0, fr::device(1));
  fr::assign(s, late, fr::cast<int>(fr::index(0)));
  const fr::scalar<bool> later = fr::all_equal(late, fr::lazy_arange(0, 1000));
  fr::assign(late, 0);
  BOOST_TEST(is(later));
}

BOOST_AUTO_TEST_SUITE_END()
