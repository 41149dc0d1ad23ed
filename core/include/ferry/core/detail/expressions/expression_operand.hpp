// The types that can be operands of expressions, and the programs of operands.
#pragma once
#include <complex>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/operations/promotion.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI {
template <class T, std::size_t Rank>
class expression;
template <class T, std::size_t Rank>
class sharded_expression;
template <class T, std::size_t Rank>
class sharded_reduced;
template <class T, std::size_t Rank>
class sharded_scanned;
template <class T>
class scalar;
template <class T, std::size_t Rank>
class reduced;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

enum class operand_role : std::uint8_t {
  none,
  number,    // a value of C++
  value,     // a scalar<T>: an operand only beside an array or an expression
  elements,  // an expression
  array
};
struct operand_kind {
  operand_role role = operand_role::none;
  scalar_type type = scalar_type::none;
  std::size_t rank = 0;
  bool is_spread = false;  // over the devices of a team: an operand of a sharded_expression
  constexpr operand_type typed() const { return {type, role == operand_role::number}; }
  // Compares integers: for comparisons of enums, compilers consider the operators of expressions, whose constraints
  // call this.
  constexpr bool is_operand() const { return static_cast<int>(role) != 0; }
  constexpr bool has_elements() const { return static_cast<int>(role) >= static_cast<int>(operand_role::elements); }
  constexpr bool is_lazy() const { return has_elements() && !is_spread; }
  constexpr bool is_array() const { return static_cast<int>(role) == static_cast<int>(operand_role::array); }
  constexpr bool is_local_array() const { return is_array() && !is_spread; }
};

template <class T, std::size_t Rank, memory_kind Kind>
constexpr operand_kind kind_at(const array_view<T, Rank, Kind>*) {
  return {operand_role::array, scalar_type_of<std::remove_const_t<T>>(), Rank};
}
template <class T, std::size_t Rank>
constexpr operand_kind kind_at(const expression<T, Rank>*) {
  return {operand_role::elements, scalar_type_of<T>(), Rank};
}
template <class T>
constexpr operand_kind kind_at(const scalar<T>*) {
  return {operand_role::value, scalar_type_of<T>(), 0};
}
// The operand of a reduction is its result, which is computed first.
template <class T, std::size_t Rank>
constexpr operand_kind kind_at(const reduced<T, Rank>*) {
  return {Rank == 0 ? operand_role::value : operand_role::elements, scalar_type_of<T>(), Rank};
}
constexpr operand_kind kind_at(const void*) { return {}; }
template <class X>
constexpr operand_kind find_kind() {
  if constexpr (!std::is_object_v<X>)
    return {};
  else if constexpr (static_cast<int>(scalar_type_of<X>()) != 0)
    return {operand_role::number, scalar_type_of<X>(), 0};
  else if constexpr (requires { X::expression_kind; })
    return X::expression_kind;
  else if constexpr (std::is_class_v<X>)
    return kind_at(static_cast<const X*>(nullptr));
  else
    return {};
}
template <class X>
inline constexpr operand_kind kind_of_operand = find_kind<std::remove_cvref_t<X>>();

// True if these are the operands of an expression: at least one is an array or an expression.
template <class... X>
concept expression_operands = (... && kind_of_operand<X>.is_operand()) && (... || kind_of_operand<X>.has_elements());
// The operands of min, max and clamp: also without an array, if one is a scalar, which the CPU does not wait for.
template <class... X>
concept ordered_operands = expression_operands<X...> ||
    ((... && kind_of_operand<X>.is_operand()) && (... || (kind_of_operand<X>.role == operand_role::value)));
// expression_operands of one device each.
template <class... X>
concept local_operands = expression_operands<X...> &&(... && !kind_of_operand<X>.is_spread);

// Checks the element type of an operand.
template <class X>
constexpr void need_element_type() {
  static_assert(
      kind_of_operand<X>.type != scalar_type::none,
      "expressions take elements of type bool, integers of at most 64 bits, half, bfloat16, float, double and "
      "std::complex of float or double: use parallel_for for others");
}

// Returns a description that refers to the view.
template <class T, std::size_t Rank, memory_kind Kind>
array_elements array_elements_of(const array_view<T, Rank, Kind>& a) {
  return {&a.owner(),
          a.unsynchronized_data(),
          a.extents().data(),
          a.strides().data(),
          static_cast<std::uint8_t>(Rank),
          scalar_type_of<std::remove_const_t<T>>(),
          Kind};
}
template <class T, std::size_t Rank, memory_kind Kind>
program_operand operand_of(const array_view<T, Rank, Kind>& a) {
  program_operand o;
  describe(o, array_elements_of(a));
  return o;
}

// Returns the program of an operand: for an expression a reference to its own, else a new one.
template <class X>
decltype(auto) program_of(X&& x) {
  need_element_type<X>();
  constexpr operand_kind kind = kind_of_operand<X>;
  if constexpr (kind.role == operand_role::elements || requires { std::remove_cvref_t<X>::expression_kind; })
    return std::forward<X>(x).program();
  else if constexpr (kind.role == operand_role::array)
    return array_program(array_elements_of(x));
  else if constexpr (kind.role == operand_role::value)
    return array_program(array_elements_of(x.as_array()));
  else
    return constant_program(&x, kind.type);
}

// Owns a program while its description is used.
struct held_source {
  expression_program program;
  operator program_source() { return program_source(std::move(program)); }
};
// Describes an operand for the constructor of expression_program. Refers to x: used within one full expression.
template <class X>
auto operand_source_of(X&& x) {
  need_element_type<X>();
  constexpr operand_kind kind = kind_of_operand<X>;
  if constexpr (kind.is_local_array())
    return program_source(array_elements_of(x));
  else if constexpr (kind.role == operand_role::number)
    return program_source(&x, kind.type);
  else if constexpr (std::is_reference_v<decltype(program_of(std::forward<X>(x)))>)
    return program_source(program_of(std::forward<X>(x)));
  else
    return held_source{program_of(std::forward<X>(x))};
}

