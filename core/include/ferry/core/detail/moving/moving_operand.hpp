// Operands of functions that move elements, and their results as expressions and views.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/detail/moving/moving_program.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/expression.hpp"

namespace ferry::inline FERRY_ABI {
struct pad_width;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

// An array or a view of any elements.
template <class T, std::size_t Rank, memory_kind Kind>
void accept_view(const array_view<T, Rank, Kind>&);
template <class A>
concept viewed_array = requires(const std::remove_cvref_t<A>& a) {
  accept_view(a);
};
template <class A>
inline constexpr bool is_array_operand = kind_of_operand<A>.role == operand_role::array;
template <class A>
inline constexpr bool is_index_operand = kind_of_operand<A>.is_operand();
// An array or a view of elements of expressions. Those of several devices have functions of their own.
template <class A>
concept moved_array = viewed_array<A> && is_array_operand<A>;
template <class A>
concept index_operand = is_index_operand<A>;
template <class A>
inline constexpr bool is_unevaluated =
    kind_of_operand<A>.role == operand_role::elements && !kind_of_operand<A>.is_spread;
// An expression, which has no memory whose elements could be moved.
template <class A>
concept unevaluated = is_unevaluated<A>;

template <class A>
using element_of_operand = scalar_of<kind_of_operand<A>.type>;

template <class I>
constexpr void need_indices() {
  need_element_type<I>();
  static_assert(is_integer(kind_of_operand<I>.type),
                "indices are integers: convert them by ferry::cast<std::int64_t>(i); masks select by ferry::compress");
}

void need_count(std::string_view function, std::size_t count, std::size_t rank);
void need_different_axes(std::string_view function, std::size_t a, std::size_t b);

// Reverses an axis of a view. first: number of elements from the array's first element to that of the view; it is
// updated.
template <std::size_t Rank>
void reverse_axis(std::size_t d, const extents<Rank>& e, strides<Rank>& s, std::ptrdiff_t& first) {
  if (e.count() != 0) first += s[d] * static_cast<std::ptrdiff_t>(e[d] - 1);
  s[d] = -s[d];
}
// Returns a view of elements of another view. They are const if the other view, or its array, is const.
template <class A, std::size_t Rank>
auto view_of(A&& v, std::ptrdiff_t first, const extents<Rank>& e, const strides<Rank>& s) {
  using array = std::remove_reference_t<A>;
  using element =
      std::conditional_t<std::is_const_v<array>, const typename array::element_type, typename array::element_type>;
  element* const data = v.unsynchronized_data();
  return array_view<element, Rank, array::kind>(v.owner(), first == 0 ? data : data + first, e, s);
}

template <class A, std::size_t Rank>
auto moved(std::string_view function, const A& a, moving_rule rule, const std::array<axis_move, Rank>& moves) {
  need_element_type<A>();
  static_assert(Rank > 0, "the array has no axis");
  return make_expression<kind_of_operand<A>.type, Rank>(moved_program(function, array_elements_of(a), rule, moves));
}

template <std::size_t Rank, class Widths>
std::array<axis_move, Rank> moves_of(std::string_view function, const Widths& widths) {
  std::array<axis_move, Rank> moves{};
  if (widths.size() != 1) need_count(function, widths.size(), Rank);
  for (std::size_t d = 0; d != Rank; ++d) {
    const auto& w = widths[widths.size() == 1 ? 0 : d];
    moves[d].before = static_cast<std::ptrdiff_t>(w.before), moves[d].after = w.after;
  }
  return moves;
}

// The arrays from element `begin` of the axis on, one behind the other; elements before are those of the first one.
template <std::size_t Rank, class A, class... More>
auto concatenated(std::size_t d, std::size_t all, std::size_t begin, const A& first, const More&... more) {
  std::array<axis_move, Rank> moves{};
  const std::size_t end = begin + first.extent(d);
  moves[d].before = static_cast<std::ptrdiff_t>(begin), moves[d].after = all - end;
  auto here = moved<A>("concatenate", first, moving_rule::part, moves);
  if constexpr (sizeof...(More) == 0)
    return here;
  else
    return where(
        make_expression<scalar_type::boolean, Rank>(below_program(Rank, d, all, static_cast<std::int64_t>(end))),
        std::move(here), concatenated<Rank>(d, all, end, more...));
}

// Of each array, the type of the selection among its elements and those of the arrays behind it.
template <class A, class... More>
constexpr auto types_of_joined() {
  std::array<scalar_type, 1 + sizeof...(More)> types{kind_of_operand<A>.type};
  if constexpr (sizeof...(More) != 0) {
    constexpr auto rest = types_of_joined<More...>();
    types[0] = common_type_of<operation::select, A, expression<scalar_of<rest[0]>, 0>>();
    for (std::size_t k = 0; k != rest.size(); ++k) types[k + 1] = rest[k];
  }
  return types;
}
// Returns the expression, with a list of the arrays that it joins.
template <std::size_t Rank, class E, class... A>
auto with_parts(std::size_t d, E&& e, const A&... arrays) {
  const array_elements from[] = {array_elements_of(arrays)...};
  expression_program p = std::move(e).program();
  note_parts(p, d, from, types_of_joined<A...>());
  return make_expression<kind_of_operand<E>.type, Rank>(std::move(p));
}

template <std::size_t Rank, class A, class... More>
auto stacked(std::size_t d, std::size_t all, std::size_t number, const A& first, const More&... more) {
  need_element_type<A>();
  expression_program p = array_program(array_elements_of(first));
  insert_axes(p, Rank - d, 1);
  p.shape.extent[Rank - d] = all;
  auto here = make_expression<kind_of_operand<A>.type, Rank + 1>(std::move(p));
  if constexpr (sizeof...(More) == 0)
    return here;
  else
    return where(make_expression<scalar_type::boolean, Rank + 1>(
                     below_program(Rank + 1, d, all, static_cast<std::int64_t>(number) + 1)),
                 std::move(here), stacked<Rank>(d, all, number + 1, more...));
}

}  // namespace ferry::inline FERRY_ABI::detail
