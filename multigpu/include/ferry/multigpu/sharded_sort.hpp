/// @file
/// Sorting of sharded arrays: `auto y = sort(u)`, `auto places = argsort(abs(u))`.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ferry/core/sort.hpp"
#include "ferry/multigpu/detail/sorting/sharded_sorting.hpp"
#include "ferry/multigpu/replicated_array.hpp"
#include "ferry/multigpu/sharded_expression.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

namespace detail {

template <class Y, class A>
void sort_shards(std::string_view name, Y& to, const A& a, int axis, sort_order order, bool are_positions) {
  constexpr operand_kind kind = kind_of_operand<A>;
  need_sortable<A>();
  const auto elements = lazy(a);
  sort_sharded({name, elements.program(), kind.type, axis, order == sort_order::descending, are_positions},
               *to.team_operand());
}

template <class T, class A>
auto make_sorted_shards(std::string_view name, const A& a, int axis, sort_order order, bool are_positions) {
  constexpr operand_kind kind = kind_of_operand<A>;
  need_sortable<A>();
  const auto elements = lazy(a);
  auto to = new_shards<T, kind.rank, kind_of_result<A>()>(elements);
  sort_shards(name, to, elements, axis, order, are_positions);
  return to;
}

// Why a call does not compile: the first that applies.
template <class Y, class A>
constexpr void need_sorted_like() {
  static_assert(kind_of_operand<Y>.rank == kind_of_operand<A>.rank,
                "the destination has the number of dimensions of the elements");
  static_assert(kind_of_operand<Y>.type == kind_of_operand<A>.type, "the destination has the type of the elements");
  need_assignable<Y&, A>();
}

}  // namespace detail

/// @addtogroup sharded_arrays
/// @{

/// The elements of a sharded array in order, as a new array of the same distribution, without halos. The order is that
/// of one device: NaN is last; -0 comes before 0.
///
/// One dimension is sorted by histogram sort (Kale and Krishnan, A comparison based parallel sorting algorithm, ICPP
/// 1993), with exact borders. Each member sorts its cells. Rounds of counts find the elements at the borders between
/// members: one round for each 8 bits of an element, and one more. Then the members exchange the elements, and sort
/// what they received. Of several dimensions, each member sorts its own lines, and nothing is exchanged.
///
/// Ordered on the streams of the team. Blocks until the members have sorted their cells and counted, which takes counts
/// to the CPU; the exchange and the second sort are submitted, and not waited for. Along axes that are not cut, and for
/// a team of one member, nothing blocks. All processes of the team must call it; they exchange elements as reshard()
/// does. Each member needs a temporary of the size of its shard besides the result, and the scratch memory of sorting
/// one shard.
/// @param a sharded array, or expression of some, of at least one dimension
/// @param axis each line along it is sorted; negative axes count from the last
/// @param order ascending or descending
/// @throws invalid_argument if there is no such axis; along an axis of distribution of several dimensions; in a
///   capture, where it blocks; if distributions of operands do not fit
/// @throws process_error if another process fails
template <class A>
requires detail::sharded_elements<A>
auto sort(const A& a, int axis = -1, sort_order order = sort_order::ascending) {
  return detail::make_sorted_shards<detail::scalar_of<detail::kind_of_operand<A>.type>>("sort", a, axis, order, false);
}

/// As sort(), to an array that exists. Its halos do not change.
/// @param to sharded array of the team, the shape and the distribution of the elements; may be `a`
/// @param a sharded array, or expression of some
/// @param axis each line along it is sorted; negative axes count from the last
/// @param order ascending or descending
/// @throws invalid_argument as sort(), and if the destination is distributed otherwise
template <class Y, class A>
requires(detail::sharded_destination<Y>&& detail::sharded_elements<A>) void sort_into(
    Y& to, const A& a, int axis = -1, sort_order order = sort_order::ascending) {
  detail::need_sorted_like<Y, A>();
  detail::sort_shards("sort_into", to, a, axis, order, false);
}

/// Sorts the elements of a sharded array, as sort(). Its halos do not change.
/// @param a sharded array
/// @param axis each line along it is sorted; negative axes count from the last
/// @param order ascending or descending
template <class Y>
requires detail::sharded_destination<Y>
void sort_in_place(Y& a, int axis = -1, sort_order order = sort_order::ascending) {
  detail::need_sorted_like<Y, Y>();
  detail::sort_shards("sort_in_place", a, a, axis, order, false);
}

/// Positions of the elements in order, in the whole array: element i of the sorted line is element argsort(a)[i] of the
/// line. Equal elements stay in the order of their positions; -0 and 0 are equal. By the algorithm of sort(), and
/// blocks as it does. Each member needs temporaries of two times its shard and of three times its positions besides the
/// result.
/// @param a sharded array, or expression of some, of at least one dimension
/// @param axis each line along it is sorted; negative axes count from the last
/// @param order ascending or descending; equal elements keep their order in both
/// @return std::int64_t, of the shape and the distribution of a
/// @throws invalid_argument as sort()
template <class A>
requires detail::sharded_elements<A>
auto argsort(const A& a, int axis = -1, sort_order order = sort_order::ascending) {
  return detail::make_sorted_shards<std::int64_t>("argsort", a, axis, order, true);
}

