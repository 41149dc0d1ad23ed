// Functions of the program in expressions (FERRY_FUNCTION): called with values, and as parts of programs.
#include <cmath>
#include <cstdint>
#include <limits>

#include "expressions_fixture.hpp"
#include "ferry/core/function.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/core/reduce.hpp"
#include "ferry/core/runtime.hpp"

namespace functions_of_the_program {
namespace {

using namespace expressions_test;

#define A_CONSTANT 0.5f
FERRY_FUNCTION(float, gelu, (float x), { return A_CONSTANT * x * (1 + erf(x * 0.70710678f)); });
FERRY_FUNCTION(float, poly, (float x, float c), {
  float sum = 0, power = 1;  // commas are no separators here
  for (int k = 0; k < 4; ++k) {
    sum += c * power;
    power *= x;
  }
  return sum;
});
FERRY_FUNCTION(int, plus_one, (int x), { return x + 1; });
FERRY_FUNCTION(bool, is_odd, (std::int64_t x), { return x % 2 != 0; });
FERRY_FUNCTION(float, square_and, (float x, float y), { return x * x + y; });
FERRY_FUNCTION_USING((plus_one, is_odd), int, next_even, (int x),
                     { return is_odd(x) ? plus_one(x) : plus_one(plus_one(x)); });
FERRY_FUNCTION(float, forgetful, (float x), { return poly(x, 1); });  // NVRTC does not see poly
FERRY_FUNCTION(float, sum_of_eight, (float a, float b, float c, float d, float e, float f, float g, float h),
               { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h; });

#define SAME(type, name) FERRY_FUNCTION(type, name, (type x), { return x; })
SAME(bool, same_bool);
SAME(std::int8_t, same_int8);
SAME(std::uint8_t, same_uint8);
SAME(std::int16_t, same_int16);
SAME(std::uint16_t, same_uint16);
SAME(std::int32_t, same_int32);
SAME(std::uint32_t, same_uint32);
SAME(std::int64_t, same_int64);
SAME(std::uint64_t, same_uint64);
SAME(fr::half, same_half);
SAME(fr::bfloat16, same_bfloat16);
SAME(float, same_float);
SAME(double, same_double);
SAME(std::complex<float>, same_complex64);
SAME(std::complex<double>, same_complex128);

template <class T, class F>
void check_type(const F& same, const std::vector<double>& values) {
  std::vector<T> v;
  for (int round = 0; round != 40; ++round)  // more than one chunk of the loop
    for (const double x : values) v.push_back(T(static_cast<float>(x)));
  const auto a = array_of(v);
  const auto e = same(a);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(e)>::value_type, T>);
  BOOST_TEST((elements(e) == elements(a)));
  BOOST_TEST((same(v[1]) == v[1]));
}

}  // namespace
}  // namespace functions_of_the_program

BOOST_AUTO_TEST_SUITE(functions_of_the_program)
using namespace functions_of_the_program;
using fr::extents;

BOOST_AUTO_TEST_CASE(functions_of_values_are_functions_of_cpp) {
  BOOST_TEST(gelu(0.f) == 0.f);
  BOOST_TEST(poly(2, 1) == 15.f);
  BOOST_TEST(next_even(3) == 4);
  BOOST_TEST(next_even(4) == 6);
  static_assert(std::is_same_v<decltype(poly(1, 2.0)), float>);
}

BOOST_AUTO_TEST_CASE(functions_of_arrays_are_expressions) {
  auto x = counted<float>(extents<1>{100}, -50);
  fr::device_array<float> y({100});
  y = poly(x, 2) + 1;
  std::vector<float> expected = elements(x);
  for (float& v : expected) v = poly(v, 2) + 1;
  CHECK_ELEMENTS(y, (expected));
  y = gelu(x / 25);
  const auto got = elements(y), from = elements(x);
  for (std::size_t i = 0; i != 100; ++i)
    BOOST_TEST(std::fabs(got[i] - gelu(from[i] / 25)) <= 1e-6f * (1 + std::fabs(got[i])), "element " << i);
  CHECK_ELEMENTS(next_even(counted<int>(extents<1>{5})), {2, 2, 4, 4, 6});
}

