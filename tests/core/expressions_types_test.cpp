// Types of results: C++'s usual arithmetic conversions, the rule of plain numbers, and what functions return.
#include <complex>
#include <cstdint>
#include <tuple>
#include <utility>

#include "expressions_fixture.hpp"
#include "ferry/core/detail/operations/promotion.hpp"
#include "ferry/core/half.hpp"

namespace expressions_types {
namespace {

using namespace expressions_test;
using fr::bfloat16;
using fr::half;
using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

template <class T>
using array = fr::device_array<T>&;
template <class E>
using elements_of = typename std::remove_cvref_t<E>::value_type;
#define TYPE_OF(...) elements_of<decltype(__VA_ARGS__)>
template <class T>
array<T> a();  // never called

// A sum of arrays has the type of the sum of two numbers.
template <class T, class U>
constexpr bool follows_cpp() {
  using namespace ferry::detail;
  constexpr scalar_type found = promoted({scalar_type_of<T>(), false}, {scalar_type_of<U>(), false});
  return found == scalar_type_of<decltype(T() + U())>();
}
template <class T, class... U>
constexpr bool follows_cpp_with() {
  return (follows_cpp<T, U>() && ...);
}
template <class... T>
constexpr bool all_follow_cpp() {
  return (follows_cpp_with<T, T...>() && ...);
}
static_assert(
    all_follow_cpp<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>());

// Rows of the table of docs/expressions.md: types of two arrays, and of their sum.
template <class A, class B, class Sum>
constexpr bool sums_to = std::is_same_v<TYPE_OF(a<A>() + a<B>()), Sum>&& std::is_same_v<TYPE_OF(a<B>() * a<A>()), Sum>;
static_assert(sums_to<bool, bool, int32_t>);
static_assert(sums_to<int8_t, int8_t, int32_t>);
static_assert(sums_to<uint32_t, int32_t, uint32_t>);
static_assert(sums_to<int64_t, uint32_t, int64_t>);
static_assert(sums_to<int64_t, float, float>);
static_assert(sums_to<float, double, double>);
static_assert(sums_to<half, half, half>);
static_assert(sums_to<half, bool, half>);
static_assert(sums_to<half, int64_t, half>);
static_assert(sums_to<half, bfloat16, float>);
static_assert(sums_to<half, float, float>);
static_assert(sums_to<bfloat16, bfloat16, bfloat16>);
static_assert(sums_to<bfloat16, double, double>);
static_assert(sums_to<complex64, float, complex64>);
static_assert(sums_to<complex64, half, complex64>);
static_assert(sums_to<complex64, int64_t, complex64>);
static_assert(sums_to<complex64, double, complex128>);
static_assert(sums_to<complex64, complex128, complex128>);

// An array and a plain number.
template <class A, class Number, class Sum>
constexpr bool number_gives = std::is_same_v<TYPE_OF(a<A>() + std::declval<Number>()), Sum>&&
    std::is_same_v<TYPE_OF(std::declval<Number>() - a<A>()), Sum>;
static_assert(number_gives<float, int, float>);
static_assert(number_gives<float, double, float>);
static_assert(number_gives<float, uint64_t, float>);
static_assert(number_gives<half, double, half>);
static_assert(number_gives<half, float, half>);
static_assert(number_gives<bfloat16, int, bfloat16>);
static_assert(number_gives<double, float, double>);
static_assert(number_gives<float, complex128, complex64>);
static_assert(number_gives<double, complex64, complex128>);
static_assert(number_gives<half, complex128, complex64>);
static_assert(number_gives<complex64, double, complex64>);
static_assert(number_gives<complex64, complex128, complex64>);
static_assert(number_gives<bool, int, int32_t>);
static_assert(number_gives<int8_t, int, int32_t>);
static_assert(number_gives<int32_t, int64_t, int64_t>);
static_assert(number_gives<uint32_t, int, uint32_t>);
static_assert(number_gives<uint64_t, int, uint64_t>);
static_assert(number_gives<int32_t, float, float>);
static_assert(number_gives<int32_t, double, double>);

// Comparisons and logic.
static_assert(std::is_same_v<TYPE_OF(a<half>() < a<double>()), bool>);
static_assert(std::is_same_v<TYPE_OF(a<complex64>() == 1.0), bool>);
static_assert(std::is_same_v<TYPE_OF(a<bool>() && !a<bool>()), bool>);
static_assert(std::is_same_v<TYPE_OF(a<bool>() & a<bool>()), bool>);
static_assert(std::is_same_v<TYPE_OF(a<uint8_t>() & a<uint8_t>()), int32_t>);
static_assert(std::is_same_v<TYPE_OF(-a<bool>()), int32_t>);
static_assert(std::is_same_v<TYPE_OF(~a<uint16_t>()), int32_t>);
// Functions.
static_assert(std::is_same_v<TYPE_OF(fr::sin(a<float>())), float>);
static_assert(std::is_same_v<TYPE_OF(fr::sin(a<half>())), half>);
static_assert(std::is_same_v<TYPE_OF(fr::sqrt(a<int32_t>())), double>);
static_assert(std::is_same_v<TYPE_OF(fr::pow(a<float>(), 2)), float>);
static_assert(std::is_same_v<TYPE_OF(fr::pow(a<int32_t>(), 2)), double>);
static_assert(std::is_same_v<TYPE_OF(fr::abs(a<int8_t>())), int32_t>);
static_assert(std::is_same_v<TYPE_OF(fr::abs(a<complex64>())), float>);
static_assert(std::is_same_v<TYPE_OF(fr::real(a<complex128>())), double>);
static_assert(std::is_same_v<TYPE_OF(fr::real(a<int16_t>())), int16_t>);
static_assert(std::is_same_v<TYPE_OF(fr::make_complex(a<float>(), 1.0)), complex64>);
static_assert(std::is_same_v<TYPE_OF(fr::isnan(a<bfloat16>())), bool>);
static_assert(std::is_same_v<TYPE_OF(fr::min(a<float>(), a<double>())), double>);
static_assert(std::is_same_v<TYPE_OF(fr::clamp(a<float>(), 0, 1.0)), float>);
static_assert(std::is_same_v<TYPE_OF(fr::index(0)), int64_t>);
static_assert(std::is_same_v<TYPE_OF(fr::cast<bfloat16>(a<double>())), bfloat16>);
static_assert(std::is_same_v<TYPE_OF(fr::where(a<bool>(), a<int8_t>(), a<int8_t>())), int8_t>);
static_assert(std::is_same_v<TYPE_OF(fr::where(a<bool>(), a<float>(), 0)), float>);
static_assert(std::is_same_v<TYPE_OF(fr::where(a<bool>(), a<float>(), a<double>())), double>);
// Ranks.
static_assert(decltype(std::declval<fr::device_array<float, 2>&>() + a<float>())::rank == 2);
static_assert(decltype(std::declval<fr::device_array<float, 0>&>() + 1)::rank == 0);

}  // namespace
}  // namespace expressions_types

