// Numbers at the edges: NaN, infinities, signed zeros, denormals, overflow and division of integers, casts, shifts,
// numbers of 16 bits.
#include <cmath>
#include <cstdint>
#include <limits>

#include "expressions_fixture.hpp"
#include "ferry/core/half.hpp"

namespace expressions_numbers {
namespace {

using namespace expressions_test;

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();

// The number of bits of a half, by the definition of the format.
double value_of_half_bits(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, digits = bits & 1023;
  const double size = exponent == 31  ? (digits ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL)
                      : exponent == 0 ? std::ldexp(digits, -24)
                                      : std::ldexp(1024 + digits, exponent - 25);
  return bits >> 15 ? -size : size;
}

}  // namespace
}  // namespace expressions_numbers

BOOST_AUTO_TEST_SUITE(expressions_numbers)
using namespace expressions_numbers;

BOOST_AUTO_TEST_CASE(nan_and_infinities_follow_ieee_754) {
  const auto x = array_of<float>({nan, infinity, -infinity, 0.f, -0.f, 1.f});
  CHECK_ELEMENTS(fr::isnan(x), {1, 0, 0, 0, 0, 0});
  CHECK_ELEMENTS(fr::isinf(x), {0, 1, 1, 0, 0, 0});
  CHECK_ELEMENTS(fr::isfinite(x), {0, 0, 0, 1, 1, 1});
  CHECK_ELEMENTS(x == x, {0, 1, 1, 1, 1, 1});
  CHECK_ELEMENTS(x != x, {1, 0, 0, 0, 0, 0});
  CHECK_ELEMENTS(x < 1, {0, 0, 1, 1, 1, 0});
  CHECK_ELEMENTS(fr::isnan(x - x), {1, 1, 1, 0, 0, 0});
  CHECK_ELEMENTS(1 / x.slice({1, 6}), {0.f, -0.f, infinity, -infinity, 1.f});
  CHECK_ELEMENTS(fr::signbit(1 / x.slice({1, 6})), {0, 1, 0, 1, 0});
}

BOOST_AUTO_TEST_CASE(signed_zeros_are_kept) {
  const auto x = array_of<double>({0., -0.});
  CHECK_ELEMENTS(fr::signbit(x), {0, 1});
  CHECK_ELEMENTS(fr::signbit(-x), {1, 0});
  CHECK_ELEMENTS(fr::signbit(x + 0.), {0, 0});
  CHECK_ELEMENTS(fr::signbit(x * -1), {1, 0});
  CHECK_ELEMENTS(fr::signbit(fr::sqrt(x)), {0, 1});
  CHECK_ELEMENTS(fr::signbit(fr::sign(x)), {0, 1});
  CHECK_ELEMENTS(fr::signbit(fr::where(x == 0, x, x)), {0, 1});
}

BOOST_AUTO_TEST_CASE(denormals_are_not_flushed) {
  const float least = std::numeric_limits<float>::denorm_min();
  const auto x = array_of<float>({least, 3 * least, std::numeric_limits<float>::min()});
  CHECK_ELEMENTS(x * 2, {2 * least, 6 * least, 2 * std::numeric_limits<float>::min()});
  CHECK_ELEMENTS(x / 2, {0.f, 2 * least, std::numeric_limits<float>::min() / 2});
  CHECK_ELEMENTS(x > 0, {1, 1, 1});
  const auto d = array_of<double>({std::numeric_limits<double>::denorm_min()});
  CHECK_ELEMENTS(d + d, {2 * std::numeric_limits<double>::denorm_min()});
}

BOOST_AUTO_TEST_CASE(min_and_max_propagate_nan_and_fmin_ignores_it) {
  const auto x = array_of<float>({nan, 1, nan, 2}), y = array_of<float>({3, nan, nan, 1});
  CHECK_ELEMENTS(fr::isnan(fr::min(x, y)), {1, 1, 1, 0});
  CHECK_ELEMENTS(fr::isnan(fr::max(x, y)), {1, 1, 1, 0});
  CHECK_ELEMENTS(fr::where(fr::isnan(x) && fr::isnan(y), -1, fr::fmin(x, y)), {3, 1, -1, 1});
  CHECK_ELEMENTS(fr::where(fr::isnan(x) && fr::isnan(y), -1, fr::fmax(x, y)), {3, 1, -1, 2});
  CHECK_ELEMENTS(fr::isnan(fr::clamp(x, 0, 1)), {1, 0, 1, 0});
  CHECK_ELEMENTS(fr::isnan(fr::sign(x)), {1, 0, 1, 0});
}