BOOST_AUTO_TEST_CASE(all_types_of_elements_are_parameters_and_results) {
  CHECK_ELEMENTS(same_bool(mask_of({true, false, true})), {1, 0, 1});
  check_type<std::int8_t>(same_int8, {-128, 127, -1});
  check_type<std::uint8_t>(same_uint8, {255, 1, 128});
  check_type<std::int16_t>(same_int16, {-32768, 32767});
  check_type<std::uint16_t>(same_uint16, {65535, 3});
  check_type<std::int32_t>(same_int32, {-2147483648., 5});
  check_type<std::uint32_t>(same_uint32, {2147483648., 5});
  check_type<std::int64_t>(same_int64, {-9223372036854775808., 5});
  check_type<std::uint64_t>(same_uint64, {9223372036854775808., 5});
  check_type<fr::half>(same_half, {65504, 1e-7, -0.5});
  check_type<fr::bfloat16>(same_bfloat16, {3e38, 1e-40, -0.5});
  check_type<float>(same_float, {3.25, -1e-41});
  check_type<double>(same_double, {3.25, -7});
  check_type<std::complex<float>>(same_complex64, {3.25, -7});
  check_type<std::complex<double>>(same_complex128, {3.25, -7});
}

BOOST_AUTO_TEST_CASE(arguments_are_converted_as_by_cast) {
  const double nan = std::nan("");
  const auto x = array_of<double>({-1.75, 2.75, 1e30, nan});
  CHECK_ELEMENTS(same_int32(x), {-1, 2, std::numeric_limits<int>::max(), 0});
  CHECK_ELEMENTS(same_bool(x), {1, 1, 1, 1});
  CHECK_ELEMENTS(same_int8(array_of<int>({300, -1, 128})), {44, -1, -128});
  CHECK_ELEMENTS(fr::cast<float>(same_half(array_of<float>({1.f, 1.0001f, 1e6f}))), {1, 1, INFINITY});
  CHECK_ELEMENTS(fr::cast<float>(same_half(array_of<int>({2049, 3}))), {2048, 3});
  CHECK_ELEMENTS(same_float(array_of<std::int64_t>({16777217, -3})), {16777216, -3});
  CHECK_ELEMENTS(same_complex64(array_of<float>({2, 3})), {std::complex<float>(2), std::complex<float>(3)});
  CHECK_ELEMENTS(same_float(array_of<fr::bfloat16>({fr::bfloat16(1.5f)})), {1.5f});
  CHECK_ELEMENTS(poly(array_of<int>({2}), true), {15});
}

BOOST_AUTO_TEST_CASE(arguments_broadcast_and_have_any_strides) {
  auto m = counted<float>(extents<2>{3, 4});
  auto column = counted<float>(extents<1>{3}), row = counted<float>(extents<1>{4});
  const auto e = sum_of_eight(m, fr::new_axis(column, 1), row, 1, m, 0, row, 0.5);
  BOOST_TEST((e.extents() == extents<2>{3, 4}));
  std::vector<float> expected;
  for (int i = 0; i != 3; ++i)
    for (int j = 0; j != 4; ++j) {
      const auto x = static_cast<float>(4 * i + j), c = static_cast<float>(i), r = static_cast<float>(j);
      expected.push_back(sum_of_eight(x, c, r, 1, x, 0, r, 0.5f));
    }
  CHECK_ELEMENTS(e, (expected));
  fr::device_array<float, 2> y({4, 3});
  y = poly(m.transpose(), 1) + poly(column, 0);
  expected.clear();
  for (int j = 0; j != 4; ++j)
    for (int i = 0; i != 3; ++i) expected.push_back(poly(static_cast<float>(4 * i + j), 1));
  CHECK_ELEMENTS(y, (expected));
  CHECK_ELEMENTS(plus_one(counted<int>(extents<1>{7}).slice({0, 7, 3})), {1, 4, 7});
  CHECK_ELEMENTS(poly(fr::index(0), 0) + row, {0, 1, 2, 3});
  check_error<fr::invalid_argument>([&] { (void)poly(column, row); }, {"do not broadcast", "3", "4"});
}

