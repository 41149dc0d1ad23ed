// The loops over blocks, in the namespace FERRY_LOOPS. Included once by each source that compiles them; no include
// guard. FERRY_LOOPS_ALL: also the functions that no compiler vectorizes.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/operations/convert_scalar.hpp"
#include "ferry/core/detail/operations/operation_list.hpp"
#include "interpreter/loop_table.hpp"

// Parts of this file. The order matters: loop_functions.hpp uses loop_arithmetic.hpp, and loop_complex.hpp uses both.
#include "interpreter/loop_arithmetic.hpp"
#include "interpreter/loop_functions.hpp"

#include "interpreter/loop_complex.hpp"
#include "interpreter/loop_moves.hpp"

namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS {

// The types of values in registers and in memory.
template <scalar_type Type>
struct value_type {
  using type = scalar_of<Type>;
};
template <>
struct value_type<scalar_type::complex64> {
  using type = complex_value<float>;
};
template <>
struct value_type<scalar_type::complex128> {
  using type = complex_value<double>;
};
template <scalar_type Type>
using value_of_type = typename value_type<Type>::type;

// True for operations whose loops are faster with wider registers. The others are calls of functions.
constexpr bool is_vectorized(operation o, scalar_type t) {
  using enum operation;
  switch (o) {
    case add:
    case subtract:
    case multiply:
    case divide:
    case negate:
    case equal:
    case not_equal:
    case select:
    case conj:
    case real:
    case imag:
    case norm:
    case complex: return true;
    case sqrt:
    case less:
    case less_equal:
    case greater:
    case greater_equal:
    case logical_and:
    case logical_or:
    case logical_not:
    case bit_and:
    case bit_or:
    case bit_xor:
    case bit_not:
    case shift_left:
    case shift_right:
    case operation::min:
    case operation::max:
    case clamp:
    case abs:
    case sign:
    case rsqrt:
    case floor:
    case ceil:
    case trunc:
    case rint:
    case isnan:
    case isinf:
    case isfinite:
    case signbit:
    case copysign:
    case fmin:
    case fmax:
    case fma:
    case lerp: return !is_complex(t);
    default: return false;
  }
}
constexpr bool is_compiled(operation o, scalar_type t) {
#ifdef FERRY_LOOPS_ALL
  return is_defined(o, t);
#else
  return is_defined(o, t) && is_vectorized(o, t);
#endif
}

template <operation What>
struct computation;
#define FERRY_OPERATION(name, operands, domain, result, code)                                 \
  template <>                                                                                 \
  struct computation<operation::name> {                                                       \
    template <class A, class T>                                                               \
    static inline auto of([[maybe_unused]] A a, [[maybe_unused]] T b, [[maybe_unused]] T c) { \
      return code;                                                                            \
    }                                                                                         \
  };
FERRY_OPERATIONS(FERRY_OPERATION)
#undef FERRY_OPERATION

// The types of elements in loops. Elements of type bool are bytes, because compilers do not vectorize loops that load
// bool.
template <scalar_type Type>
using element_in_loop = std::conditional_t<Type == scalar_type::boolean, unsigned char, value_of_type<Type>>;

template <operation What, scalar_type Type>
static void run_operation(std::byte* to, const std::byte* a, const std::byte* b, const std::byte* c, std::size_t n) {
  using value = element_in_loop<Type>;
  using first = std::conditional_t<What == operation::select, element_in_loop<scalar_type::boolean>, value>;
  using result = element_in_loop<result_type(What, Type)>;
  constexpr int operands = info_of(What).operands;
  auto* r = reinterpret_cast<result*>(to);
  const auto* x = reinterpret_cast<const first*>(a);
  const auto* y = reinterpret_cast<const value*>(operands > 1 ? b : nullptr);
  const auto* z = reinterpret_cast<const value*>(operands > 2 ? c : nullptr);
  using of = computation<What>;
  // If the result overwrites an operand, each iteration reads an element before it writes it. So iterations are
  // independent.
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (operands == 1)
      r[i] = static_cast<result>(of::of(x[i], value(), value()));
    else if constexpr (operands == 2)
      r[i] = static_cast<result>(of::of(x[i], y[i], value()));
    else
      r[i] = static_cast<result>(of::of(x[i], y[i], z[i]));
  }
}

