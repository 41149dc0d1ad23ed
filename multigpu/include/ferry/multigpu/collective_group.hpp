/// @file
/// Several collectives in one submission.
#pragma once
#include <concepts>
#include <span>
#include <vector>

#include "ferry/core/arguments.hpp"
#include "ferry/core/scalar.hpp"
#include "ferry/multigpu/detail/collectives/collective_argument.hpp"
#include "ferry/multigpu/detail/transport/transport.hpp"
#include "ferry/multigpu/team.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup collectives
/// @{

namespace detail {

template <class Op>
concept collective_operation = is_collective_operation<std::remove_cvref_t<Op>>;

template <class A>
decltype(auto) array_of(A& a) {
  if constexpr (requires { a.as_array(); })  // a scalar
    return (a.as_array());
  else
    return (a);
}
template <class A>
using value_of = typename std::remove_cvref_t<decltype(array_of(std::declval<A&>()))>::value_type;

// Enters an array or scalar into `to`.
template <class A>
void describe(A& given, collective_argument& to) {
  auto& a = array_of(given);
  using T = std::remove_const_t<typename std::remove_cvref_t<decltype(a)>::value_type>;
  to.owner = &a.owner();
  to.data = reinterpret_cast<std::byte*>(const_cast<T*>(a.unsynchronized_data()));
  to.count = a.size();
  to.contiguous = a.is_contiguous();
}
// As describe, for an array that will be written.
template <class A>
void describe_written(A& given, collective_argument& to) {
  auto& a = array_of(given);
  static_assert(!std::is_const_v<std::remove_reference_t<decltype(a)>> &&
                    !std::is_const_v<typename std::remove_cvref_t<decltype(a)>::element_type>,
                "a collective writes this array, and it is const");
  describe(given, to);
}

template <class Values>
collective_arguments arguments_of(const Values& values) {
  collective_arguments all;
  for (std::size_t i = 0; i < values.size(); ++i) describe(values[i], all.add());
  return all;
}
template <class Values>
collective_arguments written_by(Values& values) {
  collective_arguments all;
  for (std::size_t i = 0; i < values.size(); ++i) describe_written(values[i], all.add());
  return all;
}
template <class Values>
using element_of = value_of<decltype(std::declval<Values&>()[0])>;

}  // namespace detail

/// Collects operations and enqueues all of them in one submission. The operations may run concurrently, so none may use
/// what another one writes. The free functions of the same names submit a group of one operation; see collectives.hpp
/// for the meaning of each. If a call throws, the group is unchanged.
/// @code
/// fr::collective_group g(gpus);
/// g.all_reduce(norms, fr::plus{}).send(edge, 0, 1).receive(halo, 1, 0).submit();
/// @endcode
class collective_group {
 public:
  /// Makes an empty group. The team must outlive it.
  explicit collective_group(const team& t);
  /// Makes a group that holds no references to its arrays: they must live until submit() returns.
  static collective_group at_once(const team& t) {
    collective_group g(t);
    g.keeps_ = false;
    return g;
  }

