/// @file
/// Moving elements: gathers at computed indices, and arrays that are joined, shifted and padded.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <tuple>
#include <utility>

#include "ferry/core/detail/moving/moving_operand.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/core/math.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// Numbers of elements that pad() adds before and behind the elements of an axis.
struct pad_width {
  std::size_t before = 0, after = 0;
};
/// The elements that pad() adds around an array.
enum class pad_mode : std::uint8_t {
  edge,      ///< the nearest element
  wrap,      ///< the array, periodically
  reflect,   ///< its mirror image at the outermost elements, which occur once
  symmetric  ///< its mirror image at the edges: the outermost elements occur twice
};
/// The axis of meshgrid() along which the first array varies: the second one, as for plots, or the first one.
enum class mesh_order : std::uint8_t { xy, ij };

/// Returns the elements at indices along an axis, as an expression: element (i, j, k) is a(i, indices(j), k) for axis 1
/// of three. The dimensions of the indices replace the axis. Takes no memory; reads the elements when it is evaluated.
///
/// Negative indices count from the end. Others outside of the axis are device errors on simulated devices, and on CUDA
/// devices in debug builds and with FERRY_CHECK=on. Otherwise CUDA devices take the nearest element.
/// @param a array or view
/// @param indices of integers: array, view, expression or number
/// @param axis negative axes count from the last
/// @return expression of the elements' type, of the rank of a - 1 + that of the indices
/// @throws invalid_argument if there is no such axis, or if elements are to be taken from an axis of extent 0
template <class A, class I>
requires(detail::moved_array<A>&& detail::index_operand<I>) auto take(A&& a, I&& indices, int axis = 0) {
  using namespace detail;
  constexpr operand_kind from = kind_of_operand<A>, at = kind_of_operand<I>;
  need_indices<I>(), need_element_type<A>();
  static_assert(from.rank > 0, "take(a, indices, axis): `a` has no axis");
  static_assert(from.rank + at.rank <= max_rank + 1, "take(a, indices, axis): the result has too many dimensions");
  const std::size_t dimension = dimension_of("take", axis, from.rank);
  return make_expression<from.type, from.rank - 1 + at.rank>(
      take_program(array_elements_of(a), dimension, program_of(std::forward<I>(indices))));
}
/// Returns the elements at one index for each dimension, as an expression: NumPy's a[i, j]. The shapes of the indices
/// broadcast, and are the shape of the result. Indices outside are treated as by take().
/// @param a array or view
/// @param indices of integers, as many as a has dimensions: arrays, views, expressions or numbers
/// @throws invalid_argument if the indices do not broadcast, or if a has no elements
template <class A, class... I>
requires(detail::moved_array<A> && sizeof...(I) != 0 && (detail::index_operand<I> && ...)) auto gather(A&& a,
                                                                                                       I&&... indices) {
  using namespace detail;
  static_assert(kind_of_operand<A>.rank == sizeof...(I),
                "gather(a, i, j...): one index for each dimension of `a`; take(a, i, axis) leaves the others");
  (need_indices<I>(), ...), need_element_type<A>();
  expression_program at[] = {expression_program(program_of(std::forward<I>(indices)))...};
  return make_expression<kind_of_operand<A>.type, common_rank<I...>>(gather_program(array_elements_of(a), at));
}

