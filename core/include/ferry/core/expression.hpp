/// @file
/// Array expressions: `y = b + 2 * sin(a)`. An expression is a small program over arrays; nothing runs until it is
/// assigned, or made an array.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/make.hpp"
#include "ferry/core/scalar.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// Elements that are computed when they are assigned. Keeps the memory of its arrays alive, and may be assigned several
/// times. Shapes broadcast as in NumPy: they align at the last dimension, and extents of 1 are stretched.
/// @tparam T type of the elements
/// @tparam Rank number of dimensions, 0 to max_rank
template <class T, std::size_t Rank>
class expression {
 public:
  using value_type = T;
  static constexpr std::size_t rank = Rank;

  /// Used by the functions of this header.
  explicit expression(detail::expression_program&& p) : program_(std::move(p)) {}
  expression(detail::operation what, detail::scalar_type operands, std::initializer_list<detail::program_source> of)
      : program_(what, operands, of) {}
  /// Shape, in elements. fr::index() has the shape of its destination, and none here.
  ferry::extents<Rank> extents() const {
    ferry::extents<Rank> e;
    for (std::size_t d = 0; d != Rank; ++d) e[d] = program_.shape.extent[Rank - 1 - d];
    return e;
  }
  /// Number of elements.
  std::size_t size() const { return extents().count(); }
  /// Such as "b + 2 * sin(a)", with the names of the arrays.
  std::string text() const { return detail::text_of(program_); }
  /// The program behind the expression.
  const detail::expression_program& program() const& { return program_; }
  detail::expression_program&& program() && { return std::move(program_); }
  /// Submits the computation of one value, such as max(s, 1.0) of a scalar s. Does not wait.
  operator scalar<T>() const requires(Rank == 0) {
    scalar<T> s(detail::home_of(program_));
    detail::assign_one(nullptr, s.as_array(), *this);
    return s;
  }
  /// Computes one value, and waits for it.
  operator T() && requires(Rank == 0 && !std::is_same_v<T, bool>) { return scalar<T>(*this).value(); }
  // Compilers quote the line of a deleted function, so it states the remedy.
  operator T() const& requires(Rank == 0 && !std::is_same_v<T, bool>) = delete;  // write scalar<T> s = e, and use s
  explicit operator bool() const& = delete;  // a condition is one value: use all_equal(a, b), all(a == b), any(a == b)

 private:
  detail::expression_program program_;
};

/// @cond
#define FERRY_BINARY_OPERATOR(sign, name)                                                   \
  template <class A, class B>                                                               \
  requires detail::expression_operands<A, B>                                                \
  auto operator sign(A&& a, B&& b) {                                                        \
    return detail::binary<detail::operation::name>(std::forward<A>(a), std::forward<B>(b)); \
  }
#define FERRY_COMPOUND_OPERATOR(sign, name)                                                                          \
  template <class Y, class E>                                                                                        \
  requires(detail::kind_of_operand<Y>.role == detail::operand_role::array && detail::expression_operands<Y, E>) Y && \
  operator sign(Y&& y, E&& e) {                                                                                      \
    detail::assign_one(nullptr, y, detail::binary<detail::operation::name>(y, std::forward<E>(e)));                  \
    return std::forward<Y>(y);                                                                                       \
  }