BOOST_AUTO_TEST_CASE(integers_wrap) {
  const auto x = array_of<int>({highest, lowest, -1});
  CHECK_ELEMENTS(x + 1, {lowest, lowest + 1, 0});
  CHECK_ELEMENTS(x - 1, {highest - 1, highest, -2});
  CHECK_ELEMENTS(x * 2, {-2, 0, -2});
  CHECK_ELEMENTS(-x, {-highest, lowest, 1});
  CHECK_ELEMENTS(fr::abs(x), {highest, lowest, 1});
  const auto u = array_of<std::uint64_t>({0, ~0ull});
  CHECK_ELEMENTS(u - 1, {~0ull, ~0ull - 1});
}

BOOST_AUTO_TEST_CASE(integers_divided_by_zero_give_zero) {
  const auto x = array_of<int>({7, -7, lowest, lowest});
  const auto y = array_of<int>({0, 2, -1, 0});
  CHECK_ELEMENTS(x / y, {0, -3, lowest, 0});
  CHECK_ELEMENTS(x % y, {0, -1, 0, 0});
  const auto u = array_of<std::uint64_t>({5, ~0ull}), v = array_of<std::uint64_t>({0, 2});
  CHECK_ELEMENTS(u / v, {0ull, ~0ull / 2});
  CHECK_ELEMENTS(u % v, {0ull, 1ull});
}

BOOST_AUTO_TEST_CASE(shifts_by_too_much_shift_all_bits_out) {
  const auto x = array_of<int>({1, -8, -8, 1, 1});
  const auto n = array_of<int>({31, 1, 32, 32, -1});
  CHECK_ELEMENTS(x << n, {lowest, -16, 0, 0, 0});
  CHECK_ELEMENTS(x >> n, {0, -4, -1, 0, 0});
  const auto u = array_of<std::uint32_t>({0x80000000u, 0x80000000u});
  CHECK_ELEMENTS(u >> array_of<std::uint32_t>({31, 32}), {1u, 0u});
}

BOOST_AUTO_TEST_CASE(casts_to_integers_saturate) {
  const auto x = array_of<double>({2.9, -2.9, 1e10, -1e10, std::nan(""), HUGE_VAL});
  CHECK_ELEMENTS(fr::cast<int>(x), {2, -2, highest, lowest, 0, highest});
  CHECK_ELEMENTS(fr::cast<std::uint8_t>(x), {2, 0, 255, 0, 0, 255});
  CHECK_ELEMENTS(fr::cast<std::int64_t>(x * 1e10), {29000000000, -29000000000, INT64_MAX, INT64_MIN, 0, INT64_MAX});
  CHECK_ELEMENTS(fr::cast<bool>(array_of<float>({0.f, -0.f, 0.5f, nan})), {0, 0, 1, 1});
  CHECK_ELEMENTS(fr::cast<std::int8_t>(array_of<int>({200, -129})), {std::int8_t(-56), 127});
}

BOOST_AUTO_TEST_CASE(large_integers_are_rounded_once_to_float) {
  const std::int64_t odd = (1ll << 60) + (1ll << 36) + 1;  // above the middle between two floats
  const auto x = array_of<std::int64_t>({odd, 16777217, -odd});
  CHECK_ELEMENTS(fr::cast<float>(x), {float(odd), 16777216.f, -float(odd)});
  const auto u = array_of<std::uint64_t>({~0ull, 1ull << 63});
  CHECK_ELEMENTS(fr::cast<double>(u), {18446744073709551616., 9223372036854775808.});
}