/// Returns one element for each index, as an expression. The indices have as many dimensions as `a`: for axis 1 of two,
/// element (i, j) is a(i, indices(i, j)). NumPy's take_along_axis: applies the results of argsort(a, axis), and of
/// argmin() and argmax() with kept dimensions. Indices outside are treated as by take().
/// @param a array or view
/// @param indices of integers, of as many dimensions as a: array, view or expression. Other dimensions than the axis
///   broadcast with those of a
/// @param axis negative axes count from the last
/// @return expression of the elements' type
/// @throws invalid_argument if there is no such axis, if other dimensions do not broadcast, or if an axis of extent 0
///   has no element to take
template <class A, class I>
requires(detail::moved_array<A>&& detail::index_operand<I>) auto take_along_axis(A&& a, I&& indices, int axis = -1) {
  using namespace detail;
  constexpr operand_kind from = kind_of_operand<A>;
  need_indices<I>(), need_element_type<A>();
  static_assert(from.rank > 0 && kind_of_operand<I>.rank == from.rank,
                "take_along_axis(a, indices, axis): `indices` has as many dimensions as `a`, at least one; "
                "ferry::take(a, indices, axis) takes whole slices");
  const std::size_t dimension = dimension_of("take_along_axis", axis, from.rank);
  return make_expression<from.type, from.rank>(
      take_along_program(array_elements_of(a), dimension, program_of(std::forward<I>(indices))));
}

/// Returns the elements moved along an axis, as an expression: element i becomes element i + shift, modulo the extent.
/// @param a array or view
/// @param shift may be negative
/// @param axis negative axes count from the last
/// @throws invalid_argument if there is no such axis
template <class A>
requires detail::moved_array<A>
auto roll(A&& a, std::ptrdiff_t shift, int axis = -1) {
  using namespace detail;
  std::array<axis_move, kind_of_operand<A>.rank> moves{};
  moves[dimension_of("roll", axis, moves.size())].before = shift;
  return moved<A>("roll", a, moving_rule::roll, moves);
}

/// Returns each element several times, one after the other along an axis, as an expression: 1 1 2 2 of 1 2.
/// @param a array or view
/// @param times how often
/// @param axis negative axes count from the last
/// @throws invalid_argument if there is no such axis
template <class A>
requires detail::moved_array<A>
auto repeat(A&& a, std::size_t times, int axis = -1) {
  using namespace detail;
  std::array<axis_move, kind_of_operand<A>.rank> moves{};
  moves[dimension_of("repeat", axis, moves.size())].times = times;
  return moved<A>("repeat", a, moving_rule::repeat, moves);
}

/// Returns the whole array several times along its axes, as an expression: 1 2 1 2 of 1 2. NumPy's tile, for as many
/// axes as the array has.
/// @param a array or view
/// @param times how often along each axis
/// @throws invalid_argument unless there is one number for each axis
template <class A>
requires detail::moved_array<A>
auto tiled(A&& a, std::initializer_list<std::size_t> times) {
  using namespace detail;
  std::array<axis_move, kind_of_operand<A>.rank> moves{};
  need_count("tiled", times.size(), moves.size());
  std::size_t d = 0;
  for (const std::size_t n : times) moves[d++].times = n;
  return moved<A>("tiled", a, moving_rule::tile, moves);
}

/// Returns the array with further elements around it, all of one value, as an expression.
/// @param a array or view
/// @param widths for each axis, or one for all axes
/// @param value of the further elements
/// @throws invalid_argument for another number of widths
template <class A>
requires detail::moved_array<A>
auto pad(A&& a, std::initializer_list<pad_width> widths, detail::element_of_operand<A> value) {
  using namespace detail;
  const auto moves =
      moves_of<kind_of_operand<A>.rank>("pad", std::span<const pad_width>(widths.begin(), widths.size()));
  const array_elements from = array_elements_of(a);
  return where(make_expression<scalar_type::boolean, kind_of_operand<A>.rank>(inside_program(from, moves)),
               moved<A>("pad", a, moving_rule::part, moves), value);
}
/// Returns the array with further elements around it that are copies of its own, as an expression.
/// @param a array or view
/// @param widths for each axis, or one for all axes
/// @param mode which elements
/// @throws invalid_argument for another number of widths, and if there are no elements to copy
template <class A>
requires detail::moved_array<A>
auto pad(A&& a, std::initializer_list<pad_width> widths, pad_mode mode) {
  using namespace detail;
  constexpr moving_rule rules[] = {moving_rule::clamp, moving_rule::wrap, moving_rule::reflect, moving_rule::symmetric};
  return moved<A>("pad", a, rules[static_cast<int>(mode)],
                  moves_of<kind_of_operand<A>.rank>("pad", std::span<const pad_width>(widths.begin(), widths.size())));
}

