// Each public function and operator computes what it is named after.
#include <cmath>
#include <complex>

#include "expressions_fixture.hpp"

namespace expressions_functions {
namespace {

using namespace expressions_test;

template <class T>
void check_close(const std::vector<T>& found, const std::vector<T>& expected, const char* what) {
  const double tolerance = sizeof(T) == 4 ? 4e-6 : 1e-13;
  BOOST_TEST_REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i != found.size(); ++i) {
    const double e = expected[i], f = found[i];
    const bool good =
        std::isnan(e) ? std::isnan(f) : e == f || std::fabs(f - e) <= tolerance * std::max(1., std::fabs(e));
    BOOST_TEST(good, what << ", element " << i << ": " << f << ", expected " << e);
  }
}

const std::vector<double> arguments{0.1, 0.5, 0.75, 0.9, 1., 1.5, 2.25, -0.25, -0.5, -1.5, 3.};

// As array(x), computed element by element.
template <class T, class E, class F>
void check_unary(const char* name, E of_array, F of_number) {
  std::vector<T> x, expected;
  for (const double v : arguments)
    x.push_back(static_cast<T>(v)), expected.push_back(static_cast<T>(of_number(x.back())));
  check_close(elements(of_array(array_of(x))), expected, name);
}
template <class T, class E, class F>
void check_binary(const char* name, E of_arrays, F of_numbers) {
  std::vector<T> x, y, expected;
  for (const double v : arguments)
    for (const double w : arguments) {
      x.push_back(static_cast<T>(v)), y.push_back(static_cast<T>(w));
      expected.push_back(static_cast<T>(of_numbers(x.back(), y.back())));
    }
  check_close(elements(of_arrays(array_of(x), array_of(y))), expected, name);
}

constexpr double pi = 3.14159265358979323846;

#define UNARY(name) UNARY_AS(name, std::name(x))
#define UNARY_AS(name, ...)                                                                            \
  check_unary<float>(                                                                                  \
      #name, [](const auto& a) { return fr::name(a); }, [](float x) -> float { return __VA_ARGS__; }); \
  check_unary<double>(                                                                                 \
      #name, [](const auto& a) { return fr::name(a); }, [](double x) -> double { return __VA_ARGS__; });
#define BINARY(name) BINARY_AS(name, std::name(x, y))
#define BINARY_AS(name, ...)                                              \
  check_binary<float>(                                                    \
      #name, [](const auto& a, const auto& b) { return fr::name(a, b); }, \
      [](float x, float y) -> float { return __VA_ARGS__; });             \
  check_binary<double>(                                                   \
      #name, [](const auto& a, const auto& b) { return fr::name(a, b); }, \
      [](double x, double y) -> double { return __VA_ARGS__; });

}  // namespace
}  // namespace expressions_functions

BOOST_AUTO_TEST_SUITE(expressions_functions)
using namespace expressions_functions;

BOOST_AUTO_TEST_CASE(functions_of_one_argument){
    UNARY(sqrt) UNARY(cbrt) UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
        UNARY(sin) UNARY(cos) UNARY(tan) UNARY(asin) UNARY(acos) UNARY(atan) UNARY(sinh) UNARY(cosh) UNARY(tanh)
            UNARY(asinh) UNARY(acosh) UNARY(atanh) UNARY(erf) UNARY(erfc) UNARY(lgamma) UNARY(tgamma) UNARY(floor)
                UNARY(ceil) UNARY(trunc) UNARY(round) UNARY(rint) UNARY(logb) UNARY(abs)
                    UNARY_AS(rsqrt, 1 / std::sqrt(x))
                        UNARY_AS(sinpi, static_cast<decltype(x)>(std::sin(pi* static_cast<double>(x))))
                            UNARY_AS(cospi, static_cast<decltype(x)>(std::cos(pi* static_cast<double>(x))))
                                UNARY_AS(sign, static_cast<decltype(x)>((x > 0) - (x < 0)))}

BOOST_AUTO_TEST_CASE(functions_of_two_arguments){BINARY(pow) BINARY(fmod) BINARY(remainder) BINARY(atan2) BINARY(hypot)
                                                     BINARY(copysign) BINARY(nextafter) BINARY(fdim) BINARY(fmin)
                                                         BINARY(fmax) BINARY(min) BINARY(max)}

BOOST_AUTO_TEST_CASE(functions_of_three_arguments) {
  const auto a = array_of<double>({1, 2, 3}), b = array_of<double>({2, 3, 6}), c = array_of<double>({2, 6, 6});
  CHECK_ELEMENTS(fr::fma(a, b, c), {4, 12, 24});
  CHECK_ELEMENTS(fr::hypot(a, b, c), {3, 7, 9});
  CHECK_ELEMENTS(fr::clamp(a, 1.5, 2.5), {1.5, 2, 2.5});
  CHECK_ELEMENTS(fr::lerp(a, b, 0.5), {1.5, 2.5, 4.5});
  // Rounded once: a * b - c is 0 in two steps.
  const double x = 1 + 1e-8;
  CHECK_ELEMENTS(fr::fma(array_of<double>({x}), x, -(x * x)), {std::fma(x, x, -(x * x))});
  CHECK_ELEMENTS(array_of<double>({x}) * x - x * x, {0});
}

BOOST_AUTO_TEST_CASE(multiples_of_pi_are_exact_where_they_can_be) {
  const auto x = array_of<double>({0, 1, 2, -3, 1e15, 0.5, 1.5, -0.5});
  CHECK_ELEMENTS(fr::sinpi(x.slice({0, 5})), {0, 0, 0, -0., 0});
  CHECK_ELEMENTS(fr::cospi(x.slice({0, 5})), {1, -1, 1, -1, 1});
  CHECK_ELEMENTS(fr::sinpi(x.slice({5, 8})), {1, -1, -1});
  CHECK_ELEMENTS(fr::cospi(x.slice({5, 8})), {0, 0, 0});
}

BOOST_AUTO_TEST_CASE(comparisons_and_logic) {
  const auto a = array_of<int>({1, 2, 3}), b = array_of<int>({3, 2, 1});
  CHECK_ELEMENTS(a == b, {0, 1, 0});
  CHECK_ELEMENTS(a != b, {1, 0, 1});
  CHECK_ELEMENTS(a < b, {1, 0, 0});
  CHECK_ELEMENTS(a <= b, {1, 1, 0});
  CHECK_ELEMENTS(a > b, {0, 0, 1});
  CHECK_ELEMENTS(2 >= a, {1, 1, 0});
  CHECK_ELEMENTS(a < 3 && b < 3, {0, 1, 0});
  CHECK_ELEMENTS(a < 2 || b < 2, {1, 0, 1});
  CHECK_ELEMENTS(!(a < 2), {0, 1, 1});
  CHECK_ELEMENTS((a < 2) ^ (b < 3), {1, 1, 1});
}

BOOST_AUTO_TEST_CASE(integer_operators) {
  const auto a = array_of<int>({12, 10, -7}), b = array_of<int>({5, 3, 2});
  CHECK_ELEMENTS(a - b, {7, 7, -9});
  CHECK_ELEMENTS(a / b, {2, 3, -3});
  CHECK_ELEMENTS(a % b, {2, 1, -1});
  CHECK_ELEMENTS(a & b, {4, 2, 0});
  CHECK_ELEMENTS(a | b, {13, 11, -5});
  CHECK_ELEMENTS(a ^ b, {9, 9, -5});
  CHECK_ELEMENTS(~a, {-13, -11, 6});
  CHECK_ELEMENTS(100 - a, {88, 90, 107});
  CHECK_ELEMENTS(1 << b, {32, 8, 4});
  CHECK_ELEMENTS(a >> 1, {6, 5, -4});
  CHECK_ELEMENTS(fr::min(a, b), {5, 3, -7});
  CHECK_ELEMENTS(fr::max(a, b), {12, 10, 2});
  CHECK_ELEMENTS(fr::clamp(a, b, 11), {11, 10, 2});
  CHECK_ELEMENTS(fr::sign(a), {1, 1, -1});
}

BOOST_AUTO_TEST_CASE(functions_of_complex_numbers) {
  using z = std::complex<double>;
  const z x(0.5, -1.25);
  const auto a = array_of<z>({x});
  const auto check = [&](const auto& e, z expected, const char* what) {
    const z found = elements(e)[0];
    BOOST_TEST((std::abs(found - expected) <= 1e-13), what << ": " << found << ", expected " << expected);
  };
#define COMPLEX(name) check(fr::name(a), std::name(x), #name);
  COMPLEX(sqrt)
  COMPLEX(exp)
  COMPLEX(log)
  COMPLEX(sin)
  COMPLEX(cos)
  COMPLEX(tan)
  COMPLEX(asin)
  COMPLEX(acos)
  COMPLEX(atan)
  COMPLEX(sinh)
  COMPLEX(cosh)
  COMPLEX(tanh)
  COMPLEX(asinh)
  COMPLEX(acosh)
  COMPLEX(atanh)
  COMPLEX(conj)
  COMPLEX(abs)
  COMPLEX(arg)
  COMPLEX(norm)
  COMPLEX(real)
  COMPLEX(imag)
  check(fr::pow(a, a), std::pow(x, x), "pow");
  check(a / a, 1, "/");
  check(fr::polar(fr::abs(a), fr::arg(a)), x, "polar");
  check(fr::make_complex(fr::imag(a), fr::real(a)), z(x.imag(), x.real()), "make_complex");
}

BOOST_AUTO_TEST_SUITE_END()