FERRY_BINARY_OPERATOR(+, add)
FERRY_BINARY_OPERATOR(-, subtract)
FERRY_BINARY_OPERATOR(*, multiply)
FERRY_BINARY_OPERATOR(/, divide)
FERRY_BINARY_OPERATOR(%, modulo)
FERRY_BINARY_OPERATOR(==, equal)
FERRY_BINARY_OPERATOR(!=, not_equal)
FERRY_BINARY_OPERATOR(<, less)
FERRY_BINARY_OPERATOR(<=, less_equal)
FERRY_BINARY_OPERATOR(>, greater)
FERRY_BINARY_OPERATOR(>=, greater_equal)
FERRY_BINARY_OPERATOR(&&, logical_and)
FERRY_BINARY_OPERATOR(||, logical_or)
FERRY_BINARY_OPERATOR(&, bit_and)
FERRY_BINARY_OPERATOR(|, bit_or)
FERRY_BINARY_OPERATOR(^, bit_xor)
FERRY_BINARY_OPERATOR(<<, shift_left)
FERRY_BINARY_OPERATOR(>>, shift_right)
FERRY_COMPOUND_OPERATOR(+=, add)
FERRY_COMPOUND_OPERATOR(-=, subtract)
FERRY_COMPOUND_OPERATOR(*=, multiply)
FERRY_COMPOUND_OPERATOR(/=, divide)
FERRY_COMPOUND_OPERATOR(%=, modulo)
FERRY_COMPOUND_OPERATOR(&=, bit_and)
FERRY_COMPOUND_OPERATOR(|=, bit_or)
FERRY_COMPOUND_OPERATOR(^=, bit_xor)
FERRY_COMPOUND_OPERATOR(<<=, shift_left)
FERRY_COMPOUND_OPERATOR(>>=, shift_right)
#undef FERRY_BINARY_OPERATOR
#undef FERRY_COMPOUND_OPERATOR
template <class A>
requires detail::expression_operands<A>
auto operator-(A&& a) { return detail::unary<detail::operation::negate>(std::forward<A>(a)); }
template <class A>
requires detail::expression_operands<A>
auto operator~(A&& a) { return detail::unary<detail::operation::bit_not>(std::forward<A>(a)); }
template <class A>
requires detail::expression_operands<A>
auto operator!(A&& a) { return detail::unary<detail::operation::logical_not>(std::forward<A>(a)); }
/// @endcond

/// The elements of an array, or the value of a scalar on its device, as an expression. Does not wait.
template <class A>
requires(detail::kind_of_operand<A>.role >= detail::operand_role::value) auto lazy(A&& a) {
  detail::need_element_type<A>();
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  detail::expression_program p = detail::program_of(std::forward<A>(a));
  return detail::make_expression<kind.type, kind.rank>(std::move(p), a);
}

/// Converts elements. To integers: rounds to zero, beyond the range to the nearest integer, NaN to 0. To half and
/// bfloat16: rounds once. To bool: true unless 0.
template <class T, class A>
requires(detail::kind_of_operand<A>.role >= detail::operand_role::value) auto cast(A&& a) {
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  constexpr detail::scalar_type to = detail::scalar_type_of<T>();
  static_assert(to != detail::scalar_type::none, "cast<T>(e): expressions have no elements of this type");
  static_assert(!detail::is_complex(kind.type) || detail::is_complex(to),
                "cast<T>(e) of complex elements to real ones: use real(e), imag(e) or abs(e)");
  detail::need_element_type<A>();
  return detail::make_expression<to, kind.rank>(detail::cast_program(detail::program_of(std::forward<A>(a)), to), a);
}

/// Elements of `a` where the mask is true, and of `b` elsewhere. `y = where(mask, e, y)` writes only the elements where
/// the mask is true.
template <class M, class A, class B>
requires(detail::expression_operands<M, A, B>) auto where(M&& mask, A&& a, B&& b) {
  static_assert(detail::kind_of_operand<M>.type == detail::scalar_type::boolean,
                "where(mask, a, b): the mask has elements of type bool: compare, as in where(m != 0, a, b)");
  constexpr detail::scalar_type t = detail::common_type_of<detail::operation::select, A, B>();
  detail::need_element_type<A>(), detail::need_element_type<B>();
  return detail::operation_on<detail::operation::select, t, detail::scalar_of<t>>(
      std::forward<M>(mask), std::forward<A>(a), std::forward<B>(b));
}

/// The index of each element along an axis of the destination, as int64. Takes no memory.
/// @param axis 0 is the first dimension of the destination; negative axes count from the last, which is -1
/// @throws invalid_argument if there is no such axis: here above max_rank, else at the assignment
inline expression<std::int64_t, 0> index(int axis) { return expression<std::int64_t, 0>(detail::index_program(axis)); }