// All halves and bfloat16 keep their bits, and values between two of them are rounded to even.
BOOST_AUTO_TEST_CASE(every_number_of_16_bits_converts_exactly) {
  for (unsigned bits = 0; bits != 65536; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    const fr::half h = fr::half::from_bits(b);
    const double expected = value_of_half_bits(b);
    if (std::isnan(expected)) {
      BOOST_TEST_REQUIRE(std::isnan(static_cast<float>(h)));
      BOOST_TEST_REQUIRE(std::isnan(static_cast<float>(fr::half(static_cast<float>(h)))));
    } else {
      BOOST_TEST_REQUIRE(static_cast<double>(static_cast<float>(h)) == expected, "half with bits " << bits);
      BOOST_TEST_REQUIRE(fr::half(static_cast<float>(expected)).bits() == bits);
      BOOST_TEST_REQUIRE(fr::half(expected).bits() == bits);
    }
    const float f = fr::bfloat16::from_bits(b);
    if (!std::isnan(f)) BOOST_TEST_REQUIRE(fr::bfloat16(f).bits() == bits);
  }
}

BOOST_AUTO_TEST_CASE(numbers_between_two_halves_are_rounded_to_even) {
  for (unsigned bits = 0; bits != 0x7c00; ++bits) {
    const double low = value_of_half_bits(static_cast<std::uint16_t>(bits)),
                 high = bits == 0x7bff ? 65536. : value_of_half_bits(static_cast<std::uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    BOOST_TEST_REQUIRE(fr::half(middle).bits() == even);
    BOOST_TEST_REQUIRE(fr::half(-middle).bits() == (even | 0x8000));
    BOOST_TEST_REQUIRE(fr::half(std::nextafter(middle, 0.)).bits() == bits);  // rounded once: not to float before
    BOOST_TEST_REQUIRE(fr::half(std::nextafter(middle, 1e9)).bits() == bits + 1);
    BOOST_TEST_REQUIRE(fr::half(static_cast<float>(middle)).bits() == even);
  }
}

BOOST_AUTO_TEST_CASE(arrays_of_16_bits_convert_as_single_numbers_do) {
  std::vector<double> v;
  for (int k = -1200; k != 1200; ++k) v.push_back(std::ldexp(1 + (k & 1023) / 1024. + 1e-9 * k, k % 40 - 20));
  const auto x = array_of(v);
  const auto f = array_of(elements(fr::cast<float>(x)));
  const auto halves = elements(fr::cast<fr::half>(x)), from_floats = elements(fr::cast<fr::half>(f));
  const auto shorts = elements(fr::cast<fr::bfloat16>(x));
  for (std::size_t i = 0; i != v.size(); ++i) {
    BOOST_TEST_REQUIRE(halves[i].bits() == fr::half(v[i]).bits());
    BOOST_TEST_REQUIRE(from_floats[i].bits() == fr::half(static_cast<float>(v[i])).bits());
    BOOST_TEST_REQUIRE(shorts[i].bits() == fr::bfloat16(v[i]).bits());
  }
  CHECK_ELEMENTS(fr::cast<float>(fr::cast<fr::half>(array_of<float>({65519.f, 65520.f, -70000.f, 1e-8f}))),
                 {65504.f, infinity, -infinity, 0.f});
}

BOOST_AUTO_TEST_CASE(complex_numbers_are_computed_by_parts) {
  using z = std::complex<float>;
  const auto x = array_of<z>({{1, 2}, {0, -3}});
  CHECK_ELEMENTS(x * x, {z(-3, 4), z(-9, 0)});
  CHECK_ELEMENTS(fr::conj(x) + 1, {z(2, -2), z(1, 3)});
  CHECK_ELEMENTS(fr::abs(x * x), {5.f, 9.f});
  CHECK_ELEMENTS(fr::real(x) + fr::imag(x), {3.f, -3.f});
  CHECK_ELEMENTS(fr::norm(x), {5.f, 9.f});
  CHECK_ELEMENTS(fr::make_complex(fr::real(x), 1), {z(1, 1), z(0, 1)});
  CHECK_ELEMENTS(x == z(1, 2), {1, 0});
  CHECK_ELEMENTS(fr::abs(x / x - 1) < 1e-6, {1, 1});
  const auto large = array_of<z>({{1e38f, 1e38f}});  // squares of parts overflow
  CHECK_ELEMENTS(fr::abs(large / large - 1) < 1e-6, {1});
  fr::device_array<std::complex<double>> y({2});
  y = fr::real(x) * 2;
  CHECK_ELEMENTS(y, {std::complex<double>(2, 0), std::complex<double>(0, 0)});
}

BOOST_AUTO_TEST_SUITE_END()
