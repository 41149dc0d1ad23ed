#include "transport/collective_math.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

struct half {
  std::uint16_t bits;
  operator float() const { return from_float16(bits); }
  static half from(float v) { return {to_float16(v)}; }
};
struct bhalf {
  std::uint16_t bits;
  operator float() const { return from_bfloat16(bits); }
  static bhalf from(float v) { return {to_bfloat16(v)}; }
};

// Computes in the type of the arithmetic: unsigned for integers, because sums and products wrap.
template <class T, class F>
T computed(T a, T b, F f) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bhalf>) {
    return T::from(f(static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (std::is_floating_point_v<T>) {
    return f(a, b);
  } else {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  }
}

// Returns one of the two values.
template <class T, class Op>
T chosen(T a, T b, Op op) {
  if constexpr (std::is_arithmetic_v<T>)
    return op(a, b);
  else
    return computed(a, b, op);
}

template <class T>
T combined(reduction op, T a, T b) {
  switch (op) {
    case reduction::sum:
    case reduction::average: return computed(a, b, [](auto x, auto y) { return x + y; });
    case reduction::product: return computed(a, b, [](auto x, auto y) { return x * y; });
    case reduction::minimum: return chosen(a, b, ferry::minimum());
    case reduction::maximum: return chosen(a, b, ferry::maximum());
    case reduction::minimum_number: return chosen(a, b, ferry::minimum_number());
    case reduction::maximum_number: return chosen(a, b, ferry::maximum_number());
  }
  return a;
}

template <class T>
T divided(T a, std::size_t ranks) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bhalf>)
    return T::from(static_cast<float>(a) / static_cast<float>(ranks));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(a / static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(ranks));
  else
    return a / static_cast<T>(ranks);
}

// Calls f with a value of the type. Values instead of pointers, because elements may be unaligned.
template <class F>
void with_type(element_type type, F f) {
  switch (type) {
    case element_type::int8: return f(std::int8_t());
    case element_type::uint8: return f(std::uint8_t());
    case element_type::int32: return f(std::int32_t());
    case element_type::uint32: return f(std::uint32_t());
    case element_type::int64: return f(std::int64_t());
    case element_type::uint64: return f(std::uint64_t());
    case element_type::float16: return f(half());
    case element_type::bfloat16: return f(bhalf());
    case element_type::float32: return f(float());
    case element_type::float64: return f(double());
    case element_type::bytes: break;
  }
  throw error("internal error: arithmetic on bytes");
}

template <class T>
T load(const std::byte* p, std::size_t i) {
  T v;
  std::memcpy(&v, p + i * sizeof v, sizeof v);
  return v;
}
template <class T>
void store(std::byte* p, std::size_t i, T v) {
  std::memcpy(p + i * sizeof v, &v, sizeof v);
}

}  // namespace

void combine(element_type type, reduction op, std::byte* into, const std::byte* from, std::size_t count) {
  with_type(type, [&]<class T>(T) {
    for (std::size_t i = 0; i < count; ++i) store(into, i, combined(op, load<T>(into, i), load<T>(from, i)));
  });
}

void finish(element_type type, reduction op, std::byte* values, std::size_t count, std::size_t ranks) {
  if (op != reduction::average) return;
  with_type(type, [&]<class T>(T) {
    for (std::size_t i = 0; i < count; ++i) store(values, i, divided(load<T>(values, i), ranks));
  });
}

float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float from_float16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const auto fraction = static_cast<float>(bits & 1023);
  const float sign = bits >> 15 ? -1.f : 1.f;
  if (exponent == 31) return sign * (bits & 1023 ? std::nanf("") : HUGE_VALF);
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

std::uint16_t to_float16(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7e00;
  const float size = std::fabs(value);
  if (size >= 65520.f) return static_cast<std::uint16_t>(sign | 0x7c00);  // rounds to infinity
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);                    // size in [1/2, 1) * 2^exponent
  const int unit = std::max(exponent, -13) - 11;  // of the last bit
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -unit)));
  // The exponent of a normal number is above its fraction, whose first bit is not stored. A carry out of the fraction
  // increments the exponent.
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(std::max(exponent, -13) + 13) * 1024 + steps));
}

}  // namespace ferry::inline FERRY_ABI::detail
