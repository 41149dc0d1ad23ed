/// @file
/// Sorting and related functions: positions, different elements, the greatest elements, searches.
#pragma once
#include <cstdint>
#include <utility>

#include "ferry/core/detail/sorting/sorting_operand.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// Direction of an order. NaN is last in both.
enum class sort_order : std::uint8_t { ascending, descending };
/// The position that searchsorted() returns among equal elements: before them, or behind them.
enum class search_side : std::uint8_t { left, right };

/// Results of top_k().
template <class T, std::size_t Rank, memory_kind Kind>
struct top_elements {
  basic_array<T, Rank, Kind> values;
  basic_array<std::int64_t, Rank, Kind> positions;  ///< indices along the axis
};
/// Results of unique_counts().
template <class T, memory_kind Kind>
struct counted_elements {
  basic_array<T, 1, Kind> values;
  basic_array<std::int64_t, 1, Kind> counts;  ///< how often each value occurs
};
/// Results of unique_inverse().
template <class T, std::size_t Rank, memory_kind Kind>
struct indexed_elements {
  basic_array<T, 1, Kind> values;
  basic_array<std::int64_t, Rank, Kind> inverse;  ///< position in `values` of each element
};

namespace detail {

template <class Y>
void sort_to(const stream_ref* s, Y& to, expression_program p, int axis, sort_order order, source_line at) {
  const program_operand values = operand_of(to);
  sorting_request r;
  r.name = "sort", r.type = values.type, r.axis = axis, r.is_descending = order == sort_order::descending;
  r.from = &p, r.values = &values;
  submit_sorting(s, r, at);
}

template <class A>
auto make_positions(std::string_view name, A&& a, int axis, sort_order order, const std::size_t* k, bool with_values) {
  constexpr operand_kind kind = kind_of_operand<A>;
  need_sortable<A>();
  expression_program p = program_of(std::forward<A>(a));
  extents<kind.rank> e = extents_of<kind.rank>(p.shape);
  if (const std::size_t d = sorted_axis(name, axis, kind.rank); k) need_top(*k, e[d]), e[d] = *k;
  const device home = home_of(p);
  top_elements<scalar_of<kind.type>, kind.rank, kind_of_result<A>()> top{
      sorted_array<A>(with_values ? e : extents<kind.rank>(), home), position_array<A>(e, home)};
  const program_operand values = operand_of(top.values), positions = operand_of(top.positions);
  sorting_request r;
  r.name = name, r.kind = sorting_kind::order, r.type = kind.type, r.axis = axis;
  r.is_descending = order == sort_order::descending;
  r.from = &p, r.positions = &positions;
  if (with_values) r.values = &values;
  submit_sorting(nullptr, r, {});
  return top;
}

// counts, inverse: null if they are not wanted.
template <class Y>
scalar<std::uint64_t> find_unique(Y& to, expression_program& p, const program_operand* counts,
                                  const program_operand* inverse) {
  scalar<std::uint64_t> n(to.device());
  const program_operand values = operand_of(to), found = operand_of(n.as_array());
  sorting_request r;
  r.name = "unique", r.kind = sorting_kind::unique, r.type = values.type;
  r.from = &p, r.values = &values, r.counts = counts, r.inverse = inverse, r.found = &found;
  submit_sorting(nullptr, r, {});
  return n;
}

// values or positions may be null.
inline scalar<std::uint64_t> select(std::string_view name, device home, expression_program mask,
                                    const program_operand* positions, const program_operand* values,
                                    expression_program* elements) {
  scalar<std::uint64_t> n(home);
  const program_operand found = operand_of(n.as_array());
  sorting_request r;
  r.name = name, r.kind = sorting_kind::select, r.type = values ? values->type : scalar_type::boolean;
  r.from = &mask, r.other = elements, r.values = values, r.positions = positions, r.found = &found;
  submit_sorting(nullptr, r, {});
  return n;
}

// Checks a destination for elements of A.
template <class Y, class A>
constexpr void need_list_of() {
  static_assert(kind_of_operand<Y>.rank == 1, "the destination has one dimension");
  static_assert(kind_of_operand<Y>.type == kind_of_operand<A>.type, "the destination has the type of the elements");
  need_assignable<Y&, expression<scalar_of<kind_of_operand<A>.type>, 1>>();
}

}  // namespace detail

