// Random elements, and the results of reductions that a plain loop expects.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include <ferry/core.hpp>

#include "ferry/core/detail/reductions/reduction_program.hpp"

namespace reductions_random {

namespace fr = ferry;
using namespace ferry::detail;
using index_list = std::array<std::size_t, fr::max_rank>;  // axis 0 is the last dimension
using number = std::complex<long double>;

inline constexpr std::size_t elements_of_array = 40000;

struct dice {
  explicit dice(std::uint64_t seed) : random(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  std::mt19937_64 random;
};

template <class T>
T read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write_as(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

inline void write_random(scalar_type t, std::byte* to, dice& d, bool with_specials) {
  const auto bits = d.random();
  const int small = static_cast<int>(d.below(19)) - 9;
  const double specials[] = {std::nan(""), INFINITY, -INFINITY, -0.0, 0.0, 1e30, -1e30};
  const double real = with_specials && d.chance(2) ? specials[d.below(std::size(specials))]
                                                   : small + static_cast<double>(bits % 4096) / 4096;
  switch (t) {
    case scalar_type::boolean: return write_as(to, static_cast<unsigned char>(d.chance(d.chance(50) ? 99 : 1)));
    case scalar_type::int8: return write_as(to, static_cast<std::int8_t>(small));
    case scalar_type::uint8: return write_as(to, static_cast<std::uint8_t>(bits));
    case scalar_type::int16: return write_as(to, static_cast<std::int16_t>(small));
    case scalar_type::uint16: return write_as(to, static_cast<std::uint16_t>(bits));
    case scalar_type::int32: return write_as(to, d.chance(3) ? static_cast<std::int32_t>(bits) : small);
    case scalar_type::uint32: return write_as(to, static_cast<std::uint32_t>(bits % 100));
    case scalar_type::int64: return write_as(to, d.chance(3) ? static_cast<std::int64_t>(bits) : small);
    case scalar_type::uint64: return write_as(to, d.chance(3) ? bits : bits % 100);
    case scalar_type::half: return write_as(to, fr::half(real).bits());
    case scalar_type::bfloat16: return write_as(to, fr::bfloat16(real).bits());
    case scalar_type::float32: return write_as(to, static_cast<float>(real));
    case scalar_type::float64: return write_as(to, real);
    case scalar_type::complex64:
      return write_as(to, static_cast<float>(real)), write_as(to + 4, static_cast<float>(small));
    case scalar_type::complex128: return write_as(to, real), write_as(to + 8, static_cast<double>(small));
    case scalar_type::none: return;
  }
}

inline bool is_whole(scalar_type t) { return t <= scalar_type::uint64; }
// Integers as their 64 bits, others as numbers.
inline std::uint64_t whole_at(scalar_type t, const std::byte* p) {
  switch (t) {
    case scalar_type::boolean: return read_as<unsigned char>(p);
    case scalar_type::int8: return static_cast<std::uint64_t>(read_as<std::int8_t>(p));
    case scalar_type::uint8: return read_as<std::uint8_t>(p);
    case scalar_type::int16: return static_cast<std::uint64_t>(read_as<std::int16_t>(p));
    case scalar_type::uint16: return read_as<std::uint16_t>(p);
    case scalar_type::int32: return static_cast<std::uint64_t>(read_as<std::int32_t>(p));
    case scalar_type::uint32: return read_as<std::uint32_t>(p);
    default: return read_as<std::uint64_t>(p);
  }
}
inline number number_at(scalar_type t, const std::byte* p) {
  switch (t) {
    case scalar_type::half: return static_cast<float>(fr::half::from_bits(read_as<std::uint16_t>(p)));
    case scalar_type::bfloat16: return static_cast<float>(fr::bfloat16::from_bits(read_as<std::uint16_t>(p)));
    case scalar_type::float32: return read_as<float>(p);
    case scalar_type::float64: return read_as<double>(p);
    case scalar_type::complex64: return {read_as<float>(p), read_as<float>(p + 4)};
    case scalar_type::complex128: return {read_as<double>(p), read_as<double>(p + 8)};
    default:
      return is_signed(t) ? static_cast<long double>(static_cast<std::int64_t>(whole_at(t, p)))
                          : static_cast<long double>(whole_at(t, p));
  }
}
inline long double rounding(scalar_type t) { return real_of(t) == scalar_type::float32 ? 0x1p-24L : 0x1p-53L; }

// Memory of one type.
struct typed_memory {
  typed_memory(scalar_type t, std::size_t n, fr::device where) : type(t), bytes({n * size_of(t)}, where) {}
  scalar_type type;
  fr::unified_array<std::byte> bytes;
  program_operand operand(std::ptrdiff_t base, const program_shape& shape,
                          const std::array<std::ptrdiff_t, fr::max_rank>& stride) const {
    std::size_t extents[fr::max_rank];
    std::ptrdiff_t strides[fr::max_rank];
    for (std::size_t a = 0; a != shape.rank; ++a)
      extents[shape.rank - 1 - a] = shape.extent[a], strides[shape.rank - 1 - a] = stride[a];
    return operand_of(bytes.owner(), bytes.unsynchronized_data() + base * static_cast<std::ptrdiff_t>(size_of(type)),
                      {extents, shape.rank}, {strides, shape.rank}, type, fr::memory_kind::unified);
  }
  program_operand contiguous(const program_shape& shape) const {
    std::array<std::ptrdiff_t, fr::max_rank> stride{};
    std::ptrdiff_t step = 1;
    for (std::size_t a = 0; a != shape.rank; ++a)
      stride[a] = step, step *= static_cast<std::ptrdiff_t>(shape.extent[a]);
    return operand(0, shape, stride);
  }
};
inline std::size_t count_of(const program_shape& s) {
  std::size_t n = 1;
  for (std::size_t a = 0; a != s.rank; ++a) n *= s.extent[a];
  return n;
}

// What is expected for the values of one kept index, in order of their positions.
struct expectation {
  bool is_whole = false;
  std::uint64_t whole = 0;
  number value;
  long double slack = 0;
  bool is_exact = false;   // signs of zeros count
  bool is_beyond = false;  // products overflow or underflow in some order
};
inline bool is_less(long double a, long double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }
inline expectation expected_of(const reduction_program& r, scalar_type t, const std::vector<const std::byte*>& x) {
  expectation e;
  const auto n = static_cast<long double>(x.size());
  const long double steps = 32 + std::log2(std::max(n, 1.L));
  switch (r.how.what) {
    case reduction_operation::sum:
    case reduction_operation::product: {
      const bool is_sum = r.how.what == reduction_operation::sum;
      if (is_whole(t)) {
        e.is_whole = true, e.whole = is_sum ? 0 : 1;
        for (const std::byte* p : x) is_sum ? e.whole += whole_at(t, p) : e.whole *= whole_at(t, p);
        return e;
      }
      number all = is_sum ? 0 : 1;
      long double size = is_sum ? 0 : 1, high = 1, low = 1;  // high, low: limits of all partial products
      for (const std::byte* p : x) {
        const number v = number_at(t, p);
        const long double both = std::fabs(v.real()) + std::fabs(v.imag());
        is_sum ? all += v : all *= v;
        is_sum ? size += both : size *= both;
        high *= std::max(both, 1.L), low *= both > 0 ? std::min(both, 1.L) : 1;
      }
      e.value = all;
      e.slack = rounding(t) * size * (is_sum ? steps : 4 * n + 4);
      const bool is_float = real_of(t) == scalar_type::float32;
      e.is_beyond = !is_sum && !(high < (is_float ? 1e38L : 1e308L) && low > (is_float ? 1e-35L : 1e-300L));
      if (r.how.finish == reduction_finish::mean) e.value /= n, e.slack = e.slack / n + rounding(t) * std::abs(e.value);
      if (r.how.finish == reduction_finish::root) {
        const long double root = std::sqrt(all.real());
        e.slack = root > 0 ? e.slack / root + 2 * rounding(t) * root : 0, e.value = root;
      }
      return e;
    }
    case reduction_operation::moments: {
      number mean = 0;
      long double squares = 0;
      for (const std::byte* p : x) mean += number_at(t, p);
      mean /= n;
      for (const std::byte* p : x) squares += std::norm(number_at(t, p) - mean);
      const long double by = n - static_cast<long double>(r.how.freedom);
      const long double variance = by > 0 ? squares / by : std::nan("");
      const long double condition = std::sqrt(1 + std::norm(mean) * n / std::max(squares, 1e-30L));
      e.slack =
          4 * steps * rounding(t) * condition * variance + n * std::norm(mean) * rounding(t) * rounding(t) * steps;
      e.value = variance;
      e.is_beyond = squares > (real_of(t) == scalar_type::float32 ? 1e37L : 1e307L);
      if (r.how.finish == reduction_finish::deviation) {
        const long double root = std::sqrt(variance);
        e.slack = root > 0 ? std::min(e.slack / root, std::sqrt(e.slack)) + 2 * rounding(t) * root : std::sqrt(e.slack);
        e.value = root;
      }
      return e;
    }
    case reduction_operation::any:
    case reduction_operation::all: {
      const bool is_any = r.how.what == reduction_operation::any;
      e.is_whole = true, e.whole = !is_any;
      for (const std::byte* p : x)
        if ((whole_at(t, p) != 0) == is_any) e.whole = is_any;
      return e;
    }
    default: break;
  }
  // Extremes and positions.
  const bool is_least = r.how.what == reduction_operation::minimum || r.how.what == reduction_operation::least;
  std::size_t best = 0;
  for (std::size_t k = 1; k != x.size(); ++k) {
    const long double a = number_at(t, x[k]).real(), b = number_at(t, x[best]).real();
    if (std::isnan(b)) break;
    const bool is_position = combined_as(r.how.what, t) != t || r.how.what >= reduction_operation::least;
    const bool wins = is_position ? (is_least ? a < b : a > b) : is_least ? is_less(a, b) : is_less(b, a);
    if (wins || std::isnan(a)) best = k;
  }
  if (r.how.what == reduction_operation::least || r.how.what == reduction_operation::greatest) {
    e.is_whole = true, e.whole = best;
  } else if (is_whole(t)) {
    e.is_whole = true, e.whole = whole_at(t, x[best]);
  } else {
    e.value = number_at(t, x[best]), e.is_exact = true;
  }
  return e;
}

inline bool agrees(const expectation& e, scalar_type t, const std::byte* got) {
  if (e.is_whole && is_whole(t)) {  // in the bits of the result's type
    std::byte bytes[8];
    write_as(bytes, e.whole);
    return std::memcmp(bytes, got, size_of(t)) == 0;
  }
  if (e.is_beyond) return true;
  const number g = number_at(t, got);
  const auto one = [&](long double a, long double b) {
    if (std::isnan(b) || std::isnan(a)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(b) || std::isinf(a)) return a == b || std::isinf(e.slack);
    if (t == scalar_type::half) b = static_cast<float>(fr::half(static_cast<float>(b)));
    if (t == scalar_type::bfloat16) b = static_cast<float>(fr::bfloat16(static_cast<float>(b)));
    return e.is_exact ? a == b && std::signbit(a) == std::signbit(b) : std::fabs(a - b) <= e.slack;
  };
  if (e.is_whole) return g.real() == static_cast<long double>(static_cast<std::int64_t>(e.whole));
  const bool has_nan = std::isnan(e.value.real()) || std::isnan(e.value.imag());
  return one(g.real(), e.value.real()) && (!is_complex(t) || has_nan || one(g.imag(), e.value.imag()));
}

}  // namespace reductions_random