  /// Adds ferry::all_reduce, in place.
  template <class Values, class Op>
  collective_group& all_reduce(Values&& values, const Op& op) {
    return all_reduce(values, values, op);
  }
  /// Adds ferry::all_reduce.
  template <class From, class To, class Op>
  collective_group& all_reduce(const From& from, To&& to, const Op& op) {
    return add({detail::collective_kind::all_reduce, 0}, types<From, To>(op), detail::arguments_of(from),
               detail::written_by(to));
  }
  /// Adds ferry::reduce, in place.
  template <class Values, class Op>
  collective_group& reduce(Values&& values, const Op& op, std::size_t root) {
    const auto all = detail::written_by(values);
    return add({detail::collective_kind::reduce, root}, types<Values, Values>(op), all, of_root(root, all));
  }
  /// Adds ferry::reduce.
  template <class From, class To, class Op>
  collective_group& reduce(const From& from, To&& to, const Op& op, std::size_t root) {
    return add({detail::collective_kind::reduce, root}, types_of_one<From, To>(op), detail::arguments_of(from),
               only_at(root, [&](auto& a) { detail::describe_written(to, a); }));
  }
  /// Adds ferry::broadcast.
  template <class Values>
  collective_group& broadcast(Values&& values, std::size_t root) {
    const auto all = detail::written_by(values);
    return add({detail::collective_kind::broadcast, root}, types<Values, Values>(), of_root(root, all), all);
  }
  /// Adds ferry::all_gather, in place.
  template <class Values>
  collective_group& all_gather(Values&& values) {
    const auto all = detail::written_by(values);
    return add({detail::collective_kind::all_gather, 0}, types<Values, Values>(),
               own_shares(all, sizeof_element<Values>()), all);
  }
  /// Adds ferry::all_gather.
  template <class From, class To>
  collective_group& all_gather(const From& from, To&& to) {
    return add({detail::collective_kind::all_gather, 0}, types<From, To>(), detail::arguments_of(from),
               detail::written_by(to));
  }
  /// Adds ferry::reduce_scatter, in place.
  template <class Values, class Op>
  collective_group& reduce_scatter(Values&& values, const Op& op) {
    const auto all = detail::written_by(values);
    return add({detail::collective_kind::reduce_scatter, 0}, types<Values, Values>(op), all,
               own_shares(all, sizeof_element<Values>()));
  }
  /// Adds ferry::reduce_scatter.
  template <class From, class To, class Op>
  collective_group& reduce_scatter(const From& from, To&& to, const Op& op) {
    return add({detail::collective_kind::reduce_scatter, 0}, types<From, To>(op), detail::arguments_of(from),
               detail::written_by(to));
  }
  /// Adds ferry::all_to_all.
  template <class From, class To>
  collective_group& all_to_all(const From& from, To&& to) {
    return add({detail::collective_kind::all_to_all, 0}, types<From, To>(), detail::arguments_of(from),
               detail::written_by(to));
  }
  /// Adds ferry::gather.
  template <class From, class To>
  collective_group& gather(const From& from, To&& to, std::size_t root) {
    return add({detail::collective_kind::gather, root}, types_of_one<From, To>(), detail::arguments_of(from),
               only_at(root, [&](auto& a) { detail::describe_written(to, a); }));
  }
  /// Adds ferry::scatter.
  template <class From, class To>
  collective_group& scatter(const From& from, To&& to, std::size_t root) {
    return add({detail::collective_kind::scatter, root}, types_of_one<To, From>(),
               only_at(root, [&](auto& a) { detail::describe(from, a); }), detail::written_by(to));
  }
  /// Adds a send of one array from a member of this process to another rank, which must receive it. Sends and receives
  /// between two ranks match in the order of their calls. Those between members of one process must be in one group.
  /// @param v the array
  /// @param from the member that sends
  /// @param to the rank that receives
  /// @return this group
  template <class View>
  collective_group& send(const View& v, std::size_t from, std::size_t to) {
    detail::collective_argument a;
    detail::describe(v, a);
    return exchange(detail::collective_kind::send, type_of<detail::value_of<View>>(), a, from, to);
  }
  /// Adds a receive of one array by a member of this process from another rank; see send.
  /// @param v the array
  /// @param to the member that receives
  /// @param from the rank that sends
  /// @return this group
  template <class View>
  collective_group& receive(View&& v, std::size_t to, std::size_t from) {
    detail::collective_argument a;
    detail::describe_written(v, a);
    return exchange(detail::collective_kind::receive, type_of<detail::value_of<View>>(), a, to, from);
  }

  /// Enqueues all operations on the streams of the team, and empties the group. See collectives.hpp for blocking and
  /// errors.
  void submit();

 private:
  struct what {
    detail::collective_kind kind;
    std::size_t root;
  };
  struct of_type {
    detail::element_type type = detail::element_type::bytes;
    std::size_t element_bytes = 1;
    detail::reduction op = detail::reduction::sum;
  };
  template <class T>
  static of_type type_of() {
    return {detail::element_type_of<std::remove_const_t<T>>(), sizeof(T), detail::reduction::sum};
  }
  template <class T, class Op>
  static of_type type_of(const Op& op) {
    return {detail::element_type_of<std::remove_const_t<T>>(), sizeof(T),
            detail::reduction_of<std::remove_const_t<T>>(op)};
  }
  template <class From, class To, class... Op>
  static of_type types(const Op&... op) {
    static_assert(std::is_same_v<detail::element_of<From>, detail::element_of<To>>,
                  "a collective moves elements as they are: both sides must have the same type");
    return type_of<detail::element_of<From>>(op...);
  }
  template <class Several, class One, class... Op>
  static of_type types_of_one(const Op&... op) {
    static_assert(std::is_same_v<detail::element_of<Several>, detail::value_of<One>>,
                  "a collective moves elements as they are: both sides must have the same type");
    return type_of<detail::element_of<Several>>(op...);
  }
  template <class Values>
  static constexpr std::size_t sizeof_element() {
    return sizeof(detail::element_of<Values>);
  }
  template <class Describe>
  detail::collective_arguments only_at(std::size_t root, Describe describe) const {
    detail::collective_arguments one;
    if (place_of(root) < local_size()) describe(one.add());
    return one;
  }

  std::size_t local_size() const;
  // Index of a rank among the members of this process; a large number for other ranks.
  std::size_t place_of(std::size_t rank) const;
  // The argument of the root, if it is a member of this process; else nothing.
  detail::collective_arguments of_root(std::size_t root, const detail::collective_arguments& all) const;
  detail::collective_arguments own_shares(detail::collective_arguments all, std::size_t element_bytes) const;
  collective_group& add(what w, of_type t, const detail::collective_arguments& from,
                        const detail::collective_arguments& to);
  collective_group& exchange(detail::collective_kind kind, of_type t, const detail::collective_argument& v,
                             std::size_t member, std::size_t other);
  detail::collective_buffer checked(const what& w, const detail::collective_argument& a, const of_type& t,
                                    std::size_t member, std::size_t count) const;

  detail::team_link& link_;
  const detail::rank_layout& layout_;
  bool keeps_ = true;
  detail::small_vector<detail::collective_call, 8> calls_;
  std::vector<detail::allocation_ref> keep_;  // references until submit()
};

/// @}

}  // namespace ferry::inline FERRY_ABI