BOOST_AUTO_TEST_CASE(destinations_may_be_arguments) {
  auto y = counted<int>(extents<1>{100});
  y = plus_one(y);
  std::vector<int> expected(100);
  for (int i = 0; i != 100; ++i) expected[static_cast<std::size_t>(i)] = i + 1;
  CHECK_ELEMENTS(y, (expected));
  y.slice({1, 100}) = plus_one(y.slice({0, 99}));
  for (int i = 99; i != 0; --i) expected[static_cast<std::size_t>(i)] = expected[static_cast<std::size_t>(i) - 1] + 1;
  CHECK_ELEMENTS(y, (expected));
  auto x = counted<int>(extents<1>{4}), z = counted<int>(extents<1>{4}, 10);
  fr::assign(x, plus_one(z), z, plus_one(x));
  CHECK_ELEMENTS(x, {11, 12, 13, 14});
  CHECK_ELEMENTS(z, {1, 2, 3, 4});
  x = fr::where(is_odd(z), plus_one(z), x);
  CHECK_ELEMENTS(x, {2, 12, 4, 14});
  x += plus_one(z);
  CHECK_ELEMENTS(x, {4, 15, 8, 19});
}

BOOST_AUTO_TEST_CASE(scalars_of_devices_and_reductions_are_arguments) {
  auto x = counted<float>(extents<1>{4});
  const fr::scalar<float> s = fr::sum(x);  // 6
  CHECK_ELEMENTS(poly(x, s), {6, 24, 90, 240});
  CHECK_ELEMENTS(poly(2, s), {90});
  CHECK_ELEMENTS(poly(x, fr::max(x)), {3, 12, 45, 120});
  const fr::scalar<float> total = fr::sum(poly(x, 1));
  BOOST_TEST(total.value() == 60.f);
  const fr::scalar<std::int64_t> where = fr::argmax(same_int32(-x));
  BOOST_TEST(where.value() == 0);
  BOOST_TEST(fr::scalar<std::uint64_t>(fr::count(is_odd(x))).value() == 2u);
  auto m = counted<float>(extents<2>{2, 3});
  CHECK_ELEMENTS(fr::evaluate(fr::sum(poly(m, 1), fr::axes{1})), {20, 40 + 85 + 156});
  CHECK_ELEMENTS(fr::evaluate(fr::cumsum(plus_one(counted<int>(extents<1>{4})), 0)), {1, 3, 6, 10});
}

BOOST_AUTO_TEST_CASE(equal_calls_are_computed_once) {
  auto x = counted<float>(extents<1>{4});
  const auto e = gelu(x) * gelu(x) + poly(x, 1) * poly(x, 1) + poly(x, 2);
  BOOST_TEST(e.program().calls.size() == 3u);
  const fr::expression<float, 1> copy = e;
  BOOST_TEST((copy.program().calls[2] == e.program().calls[2]));
}

BOOST_AUTO_TEST_CASE(texts_name_the_functions) {
  fr::device_array<float> a({3});
  a.name("a");
  BOOST_TEST((poly(a + 1, 2) * a).text() == "poly(a + 1, 2) * a");
  const std::string text = fr::explain(poly(a, 2));
  BOOST_TEST((text.find("expression poly(a, 2)") != text.npos), text);
}