/// Returns the elements in order along an axis, as a new array in memory of the same kind. NaN is last; -0 comes before
/// 0. Ordered on the calling thread's stream of the array's device. Does not block.
/// @param a array, view or expression of at least one dimension
/// @param axis each line along it is sorted; negative axes count from the last
/// @param order ascending or descending
/// @throws invalid_argument if there is no such axis, and during a submission
/// @throws use_after_free if the array was freed
template <class A>
requires detail::sortable<A>
auto sort(A&& a, int axis = -1, sort_order order = sort_order::ascending) {
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  detail::need_sortable<A>();
  detail::expression_program p = detail::program_of(std::forward<A>(a));
  detail::sorted_array<A> result(detail::extents_of<kind.rank>(p.shape), detail::home_of(p));
  detail::sort_to(nullptr, result, std::move(p), axis, order, {});
  return result;
}

/// Sorts the elements of an array or view, as sort(). Does not block.
/// @param a array or view
/// @param axis each line along it is sorted; negative axes count from the last
/// @param order ascending or descending
template <class Y>
requires(detail::sorted_destination<Y>&& detail::sortable<Y>) void sort_in_place(
    Y&& a, int axis = -1, sort_order order = sort_order::ascending) {
  detail::need_sortable<Y>(), detail::need_assignable<Y&, detail::expression_like<Y>>();
  detail::sort_to(nullptr, a, detail::program_of(a), axis, order, {});
}
/// As above, on a stream.
template <class Y>
requires(detail::sorted_destination<Y>&& detail::sortable<Y>) void sort_in_place(
    located<stream_ref> s, Y&& a, int axis = -1, sort_order order = sort_order::ascending) {
  detail::need_sortable<Y>(), detail::need_assignable<Y&, detail::expression_like<Y>>();
  detail::sort_to(&s.value, a, detail::program_of(a), axis, order, s.at);
}

/// Returns the positions of the elements in order: element i of the sorted line is element argsort(a)[i] of the line.
/// Equal elements stay in the order of their positions; -0 and 0 are equal. Does not block.
/// @param a array, view or expression of at least one dimension
/// @param axis each line along it is sorted; negative axes count from the last
/// @param order ascending or descending; equal elements stay in the order of their positions in both
/// @return std::int64_t, of the shape of a
template <class A>
requires detail::sortable<A>
auto argsort(A&& a, int axis = -1, sort_order order = sort_order::ascending) {
  return detail::make_positions("argsort", std::forward<A>(a), axis, order, nullptr, false).positions;
}

/// Returns the k greatest elements along an axis in descending order, and their positions. Of equal elements the first
/// ones are taken. NaN is taken after all numbers. Does not block.
/// @param a array, view or expression of at least one dimension
/// @param k number of elements of each line
/// @param axis negative axes count from the last
/// @param order ascending: the least elements, in ascending order
/// @throws invalid_argument if k is above the extent of the axis
template <class A>
requires detail::sortable<A>
auto top_k(A&& a, std::size_t k, int axis = -1, sort_order order = sort_order::descending) {
  return detail::make_positions("top_k", std::forward<A>(a), axis, order, &k, true);
}

/// Returns the elements with each line along the axis partly sorted, as a new array. Element k of a line is the one
/// that it would be in the sorted line. No element before it is greater, and none behind it is less. Does not block.
/// @param a array, view or expression of at least one dimension
/// @param k index along the axis
/// @param axis negative axes count from the last
/// @throws invalid_argument if k is not below the extent of the axis
/// @note The order of the other elements differs between backends: CUDA devices sort.
template <class A>
requires detail::sortable<A>
auto partition(A&& a, std::size_t k, int axis = -1) {
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  detail::need_sortable<A>();
  detail::expression_program p = detail::program_of(std::forward<A>(a));
  detail::sorted_array<A> result(detail::extents_of<kind.rank>(p.shape), detail::home_of(p));
  const detail::program_operand values = detail::operand_of(result);
  detail::sorting_request r;
  r.name = "partition", r.kind = detail::sorting_kind::partition, r.type = kind.type, r.axis = axis, r.kept = k;
  r.from = &p, r.values = &values;
  detail::submit_sorting(nullptr, r, {});
  return result;
}