BOOST_AUTO_TEST_SUITE(expressions_types)
using namespace expressions_test;

BOOST_AUTO_TEST_CASE(numbers_are_rounded_to_the_type_of_the_array_once) {
  const auto x = array_of<float>({1, 2});
  CHECK_ELEMENTS(x + 0.1, {1 + 0.1f, 2 + 0.1f});
  CHECK_ELEMENTS(0.1 * x, {0.1f, 2 * 0.1f});
  CHECK_ELEMENTS(x == 1.0, {1, 0});
}

BOOST_AUTO_TEST_CASE(narrow_integers_are_computed_as_int) {
  const auto x = array_of<std::int8_t>({100, -128});
  CHECK_ELEMENTS(x + x, {200, -256});
  CHECK_ELEMENTS(fr::abs(x), {100, 128});
  fr::device_array<std::int8_t> y({2});
  y = x + x;
  CHECK_ELEMENTS(y, {std::int8_t(-56), 0});
}

BOOST_AUTO_TEST_CASE(mixed_signs_convert_as_in_cpp) {
  const auto u = array_of<std::uint32_t>({1, 2});
  const auto i = array_of<std::int32_t>({-1, -2});
  CHECK_ELEMENTS(u + i, {0, 0});
  CHECK_ELEMENTS(u > i, {0, 0});
  CHECK_ELEMENTS(u / i, {0, 0});
}

BOOST_AUTO_TEST_CASE(halves_are_rounded_when_they_are_stored) {
  const auto x = array_of<fr::half>({fr::half(1.f), fr::half(2048.f)});
  // 2048 + 1 is no half: the sum keeps it until it is stored.
  const fr::device_array<float> wide(fr::cast<float>(x + x * 0 + 1) - fr::cast<float>(x));
  CHECK_ELEMENTS(wide, {1, 1});
  const fr::device_array<fr::half> stored(x + 1);
  CHECK_ELEMENTS(fr::cast<float>(stored), {2, 2048});
  CHECK_ELEMENTS(fr::cast<float>(fr::cast<fr::half>(x + 1)), {2, 2048});
}

BOOST_AUTO_TEST_CASE(functions_of_integers_are_computed_as_double) {
  const auto x = array_of<int>({2, 3});
  CHECK_ELEMENTS(fr::sqrt(x), {std::sqrt(2.), std::sqrt(3.)});
}

BOOST_AUTO_TEST_SUITE_END()