/// The values first, first + step, ... before end, computed where they are used: arange() without memory. Floating
/// point values are computed in double and rounded once.
/// @throws invalid_argument for a step of 0 and for bounds that are not finite
template <class T>
expression<T, 1> lazy_arange(T first, T end, T step = T(1)) {
  using namespace detail;
  if (step == T(0)) throw invalid_argument("lazy_arange: the step is 0");
  using computed = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  constexpr scalar_type t = scalar_type_of<computed>();
  const auto from = static_cast<computed>(first), by = static_cast<computed>(step);
  expression_program p = apply(operation::multiply, t, cast_program(range_program(steps_before(first, end, step)), t),
                               constant_program(&by, t));
  return expression<T, 1>(
      cast_program(apply(operation::add, t, std::move(p), constant_program(&from, t)), scalar_type_of<T>()));
}

/// `count` evenly spaced values from first to last, both included: linspace() without memory. Computed in double,
/// rounded once.
template <class T>
expression<T, 1> lazy_linspace(T first, T last, std::size_t count) {
  using namespace detail;
  static_assert(std::is_floating_point_v<T>, "lazy_linspace needs a floating point type");
  const double from = first,
               gap = count > 1 ? (static_cast<double>(last) - from) / static_cast<double>(count - 1) : 0.0;
  const double to = last;
  const auto end = static_cast<std::int64_t>(count) - 1;
  constexpr scalar_type t = scalar_type::float64;
  const expression_program all = range_program(count);
  expression_program p = apply(operation::multiply, t, cast_program(all, t), constant_program(&gap, t));
  p = apply(operation::add, t, std::move(p), constant_program(&from, t));
  if (count > 1)
    p = apply(operation::select, t,
              apply(operation::equal, scalar_type::int64, all, constant_program(&end, scalar_type::int64)),
              constant_program(&to, t), p);
  return expression<T, 1>(cast_program(std::move(p), scalar_type_of<T>()));
}

