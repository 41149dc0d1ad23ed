// Functions of random programs, and what they compute by the oracle.
#pragma once
#include "expressions_oracle.hpp"
#include "ferry/core/function.hpp"

namespace random_functions {

using expressions_oracle::scalar_type;
using expressions_oracle::scalar_value;

FERRY_FUNCTION(double, chosen, (bool mask, float a, double b), { return mask ? a : b; });
FERRY_FUNCTION(int, mixed_bits, (std::int8_t a, std::uint16_t b, std::int64_t c), { return (a ^ b) + (c > 0); });
FERRY_FUNCTION(ferry::half, short_sum, (ferry::half a, ferry::bfloat16 b), { return ferry::half(a * 0.5f + b); });
FERRY_FUNCTION(std::complex<float>, turned, (std::complex<float> z, float r),
               { return std::complex<float>(-z.imag(), z.real() + r); });
FERRY_FUNCTION(bool, is_between, (unsigned a, unsigned b, unsigned c), { return a <= b && b < c; });
FERRY_FUNCTION_USING((chosen, is_between), float, six, (float a, double b, int c, unsigned d, std::uint8_t e, bool f), {
  float sum = 0;
  for (int k = 0; k < 3; ++k) sum += is_between(d, e, 100) ? a : static_cast<float>(chosen(f, a, b));
  return c > 0 ? sum : -sum;
});

struct random_function {
  const ferry::detail::function_definition* definition;
  scalar_value (*oracle)(const scalar_value* x);
};
inline scalar_value of_real(scalar_type t, double x) { return {t, 0, x}; }

inline const random_function all[] = {
    {&chosen.definition(),
     [](const scalar_value* x) { return of_real(scalar_type::float64, x[0].whole ? x[1].re : x[2].re); }},
    {&mixed_bits.definition(),
     [](const scalar_value* x) {
       return scalar_value{scalar_type::int32, (x[0].whole ^ x[1].whole) + (x[2].whole > 0 ? 1 : 0)};
     }},
    {&short_sum.definition(),
     [](const scalar_value* x) {
       const float half = static_cast<float>(x[0].re) * 0.5f;
       return of_real(scalar_type::float32,
                      expressions_oracle::as_half(static_cast<double>(half + static_cast<float>(x[1].re))));
     }},
    {&turned.definition(),
     [](const scalar_value* x) {
       return scalar_value{scalar_type::complex64, 0, -x[0].im,
                           static_cast<double>(static_cast<float>(x[0].re) + static_cast<float>(x[1].re))};
     }},
    {&is_between.definition(),
     [](const scalar_value* x) {
       return scalar_value{scalar_type::boolean, x[0].whole <= x[1].whole && x[1].whole < x[2].whole};
     }},
    {&six.definition(), [](const scalar_value* x) {
       const bool between = x[3].whole <= x[4].whole && x[4].whole < 100;
       const auto one = static_cast<float>(between || x[5].whole ? x[0].re : x[1].re);
       float sum = 0;
       for (int k = 0; k != 3; ++k) sum += one;
       return of_real(scalar_type::float32, static_cast<double>(x[2].whole > 0 ? sum : -sum));
     }}};

}  // namespace random_functions