/// Joins arrays along an axis, one behind the other, as an expression of their common type. An assignment of this
/// expression copies one array after the other, with a submission each. In a larger expression each element is selected
/// from all arrays.
/// @param axis negative axes count from the last
/// @param first, more arrays or views of one rank
/// @throws invalid_argument if there is no such axis, or if the extents along other axes differ
template <class A, class... More>
requires(detail::moved_array<A> && (detail::moved_array<More> && ...)) auto concatenate(int axis, A&& first,
                                                                                        More&&... more) {
  using namespace detail;
  constexpr std::size_t rank = kind_of_operand<A>.rank;
  static_assert(rank > 0 && ((kind_of_operand<More>.rank == rank) && ...),
                "concatenate(axis, a, b...): all have the same number of dimensions, at least one");
  const std::size_t d = dimension_of("concatenate", axis, rank);
  (need_equal_shapes("concatenate", array_elements_of(first), array_elements_of(more), d), ...);
  const std::size_t all = (first.extent(d) + ... + more.extent(d));
  return with_parts<rank>(d, concatenated<rank>(d, all, 0, first, more...), first, more...);
}

/// Joins arrays along a new axis, as an expression of their common type.
/// @param axis of the result; negative axes count from its last
/// @param first, more arrays or views of one shape
/// @throws invalid_argument if there is no such axis, or if shapes differ
template <class A, class... More>
requires(detail::moved_array<A> && (detail::moved_array<More> && ...)) auto stack(int axis, A&& first, More&&... more) {
  using namespace detail;
  constexpr std::size_t rank = kind_of_operand<A>.rank;
  static_assert(((kind_of_operand<More>.rank == rank) && ...),
                "stack(axis, a, b...): all have the same number of dimensions");
  static_assert(rank < max_rank, "stack(axis, a, b...): the result has too many dimensions");
  const std::size_t d = dimension_of("stack", axis, rank + 1);
  (need_equal_shapes("stack", array_elements_of(first), array_elements_of(more), max_rank), ...);
  return with_parts<rank + 1>(d, stacked<rank>(d, 1 + sizeof...(More), 0, first, more...), first, more...);
}

/// Returns the view with an axis, or all axes, in reverse order. Takes no memory.
/// @param v array or view
/// @param axis negative axes count from the last
/// @throws invalid_argument if there is no such axis
template <class A>
requires detail::viewed_array<A>
auto flip(A&& v, int axis) {
  using namespace detail;
  auto e = v.extents();
  auto s = v.strides();
  std::ptrdiff_t first = 0;
  reverse_axis(dimension_of("flip", axis, e.rank), e, s, first);
  return view_of(std::forward<A>(v), first, e, s);
}
/// @overload
template <class A>
requires detail::viewed_array<A>
auto flip(A&& v) {
  using namespace detail;
  auto e = v.extents();
  auto s = v.strides();
  std::ptrdiff_t first = 0;
  for (std::size_t d = 0; d != e.rank; ++d) reverse_axis(d, e, s, first);
  return view_of(std::forward<A>(v), first, e, s);
}

/// Returns the view turned by 90 degrees in a plane, from one axis towards another. Takes no memory.
/// @param v array or view of at least two dimensions
/// @param times how often; may be negative
/// @param from, towards different axes; negative axes count from the last
/// @throws invalid_argument if there are no such axes, or if they are equal
template <class A>
requires detail::viewed_array<A>
auto rot90(A&& v, int times = 1, int from = 0, int towards = 1) {
  using namespace detail;
  static_assert(kind_of_operand<A>.rank > 1 || std::remove_cvref_t<A>::rank > 1, "rot90(v): `v` has two dimensions");
  auto e = v.extents();
  auto s = v.strides();
  const std::size_t a = dimension_of("rot90", from, e.rank), b = dimension_of("rot90", towards, e.rank);
  need_different_axes("rot90", a, b);
  std::ptrdiff_t first = 0;
  const int turns = (times % 4 + 4) % 4;
  if (turns == 1 || turns == 2) reverse_axis(b, e, s, first);
  if (turns == 2 || turns == 3) reverse_axis(a, e, s, first);
  if (turns % 2 == 1) std::swap(e[a], e[b]), std::swap(s[a], s[b]);
  return view_of(std::forward<A>(v), first, e, s);
}