/// As argsort(), to an array that exists. Its halos do not change.
/// @param to sharded array of std::int64_t of the team, the shape and the distribution of the elements
/// @param a sharded array, or expression of some
/// @param axis each line along it is sorted; negative axes count from the last
/// @param order ascending or descending
template <class Y, class A>
requires(detail::sharded_destination<Y>&& detail::sharded_elements<A>) void argsort_into(
    Y& to, const A& a, int axis = -1, sort_order order = sort_order::ascending) {
  detail::need_sorted_like<Y, expression<std::int64_t, detail::kind_of_operand<A>.rank>>();
  detail::sort_shards("argsort_into", to, a, axis, order, true);
}

/// Results of top_k() of sharded arrays: every member has them.
template <class T>
struct replicated_top_elements {
  replicated_array<T, 1> values;
  replicated_array<std::int64_t, 1> positions;  ///< in the whole array
};

/// The k greatest elements of a sharded array of one dimension in descending order, and their positions. Of equal
/// elements the first ones are taken. NaN is taken after all numbers. Each member finds k of its own elements, receives
/// those of all members, and finds k among them. Ordered on the streams of the team. Does not block, except as
/// collectives do. Each member needs temporaries for k elements of each member.
/// @param a sharded array, or expression of some
/// @param k number of elements
/// @param axis 0 or -1
/// @param order ascending: the least elements, in ascending order
/// @throws invalid_argument if k is above the number of elements, and if distributions of operands do not fit
template <class A>
requires detail::sharded_elements<A>
auto top_k(const A& a, std::size_t k, int axis = -1, sort_order order = sort_order::descending) {
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  using T = detail::scalar_of<kind.type>;
  detail::need_sortable<A>();
  static_assert(kind.rank == 1, "top_k of sharded arrays takes one dimension: sort lines of several, and slice them");
  const auto elements = lazy(a);
  const team& t = detail::team_of(elements.program());
  replicated_top_elements<T> top{replicated_array<T, 1>(t, {k}), replicated_array<std::int64_t, 1>(t, {k})};
  std::vector<detail::program_operand> values, positions;
  for (const auto& c : top.values.copies()) values.push_back(detail::operand_of(c));
  for (const auto& c : top.positions.copies()) positions.push_back(detail::operand_of(c));
  detail::find_top_elements({"top_k", elements.program(), kind.type, axis, order == sort_order::descending, true}, k,
                            values, positions);
  return top;
}

/// The different elements of a sharded array of one dimension, in ascending order: a new array, whose parts have equal
/// sizes again. -0 is 0, and all NaN are one. Sorts as sort(), and blocks until the number of results is known.
/// @param a sharded array, or expression of some
/// @throws invalid_argument as sort()
template <class A>
requires detail::sharded_elements<A>
auto unique(const A& a) {
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  using T = detail::scalar_of<kind.type>;
  static_assert(kind.rank == 1, "unique of sharded arrays takes one dimension");
  const auto sorted = detail::make_sorted_shards<T>("unique", a, 0, sort_order::ascending, false);
  const detail::distinct_elements all = detail::find_distinct_elements(*sorted.team_operand());
  sharded_array<T, 1, detail::kind_of_result<A>()> to(sorted.team(), {all.count});
  detail::store_distinct_elements(all, *to.team_operand());
  return to;
}

/// For each value, the number of elements of `sorted` that are less: where the value can be inserted. Each member
/// searches for its values in all elements: nothing is exchanged. Does not block.
/// @param sorted elements in ascending order, of one dimension: a replicated array, or an array of one device whose
///   memory all members reach, or an expression of these
/// @param values sharded array, or expression of some; compared in the common type of both
/// @param side right: the number of elements that are less or equal
/// @return std::int64_t, of the shape and the distribution of values
/// @throws invalid_argument if `sorted` is distributed, or distributions of operands do not fit
template <class A, class V>
requires(detail::kind_of_operand<A>.has_elements() && detail::sharded_elements<V>)  //
    auto searchsorted(const A& sorted, const V& values, search_side side = search_side::left) {
  constexpr detail::operand_kind a = detail::kind_of_operand<A>, v = detail::kind_of_operand<V>;
  static_assert(a.rank == 1, "searchsorted(sorted, values): `sorted` has one dimension");
  detail::need_sortable<A>(), detail::need_sortable<V>();
  constexpr detail::scalar_type common = a.type == v.type ? a.type : detail::promoted(a.typed(), v.typed());
  const auto from = lazy(sorted);
  const auto wanted = lazy(values);
  auto to = detail::new_shards<std::int64_t, v.rank, detail::kind_of_result<V>()>(wanted);
  detail::search_sharded(from.program(), wanted.program(), common, side == search_side::right, *to.team_operand());
  return to;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