template <operation What, scalar_type Operands>
constexpr void need_operation() {
  static_assert(
      Operands != scalar_type::none,
      "this operation is not defined for elements of this type: convert them by ferry::cast<T>(e), or compare "
      "them (e != 0) where bool is needed; docs/expressions.md lists the types");
}

// The type to which the operands of an operation are converted, as a type of elements.
template <operation What, class A, class B>
constexpr scalar_type common_type_of() {
  constexpr operand_type a = kind_of_operand<A>.typed(), b = kind_of_operand<B>.typed();
  if constexpr (a.type == b.type && (What == operation::select ||
                                     (a.type == scalar_type::boolean && is_defined(What, scalar_type::boolean))))
    return a.type;
  else
    return operands_of(What, promoted(a, b));
}

template <class... X>
inline constexpr bool are_spread = (... || kind_of_operand<X>.is_spread);

// Returns a program as an expression. The operands, which may have been moved from, only determine its type.
template <scalar_type Type, std::size_t Rank, class... X>
auto make_expression(expression_program&& p, [[maybe_unused]] const X&... from) {
  if constexpr (are_spread<X...>)
    return sharded_expression<scalar_of<Type>, Rank>(std::move(p), from...);
  else
    return expression<scalar_of<Type>, Rank>(std::move(p));
}

constexpr std::size_t larger_rank(std::size_t a, std::size_t b) { return a < b ? b : a; }
template <class... X>
inline constexpr std::size_t common_rank = [] {
  std::size_t rank = 0;
  ((rank = larger_rank(rank, kind_of_operand<X>.rank)), ...);
  return rank;
}();

// Returns the operation on operands that are converted to elements of type Operands. The results have type T.
template <operation What, scalar_type Operands, class T, class... X>
auto operation_on(X&&... x) {
  if constexpr (are_spread<X...>)
    return sharded_expression<T, common_rank<X...>>(
        expression_program(What, Operands, {operand_source_of(std::forward<X>(x))...}), x...);
  else
    return expression<T, common_rank<X...>>(What, Operands, {operand_source_of(std::forward<X>(x))...});
}
// The same; if Operands is none, the call does not compile.
template <operation What, scalar_type Operands, class... X>
auto operation_of(X&&... x) {
  need_operation<What, Operands>();
  constexpr scalar_type shown = Operands == scalar_type::none ? scalar_type::float32 : Operands;  // no more errors
  return operation_on<What, shown, scalar_of<element_result(What, shown)>>(std::forward<X>(x)...);
}
template <operation What, class A>
auto unary(A&& a) {
  need_element_type<A>();
  return operation_of<What, operands_of(What, kind_of_operand<A>.type)>(std::forward<A>(a));
}
template <operation What, class A, class B>
auto binary(A&& a, B&& b) {
  need_element_type<A>(), need_element_type<B>();
  return operation_of<What, common_type_of<What, A, B>()>(std::forward<A>(a), std::forward<B>(b));
}
template <operation What, class A, class B, class C>
auto ternary(A&& a, B&& b, C&& c) {
  need_element_type<A>(), need_element_type<B>(), need_element_type<C>();
  constexpr operand_type two = promoted_operand(kind_of_operand<A>.typed(), kind_of_operand<B>.typed());
  return operation_of<What, operands_of(What, promoted(two, kind_of_operand<C>.typed()))>(
      std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}

// Why an assignment does not compile: the first reason that applies.
template <class To, class E>
constexpr void need_assignable() {
  using to = std::remove_reference_t<To>;
  constexpr operand_kind y = kind_of_operand<To>, e = kind_of_operand<E>;
  need_element_type<To>(), need_element_type<E>();
  static_assert(y.role == operand_role::array, "the destination of an assignment is an array or a view");
  if constexpr (y.role == operand_role::array) {
    static_assert(!std::is_const_v<to> && !std::is_const_v<typename to::element_type>,
                  "the destination of an assignment is const, or a view of const elements");
    static_assert(
        e.rank <= y.rank,
        "the expression has more dimensions than the destination, which is not stretched: assign to an array of its "
        "rank, or to ferry::device_array<T, rank> z(e)");
    static_assert(!is_complex(e.type) || is_complex(y.type),
                  "a complex expression is assigned to real elements: assign real(e), imag(e) or abs(e)");
    static_assert(y.type != scalar_type::boolean || e.type == scalar_type::boolean,
                  "numbers are assigned to bool elements: compare them, as in e != 0");
    static_assert(
        !is_integer(y.type) || !is_floating(e.type),
        "floating point numbers are assigned to integers: convert them by ferry::cast<int>(e), which rounds to zero, "
        "or ferry::cast<int>(ferry::round(e))");
  }
}

template <class To, class E>
assignment assignment_of(To& to, E& program) {
  return {operand_of(to), &program};
}

// Assigns e to `to`.
template <class To, class E>
void assign_one(const stream_ref* s, To& to, E&& e, source_line at = {}) {
  need_assignable<To&, E>();
  static_assert(!kind_of_operand<E>.is_spread || kind_of_operand<To>.is_spread,
                "elements of a sharded array are assigned to an array of one device: assign them to a sharded array, "
                "and copy that by ferry::copy");
  if constexpr (kind_of_operand<To>.is_spread) {
    to = std::forward<E>(e);
  } else if constexpr (!kind_of_operand<E>.is_spread) {
    const expression_program& p = program_of(std::forward<E>(e));
    assign_program(s, array_elements_of(to), p, at);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