BOOST_AUTO_TEST_CASE(functions_have_numbers_by_their_texts) {
  using ferry::detail::number_of;
  BOOST_TEST(number_of(gelu.definition()) != 0u);
  BOOST_TEST(number_of(gelu.definition()) == number_of(gelu.definition()));
  BOOST_TEST(number_of(gelu.definition()) != number_of(poly.definition()));
  // Definitions with the text of one, in other sources of a program.
  const auto again = [](const ferry::detail::function_definition& f, auto uses, std::atomic<std::uint32_t>& number) {
    return ferry::detail::function_definition{f.name,   f.result_text, f.parameter_text, f.body, f.file, f.line,
                                              f.result, f.parameters,  f.parameter,      f.loop, uses,   number};
  };
  std::atomic<std::uint32_t> same{0}, other{0};
  BOOST_TEST(number_of(again(next_even.definition(), next_even.definition().uses, same)) ==
             number_of(next_even.definition()));
  const ferry::detail::function_definition* const used[] = {&gelu.definition()};
  BOOST_TEST(number_of(again(next_even.definition(), std::span(used), other)) != number_of(next_even.definition()));
}

BOOST_AUTO_TEST_CASE(calls_are_captured) {
  auto x = counted<int>(extents<1>{4});
  fr::stream s;
  auto e = plus_one(x);
  (void)fr::precompile(e);
  auto g = fr::capture(s, [&] { fr::assign(s, x, e); });
  g.launch(s);
  g.launch(s);
  CHECK_ELEMENTS(x, {2, 3, 4, 5});
}

BOOST_AUTO_TEST_CASE(captures_compile_no_calls) {
  auto x = counted<float>(extents<1>{4});
  fr::device_array<float> y({4}, 7.f);
  fr::stream s;
  const auto e = poly(poly(x, 0), 3);
  const auto captured = [&] { return fr::capture(s, [&] { fr::assign(s, y, e); }); };
  if (!fr::runtime::current().is_simulated()) {
    check_error<fr::not_supported>([&] { (void)captured(); }, {"poly", "captures compile nothing", "fr::precompile"});
    BOOST_TEST(fr::precompile(e));
  }
  auto g = captured();
  g.launch(s);
  CHECK_ELEMENTS(y, {3, 3, 3, 3});
}

BOOST_AUTO_TEST_CASE(texts_that_only_nvrtc_refuses_are_errors_of_evaluations) {
  auto x = counted<float>(extents<1>{4});
  fr::device_array<float> y({4}, 7.f);
  if (fr::runtime::current().is_simulated()) {
    y = forgetful(x);
    CHECK_ELEMENTS(y, {1, 4, 15, 40});
    return;
  }
  const std::initializer_list<std::string_view> parts{"forgetful", "functions_test.cpp", "\"poly\""};
  check_error<fr::not_supported>([&] { y = forgetful(x); }, parts);
  check_error<fr::not_supported>([&] { (void)fr::precompile(forgetful(x)); }, parts);
  check_error<fr::not_supported>([&] { (void)fr::scalar<float>(fr::sum(forgetful(x))).value(); },
                                 {"functions_test.cpp", "\"poly\""});
  CHECK_ELEMENTS(y, {7, 7, 7, 7});
}

BOOST_AUTO_TEST_CASE(large_programs_of_calls) {
  auto x = counted<float>(extents<1>{3000});
  fr::expression<float, 1> e = fr::lazy(x);
  for (int k = 0; k != 40; ++k) e = poly(e * 0, static_cast<float>(k)) + same_float(e);
  std::vector<float> expected = elements(x);
  for (int k = 0; k != 40; ++k)
    for (float& v : expected) v = static_cast<float>(k) + v;
  CHECK_ELEMENTS(e, (expected));
}

BOOST_AUTO_TEST_CASE(contraction_changes_no_bit) {
  const auto x = array_of<float>(std::vector<float>(40, 1 + 0x1p-12f)),
             y = array_of<float>(std::vector<float>(40, -1 - 0x1p-11f));
  fr::device_array<float> z({40});
  z = square_and(x, y);
  CHECK_ELEMENTS(z, (std::vector<float>(40, 0)));
}

BOOST_AUTO_TEST_SUITE_END()
