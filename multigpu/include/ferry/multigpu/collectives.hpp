// Collectives: all members of a team exchange or reduce arrays.
//
// They take ranges of arrays, views or scalars, one for each member of this process in the team's order (a vector, an
// array, anything with size() and []). Elements must be contiguous. Each is ordered on the members' streams behind what
// its arrays must come after, as any other operation; none blocks the CPU, except between processes on CPUs (see
// docs/collectives.md). With one array a member, the operation is in place. Under mpirun ranks and counts include the
// members of all processes, each of which makes the same calls in the same order.
//
// All throw invalid_argument (arrays of other devices, counts that do not fit, a rank that is not there), not_supported
// (no library that could do it: the text says which), use_after_free; and device_error for a team that failed before.
#pragma once
#include <concepts>

#include "ferry/multigpu/collective_group.hpp"

namespace ferry {

// Every member gets op over all members' elements. op: plus, multiplies, minimum, maximum, minimum_number, maximum_number or
// average. Elements keep their type: sums of small integers wrap. minimum and maximum propagate NaN, as in parallel_reduce.
template <class Values, class Op>
void all_reduce(const team& t, Values&& values, const Op& op) requires detail::operation<Op> {
  collective_group::at_once(t).all_reduce(values, op).submit();
}
template <class From, class To, class Op>
void all_reduce(const team& t, const From& from, To&& to, const Op& op) {
  collective_group::at_once(t).all_reduce(from, to, op).submit();
}

// The same for one member, the root. In place, the other members' arrays are left as they are.
template <class Values, class Op>
void reduce(const team& t, Values&& values, const Op& op, std::size_t root) requires detail::operation<Op> {
  collective_group::at_once(t).reduce(values, op, root).submit();
}
// `to` is the root's one array; in other processes it is not looked at.
template <class From, class To, class Op>
void reduce(const team& t, const From& from, To&& to, const Op& op, std::size_t root) {
  collective_group::at_once(t).reduce(from, to, op, root).submit();
}

// Every member gets the root's elements.
template <class Values>
void broadcast(const team& t, Values&& values, std::size_t root) {
  collective_group::at_once(t).broadcast(values, root).submit();
}

// Every member gets the elements of all, in the order of ranks: `to` has as many as `from` for each rank. In place, each
// member's own are those at its rank.
template <class Values>
void all_gather(const team& t, Values&& values) {
  collective_group::at_once(t).all_gather(values).submit();
}
template <class From, class To>
void all_gather(const team& t, const From& from, To&& to) {
  collective_group::at_once(t).all_gather(from, to).submit();
}

// Each member gets its share of op over all members' elements: `from` has as many as `to` for each rank. In place, the
// share is left where it was, and the rest of the array is undefined.
template <class Values, class Op>
void reduce_scatter(const team& t, Values&& values, const Op& op) requires detail::operation<Op> {
  collective_group::at_once(t).reduce_scatter(values, op).submit();
}
template <class From, class To, class Op>
void reduce_scatter(const team& t, const From& from, To&& to, const Op& op) {
  collective_group::at_once(t).reduce_scatter(from, to, op).submit();
}

// Share r of member s goes to share s of member r.
template <class From, class To>
void all_to_all(const team& t, const From& from, To&& to) {
  collective_group::at_once(t).all_to_all(from, to).submit();
}

// The root's one array gets the elements of all, in the order of ranks; in other processes `to` is not looked at.
template <class From, class To>
void gather(const team& t, const From& from, To&& to, std::size_t root) {
  collective_group::at_once(t).gather(from, to, root).submit();
}
// Each member gets its share of the root's one array.
template <class From, class To>
void scatter(const team& t, const From& from, To&& to, std::size_t root) {
  collective_group::at_once(t).scatter(from, to, root).submit();
}

}  // namespace ferry