template <class To, class From>
static inline To cast_value(From x) {
  constexpr bool is_short = std::is_same_v<From, half> || std::is_same_v<From, bfloat16>;
  if constexpr (is_complex_value<From>) {
    using part = decltype(To().re);
    return {static_cast<part>(x.re), static_cast<part>(x.im)};
  } else if constexpr (is_complex_value<To>) {
    using part = decltype(To().re);
    return {static_cast<part>(x), part(0)};
  } else if constexpr (is_short) {
    return static_cast<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return saturated<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <scalar_type To, scalar_type From>
static void run_cast(std::byte* to, const std::byte* a, const std::byte*, const std::byte*, std::size_t n) {
  auto* r = reinterpret_cast<value_of_type<To>*>(to);
  const auto* x = reinterpret_cast<const element_in_loop<From>*>(a);
  for (std::size_t i = 0; i < n; ++i) r[i] = cast_value<value_of_type<To>>(x[i]);
}

template <class Short, class From>
static void run_rounding(std::byte* to, const std::byte* a, const std::byte*, const std::byte*, std::size_t n) {
  auto* r = reinterpret_cast<float*>(to);
  const auto* x = reinterpret_cast<const From*>(a);
  for (std::size_t i = 0; i < n; ++i) r[i] = static_cast<float>(Short(x[i]));
}

template <operation What, scalar_type Type>
static constexpr block_loop operation_loop() {
  if constexpr (is_compiled(What, Type))
    return &run_operation<What, Type>;
  else
    return nullptr;
}
template <scalar_type To, scalar_type From>
static constexpr block_loop cast_loop() {
  constexpr bool is_one = To == scalar_type::none || From == scalar_type::none || To == From;
  constexpr bool is_short_pair = computed_as(To) != To && computed_as(From) != From;
  constexpr bool loses_part = is_complex(From) && !is_complex(To);
  if constexpr (is_one || is_short_pair || loses_part)
    return nullptr;
  else
    return &run_cast<To, From>;
}

template <int What, std::size_t... Type>
static constexpr void fill_operation(loop_table& t, std::index_sequence<Type...>) {
  ((t.operations[What][Type] = operation_loop<static_cast<operation>(What), static_cast<scalar_type>(Type)>()), ...);
}
template <std::size_t To, std::size_t... From>
static constexpr void fill_casts(loop_table& t, std::index_sequence<From...>) {
  ((t.casts[To][From] = cast_loop<static_cast<scalar_type>(To), static_cast<scalar_type>(From)>()), ...);
}
template <std::size_t... What, std::size_t... To>
static constexpr loop_table all_loops(std::index_sequence<What...>, std::index_sequence<To...> types) {
  loop_table t{};
  (fill_operation<What>(t, types), ...);
  (fill_casts<To>(t, types), ...);
  t.to_half[0] = &run_rounding<half, float>, t.to_half[1] = &run_rounding<half, double>;
  t.to_bfloat16[0] = &run_rounding<bfloat16, float>, t.to_bfloat16[1] = &run_rounding<bfloat16, double>;
  t.gather[0] = &run_gather<std::uint8_t>, t.gather[1] = &run_gather<std::uint16_t>;
  t.gather[2] = &run_gather<std::uint32_t>, t.gather[3] = &run_gather<std::uint64_t>;
  t.gather[4] = &run_gather<sixteen_bytes>;
  t.scatter[0] = &run_scatter<std::uint8_t>, t.scatter[1] = &run_scatter<std::uint16_t>;
  t.scatter[2] = &run_scatter<std::uint32_t>, t.scatter[3] = &run_scatter<std::uint64_t>;
  t.scatter[4] = &run_scatter<sixteen_bytes>;
  t.masked_scatter[0] = &run_masked_scatter<std::uint8_t>, t.masked_scatter[1] = &run_masked_scatter<std::uint16_t>;
  t.masked_scatter[2] = &run_masked_scatter<std::uint32_t>, t.masked_scatter[3] = &run_masked_scatter<std::uint64_t>;
  t.masked_scatter[4] = &run_masked_scatter<sixteen_bytes>;
  t.indexed[0] = &run_indexed<std::uint8_t>, t.indexed[1] = &run_indexed<std::uint16_t>;
  t.indexed[2] = &run_indexed<std::uint32_t>, t.indexed[3] = &run_indexed<std::uint64_t>;
  t.indexed[4] = &run_indexed<sixteen_bytes>;
  t.bounded_offset = &run_bounded_offset;
  return t;
}

static constexpr loop_table table =
    all_loops(std::make_index_sequence<listed_operations>(), std::make_index_sequence<scalar_types>());

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
