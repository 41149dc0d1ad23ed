/// @file
/// Collectives: all members of a team exchange or reduce arrays.
///
/// They take ranges of arrays, views or scalars, one for each member of this process, in the order of the team. A range
/// is a vector, an array, or any type with size() and []. Elements must be contiguous. With one array for each member,
/// the operation is in place.
///
/// Each operation is ordered on the members' streams, after all work that conflicts with it. It does not block the CPU,
/// except between processes on CPUs (see docs/collectives.md).
///
/// Under mpirun, ranks and counts include the members of all processes. Every process must make the same calls in the
/// same order.
///
/// All functions throw:
/// - invalid_argument for arrays of other devices, counts that do not fit, or a rank that does not exist;
/// - not_supported if no library can execute the operation; the text names the library that could;
/// - use_after_free for an array that was freed;
/// - device_error for a team that has failed before.
#pragma once
#include <concepts>

#include "ferry/multigpu/collective_group.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup collectives
/// @{

/// The mean over all members, as the operation of a collective. It uses the arithmetic of the type: integers lose the
/// fraction.
using average = detail::average;

/// Reduces the elements of all members by op; every member receives the result. The element type does not change: sums
/// of small integers wrap. minimum and maximum propagate NaN, as in parallel_reduce.
/// @param t the team
/// @param values the arrays, in place
/// @param op plus, multiplies, minimum, maximum, minimum_number, maximum_number or average
template <class Values, class Op>
void all_reduce(const team& t, Values&& values, const Op& op) requires detail::collective_operation<Op> {
  collective_group::at_once(t).all_reduce(values, op).submit();
}
/// As all_reduce in place, but reads `from` and writes `to`.
template <class From, class To, class Op>
void all_reduce(const team& t, const From& from, To&& to, const Op& op) {
  collective_group::at_once(t).all_reduce(from, to, op).submit();
}

/// Reduces the elements of all members by op, in place; only the root receives the result. The arrays of other members
/// do not change.
/// @param t the team
/// @param values the arrays
/// @param op the operation, as in all_reduce
/// @param root the rank that receives the result
template <class Values, class Op>
void reduce(const team& t, Values&& values, const Op& op, std::size_t root) requires detail::collective_operation<Op> {
  collective_group::at_once(t).reduce(values, op, root).submit();
}
/// As reduce in place, but reads `from` and writes `to`, the one array of the root. Processes without the root ignore
/// `to`.
template <class From, class To, class Op>
void reduce(const team& t, const From& from, To&& to, const Op& op, std::size_t root) {
  collective_group::at_once(t).reduce(from, to, op, root).submit();
}

/// Copies the elements of the root to every member.
/// @param t the team
/// @param values the arrays
/// @param root the rank whose elements are copied
template <class Values>
void broadcast(const team& t, Values&& values, std::size_t root) {
  collective_group::at_once(t).broadcast(values, root).submit();
}

/// Every member receives the elements of all members, in the order of ranks, in place: each member's own elements are
/// those at its rank.
template <class Values>
void all_gather(const team& t, Values&& values) {
  collective_group::at_once(t).all_gather(values).submit();
}
/// As all_gather in place, but reads `from` and writes `to`, which has as many elements as `from` for each rank.
template <class From, class To>
void all_gather(const team& t, const From& from, To&& to) {
  collective_group::at_once(t).all_gather(from, to).submit();
}

/// Reduces the elements of all members by op; each member receives its share of the result, in place. The share stays
/// at its position in the array; the rest of the array is undefined.
template <class Values, class Op>
void reduce_scatter(const team& t, Values&& values, const Op& op) requires detail::collective_operation<Op> {
  collective_group::at_once(t).reduce_scatter(values, op).submit();
}
/// As reduce_scatter in place, but reads `from`, which has as many elements as `to` for each rank, and writes `to`.
template <class From, class To, class Op>
void reduce_scatter(const team& t, const From& from, To&& to, const Op& op) {
  collective_group::at_once(t).reduce_scatter(from, to, op).submit();
}

/// Exchanges shares: share r of member s becomes share s of member r.
template <class From, class To>
void all_to_all(const team& t, const From& from, To&& to) {
  collective_group::at_once(t).all_to_all(from, to).submit();
}

/// The one array of the root receives the elements of all members, in the order of ranks. Processes without the root
/// ignore `to`.
template <class From, class To>
void gather(const team& t, const From& from, To&& to, std::size_t root) {
  collective_group::at_once(t).gather(from, to, root).submit();
}
/// Each member receives its share of the one array of the root. Processes without the root ignore `from`.
template <class From, class To>
void scatter(const team& t, const From& from, To&& to, std::size_t root) {
  collective_group::at_once(t).scatter(from, to, root).submit();
}

/// @}

}  // namespace ferry::inline FERRY_ABI