/// Returns views of coordinates, one for each array, all of the shape of the grid: element (i, j) of the first is x(j),
/// that of the second y(i), or with mesh_order::ij x(i) and y(j). Takes no memory: elements repeat.
/// @param order axis along which the first array varies: the second one, as in NumPy by default, or the first one
/// @param x one to six arrays or views of one dimension
/// @return tuple of read-only views
template <class... A>
requires(detail::viewed_array<A>&&...) auto meshgrid(mesh_order order, A&&... x) {
  constexpr std::size_t rank = sizeof...(A);
  static_assert(rank > 0 && rank <= max_rank, "meshgrid(order, x, y...): one to six arrays");
  static_assert(((std::remove_cvref_t<A>::rank == 1) && ...), "meshgrid(order, x, y...): arrays of one dimension");
  const auto axis_of = [&](std::size_t k) { return order == mesh_order::xy && rank > 1 && k < 2 ? 1 - k : k; };
  ferry::extents<rank> e;
  std::size_t k = 0;
  ((e[axis_of(k++)] = x.extent(0)), ...);
  k = 0;
  const auto one = [&](const auto& v) {
    ferry::strides<rank> s{};
    s[axis_of(k++)] = v.strides()[0];
    return detail::view_of(v, 0, e, s);
  };
  return std::tuple{one(x)...};
}
/// As above, in NumPy's default order.
template <class A, class... More>
requires(detail::viewed_array<A> && (detail::viewed_array<More> && ...)) auto meshgrid(A&& x, More&&... more) {
  return meshgrid(mesh_order::xy, std::forward<A>(x), std::forward<More>(more)...);
}

// Compilers quote the lines of deleted functions, so they state the remedy.
template <detail::unevaluated E, class... More>
void take(E&&, More&&...) = delete;  // evaluate the expression first: take(evaluate(e), indices, axis)
template <detail::unevaluated E, class... More>
void gather(E&&, More&&...) = delete;  // evaluate the expression first: gather(evaluate(e), i, j)
template <detail::unevaluated E, class... More>
void take_along_axis(E&&, More&&...) = delete;  // evaluate the expression first: take_along_axis(evaluate(e), i)
template <detail::unevaluated E, class... More>
void roll(E&&, More&&...) = delete;  // evaluate the expression first: roll(evaluate(e), shift, axis)
template <detail::unevaluated E, class... More>
void repeat(E&&, More&&...) = delete;  // evaluate the expression first: repeat(evaluate(e), times, axis)
template <detail::unevaluated E>
void tiled(E&&, std::initializer_list<std::size_t>) = delete;  // evaluate the expression first: evaluate(e)
template <detail::unevaluated E, class V>
void pad(E&&, std::initializer_list<pad_width>, V&&) = delete;  // evaluate the expression first: evaluate(e)
template <class... E>
requires((... || detail::unevaluated<E>))    //
    void concatenate(int, E&&...) = delete;  // evaluate the expression first: concatenate(axis, evaluate(e), ...)
template <class... E>
requires((... || detail::unevaluated<E>))  //
    void stack(int, E&&...) = delete;      // evaluate the expression first: stack(axis, evaluate(e), ...)
template <detail::unevaluated E, class... More>
void flip(E&&, More&&...) = delete;  // evaluate the expression first: flip(evaluate(e), axis)
template <detail::unevaluated E, class... More>
void rot90(E&&, More&&...) = delete;  // evaluate the expression first: rot90(evaluate(e))

/// @}

}  // namespace ferry::inline FERRY_ABI