/// View with a further dimension of extent 1, at position `axis`: new_axis(column, 1) broadcasts along rows.
/// @param v array or view
/// @param axis 0 to the rank of the view
/// @throws invalid_argument if axis is above the rank
template <class T, std::size_t Rank, memory_kind Kind>
array_view<T, Rank + 1, Kind> new_axis(array_view<T, Rank, Kind>& v, std::size_t axis) {
  if (axis > Rank)
    throw invalid_argument(detail::concat("new_axis(view, ", axis, "): the view has ", Rank, " dimensions"));
  ferry::extents<Rank + 1> e;
  ferry::strides<Rank + 1> s{};
  for (std::size_t d = 0; d != Rank + 1; ++d) {
    e[d] = d == axis ? 1 : v.extent(d < axis ? d : d - 1);
    s[d] = d == axis ? 1 : v.strides()[d < axis ? d : d - 1];
  }
  return {v.owner(), v.unsynchronized_data(), e, s};
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
array_view<const T, Rank + 1, Kind> new_axis(const array_view<T, Rank, Kind>& v, std::size_t axis) {
  array_view<const T, Rank, Kind> elements(v.owner(), v.unsynchronized_data(), v.extents(), v.strides());
  return new_axis(elements, axis);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
array_view<T, Rank + 1, Kind> new_axis(array_view<T, Rank, Kind>&& v, std::size_t axis) {
  return new_axis(v, axis);
}

/// The elements as a new array of a kind of memory, on the device of the expression's first array.
/// @throws out_of_memory
template <memory_kind Kind, class T, std::size_t Rank>
basic_array<T, Rank, Kind> evaluate_to(expression<T, Rank> e) {
  return basic_array<T, Rank, Kind>(std::move(e));
}
/// As above, in the default kind of memory.
template <class T, std::size_t Rank>
auto evaluate(expression<T, Rank> e) {
  return basic_array<T, Rank, default_memory_kind<T>>(std::move(e));
}

namespace detail {

// A reduction has assignments of its own, which write its result in place.
template <class E>
inline constexpr bool is_reduction = false;
template <class T, std::size_t Rank>
inline constexpr bool is_reduction<reduced<T, Rank>> = true;
template <class Y, class E, std::size_t More>
concept assignable_pairs = kind_of_operand<Y>
.is_local_array() && More % 2 == 0 && !(More == 0 && is_reduction<std::remove_cvref_t<E>>);

template <std::size_t... I, class Pairs>
void assign_pairs(const stream_ref* s, source_line at, std::index_sequence<I...>, Pairs&& pairs) {
  using tuple = std::remove_reference_t<Pairs>;
  if constexpr (sizeof...(I) == 1)
    return assign_one(s, std::get<0>(pairs), std::forward<std::tuple_element_t<1, tuple>>(std::get<1>(pairs)), at);
  (need_assignable<std::tuple_element_t<2 * I, Pairs>, std::tuple_element_t<2 * I + 1, Pairs>>(), ...);
  expression_program programs[] = {
      program_of(std::forward<std::tuple_element_t<2 * I + 1, tuple>>(std::get<2 * I + 1>(pairs)))...};
  assignment all[] = {assignment_of(std::get<2 * I>(pairs), programs[I])...};
  assign_programs(s, all, at);
}

}  // namespace detail

/// Assigns expressions, arrays, scalars or numbers to arrays, in one submission: assign(y, e1, z, e2). All expressions
/// read what was there before. All destinations have one shape and do not overlap. Does not block, except where a
/// temporary or a staging copy needs memory.
/// @param y destination: array or view
/// @param e its elements
/// @param more further pairs
/// @throws invalid_argument if a shape does not fit, if destinations overlap, and during a submission
/// @throws use_after_free if an array was freed
template <class Y, class E, class... More>
requires detail::assignable_pairs<Y, E, sizeof...(More)>
void assign(Y&& y, E&& e, More&&... more) {
  detail::assign_pairs(
      nullptr, {}, std::make_index_sequence<1 + sizeof...(More) / 2>(),
      std::tuple<Y&&, E&&, More&&...>(std::forward<Y>(y), std::forward<E>(e), std::forward<More>(more)...));
}
/// As above, on a stream.
template <class Y, class E, class... More>
requires detail::assignable_pairs<Y, E, sizeof...(More)>
void assign(located<stream_ref> s, Y&& y, E&& e, More&&... more) {
  detail::assign_pairs(
      &s.value, s.at, std::make_index_sequence<1 + sizeof...(More) / 2>(),
      std::tuple<Y&&, E&&, More&&...>(std::forward<Y>(y), std::forward<E>(e), std::forward<More>(more)...));
}

/// Describes an expression: its text, the arrays that it reads, the bytes that it moves, and how its device runs it.
template <class T, std::size_t Rank>
std::string explain(const expression<T, Rank>& e) {
  return detail::explain_program(e.program(), detail::scalar_type_of<T>());
}

/// Compiles the kernel of an expression, and blocks until that is done: for programs that must not compile while they
/// run, and before a capture. Kernels depend on operations, types, ranks, and on which operands are contiguous,
/// stretched or strided, not on sizes: the kernel serves all assignments of such an expression to whole arrays.
/// @return false if nothing is compiled: on simulated devices, with FERRY_JIT=off, and without NVRTC. The expression is
///   then interpreted.
/// @throws not_supported if the expression calls a FERRY_FUNCTION, and its kernel cannot be compiled. The text contains
///   the compiler's messages.
template <class T, std::size_t Rank>
bool precompile(const expression<T, Rank>& e) {
  return detail::precompile_program(e.program(), detail::scalar_type_of<T>());
}

// Definitions of array members that evaluate.

template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
array_view<T, Rank, Kind>& array_view<T, Rank, Kind>::operator=(const expression<U, R>& e) {
  detail::assign_one(nullptr, *this, e);
  return *this;
}
template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
basic_array<T, Rank, Kind>& basic_array<T, Rank, Kind>::operator=(const expression<U, R>& e) {
  detail::assign_one(nullptr, *this, e);
  return *this;
}
template <class T, std::size_t Rank, memory_kind Kind>
template <class U>
basic_array<T, Rank, Kind>::basic_array(expression<U, Rank> e)
    : basic_array(e.extents(), detail::home_of(e.program())) {
  detail::assign_one(nullptr, *this, e);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