/// Returns the different elements of an array of any shape, in ascending order. -0 is 0, and all NaN are one. Blocks
/// until their number is known, because the result has that size.
/// @param a array, view or expression of at least one dimension
template <class A>
requires detail::sortable<A>
auto unique(A&& a) {
  detail::need_sortable<A>();
  detail::expression_program p = detail::program_of(std::forward<A>(a));
  detail::sorted_array<A, 1> all({detail::extents_of<detail::kind_of_operand<A>.rank>(p.shape).count()},
                                 detail::home_of(p));
  const std::size_t n = detail::find_unique(all, p, nullptr, nullptr);
  return detail::first_elements(std::move(all), n);
}
/// As unique(), to memory that exists. Does not block. Elements beyond the destination's size are left out; elements
/// behind the last result keep their values.
/// @param to array or view of one dimension, with elements of the type of a
/// @param a array, view or expression of at least one dimension
/// @return the number of different elements, also of those that are left out
template <class Y, class A>
requires(detail::sorted_destination<Y>&& detail::sortable<A>) scalar<std::uint64_t> unique_into(Y&& to, A&& a) {
  detail::need_sortable<A>(), detail::need_list_of<Y, A>();
  detail::expression_program p = detail::program_of(std::forward<A>(a));
  return detail::find_unique(to, p, nullptr, nullptr);
}
/// Returns the different elements, and how often each occurs. Blocks as unique().
template <class A>
requires detail::sortable<A>
auto unique_counts(A&& a) {
  detail::need_sortable<A>();
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  detail::expression_program p = detail::program_of(std::forward<A>(a));
  const extents<1> most{detail::extents_of<kind.rank>(p.shape).count()};
  counted_elements<detail::scalar_of<kind.type>, detail::kind_of_result<A>()> all{
      detail::sorted_array<A, 1>(most, detail::home_of(p)), detail::position_array<A, 1>(most, detail::home_of(p))};
  const detail::program_operand counts = detail::operand_of(all.counts);
  const std::size_t n = detail::find_unique(all.values, p, &counts, nullptr);
  all.values = detail::first_elements(std::move(all.values), n);
  all.counts = detail::first_elements(std::move(all.counts), n);
  return all;
}
/// Returns the different elements, and for each element of `a` its position among them, in the shape of `a`. Blocks as
/// unique().
template <class A>
requires detail::sortable<A>
auto unique_inverse(A&& a) {
  detail::need_sortable<A>();
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  detail::expression_program p = detail::program_of(std::forward<A>(a));
  const extents<kind.rank> e = detail::extents_of<kind.rank>(p.shape);
  indexed_elements<detail::scalar_of<kind.type>, kind.rank, detail::kind_of_result<A>()> all{
      detail::sorted_array<A, 1>({e.count()}, detail::home_of(p)), detail::position_array<A>(e, detail::home_of(p))};
  const detail::program_operand inverse = detail::operand_of(all.inverse);
  const std::size_t n = detail::find_unique(all.values, p, nullptr, &inverse);
  all.values = detail::first_elements(std::move(all.values), n);
  return all;
}

/// Returns, for each value, the number of elements of `sorted` that are less: the position at which the value can be
/// inserted. The elements must be in ascending order, as of sort(); otherwise results are undefined numbers from 0 to
/// the number of elements. Does not block.
/// @param sorted array, view or expression of one dimension
/// @param values array, view or expression; compared in the common type of both
/// @param side right: the number of elements that are less or equal
/// @return std::int64_t, of the shape of values
template <class A, class V>
requires(detail::sortable<A>&& detail::sortable<V>) auto searchsorted(A&& sorted, V&& values,
                                                                      search_side side = search_side::left) {
  using namespace detail;
  constexpr operand_kind a = kind_of_operand<A>, v = kind_of_operand<V>;
  static_assert(a.rank == 1, "searchsorted(sorted, values): `sorted` has one dimension");
  need_sortable<A>(), need_sortable<V>();
  constexpr scalar_type common = a.type == v.type ? a.type : promoted(a.typed(), v.typed());
  expression_program from = program_of(std::forward<A>(sorted)), wanted = program_of(std::forward<V>(values));
  position_array<V> result(extents_of<v.rank>(wanted.shape), home_of(wanted));
  const program_operand positions = operand_of(result);
  sorting_request r;
  r.name = "searchsorted", r.kind = sorting_kind::search, r.type = common, r.from = &from, r.other = &wanted;
  r.is_after_equal = side == search_side::right, r.positions = &positions;
  submit_sorting(nullptr, r, {});
  return result;
}

/// Returns the elements where a mask is true, in row-major order: NumPy's a[mask]. Blocks until their number is known,
/// because the result has that size.
/// @param mask array, view or expression of bool
/// @param a array, view or expression of the same shape
/// @throws invalid_argument if the shapes differ
template <class M, class A>
requires(detail::sortable<M>&& detail::sortable<A>) auto compress(M&& mask, A&& a) {
  using namespace detail;
  static_assert(kind_of_operand<M>.rank == kind_of_operand<A>.rank, "compress(mask, a): both have the same shape");
  need_element_type<A>(), need_mask<M>();
  expression_program p = program_of(std::forward<A>(a));
  sorted_array<A, 1> all({extents_of<kind_of_operand<A>.rank>(p.shape).count()}, home_of(p));
  const program_operand values = operand_of(all);
  const std::size_t n =
      detail::select("compress", all.device(), program_of(std::forward<M>(mask)), nullptr, &values, &p);
  return first_elements(std::move(all), n);
}
/// As compress(), to memory that exists. Does not block. Elements beyond the destination's size are left out; elements
/// behind the last result keep their values.
/// @param to array or view of one dimension, with elements of the type of a
/// @param mask array, view or expression of bool
/// @param a array, view or expression of the same shape
/// @return the number of elements for which the mask is true, also of those that are left out
template <class Y, class M, class A>
requires(detail::sorted_destination<Y>&& detail::sortable<M>&& detail::sortable<A>)  //
    scalar<std::uint64_t> compress_into(Y&& to, M&& mask, A&& a) {
  static_assert(detail::kind_of_operand<M>.rank == detail::kind_of_operand<A>.rank,
                "compress_into(to, mask, a): the mask and the elements have the same shape");
  detail::need_element_type<A>(), detail::need_mask<M>(), detail::need_list_of<Y, A>();
  detail::expression_program p = detail::program_of(std::forward<A>(a));
  const detail::program_operand values = detail::operand_of(to);
  return detail::select("compress_into", to.device(), detail::program_of(std::forward<M>(mask)), nullptr, &values, &p);
}

/// Returns the positions at which a mask is true, in ascending order: the number of elements before each in row-major
/// order. Blocks as compress().
/// @param mask array, view or expression of bool: compare, as in a != 0
/// @return std::int64_t
template <class M>
requires detail::sortable<M>
auto flatnonzero(M&& mask) {
  using namespace detail;
  need_mask<M>();
  expression_program p = program_of(std::forward<M>(mask));
  position_array<M, 1> all({extents_of<kind_of_operand<M>.rank>(p.shape).count()}, home_of(p));
  const program_operand positions = operand_of(all);
  const std::size_t n = detail::select("flatnonzero", all.device(), std::move(p), &positions, nullptr, nullptr);
  return first_elements(std::move(all), n);
}
/// As flatnonzero(), to memory that exists. Does not block. Positions beyond the destination's size are left out.
/// @param to array or view of one dimension of std::int64_t
/// @param mask array, view or expression of bool
/// @return the number of positions, also of those that are left out
template <class Y, class M>
requires(detail::sorted_destination<Y>&& detail::sortable<M>) scalar<std::uint64_t> flatnonzero_into(Y&& to, M&& mask) {
  detail::need_mask<M>(), detail::need_list_of<Y, expression<std::int64_t, 1>>();
  const detail::program_operand positions = detail::operand_of(to);
  return detail::select("flatnonzero_into", to.device(), detail::program_of(std::forward<M>(mask)), &positions, nullptr,
                        nullptr);
}
/// Indices at which a mask is true, in row-major order: one row for each, one column for each dimension. Blocks as
/// compress().
/// @param mask array, view or expression of bool
/// @return std::int64_t
template <class M>
requires detail::sortable<M>
auto argwhere(M&& mask) {
  constexpr detail::operand_kind kind = detail::kind_of_operand<M>;
  constexpr std::size_t rank = kind.rank;
  detail::need_mask<M>();
  expression<bool, rank> all(detail::program_of(std::forward<M>(mask)));
  const extents<rank> e = all.extents();
  const auto flat = flatnonzero(std::move(all));
  detail::position_array<M, 2> result({flat.size(), rank}, flat.device());
  std::int64_t after = 1;
  for (std::size_t d = rank; d-- > 0;) {
    const auto extent = static_cast<std::int64_t>(e[d]);
    auto column = result.slice({all_of, {d, d + 1}});
    assign(column, new_axis(flat, 1) / after % extent);
    after *= extent;
  }
  return result;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
