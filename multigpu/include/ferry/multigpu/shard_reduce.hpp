/// @file
/// Reductions over the cells of sharded arrays.
#pragma once
#include <deque>

#include "ferry/multigpu/detail/loops/member_reduction.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {
inline namespace FERRY_UNIT {

template <class Space, class F, class Op, class... A>
struct shard_result {
  using region = std::remove_cvref_t<decltype(detail::region_of(std::declval<Space>()))>;
  using part = std::remove_cvref_t<decltype(*std::declval<region>().parts(0).begin())>;
  using space = decltype(detail::space_of_part(std::declval<Space>(), std::declval<part>()));
  using type = typename decltype(reduced_type<Op>(
      std::declval<space>(), std::declval<F>(),
      detail::argument_of(0, std::declval<region>().layout(), std::declval<part>(), std::declval<A>())...))::type;
};

// To join the parts of members, the CPU makes its own object of the operation's type.
template <class Op>
constexpr void need_op_without_state() {
  static_assert(std::is_empty_v<Op> && std::is_default_constructible_v<Op>,
                "the operation of a reduction over a team holds no data: the CPU joins the members' parts by another "
                "object of its type. Pass the data to the functor, as an argument");
}

// The operation of expressions that joins as Op does.
template <class Op>
constexpr std::optional<operation> joined_as() {
  if constexpr (std::is_same_v<Op, plus>) return operation::add;
  if constexpr (std::is_same_v<Op, multiplies>) return operation::multiply;
  if constexpr (std::is_same_v<Op, minimum>) return operation::min;
  if constexpr (std::is_same_v<Op, maximum>) return operation::max;
  return {};
}

// One reduction over all members. Each part of the region runs once.
template <class T, class Op>
class team_reduction {
 public:
  team_reduction(const team& t, const Op& op)
      : result_(
            t, Op::template identity<T>(), [](const T& a, const T& b) -> T { return Op()(a, b); }, joined_as<Op>()) {
    need_op_without_state<Op>();
    for (std::size_t i = 0; i < t.local_size(); ++i)
      members_.emplace_back(t.stream(t.first_local() + i), op, result_.parts().slice({i, i + 1}));
  }
  template <class Space>
  void expect(const Space& space) {
    for (std::size_t i = 0; i < members_.size(); ++i)
      for (const auto& p : detail::region_of(space).parts(first() + i))
        members_[i].expect(detail::space_of_part(space, p));
  }
  template <class Space, class F, class... A>
  void run(std::size_t member, const Space& space, const F& f, const A&... a) {
    const auto& region = detail::region_of(space);
    for (const auto& p : region.parts(member))
      members_[member - first()].run(detail::space_of_part(space, p), f,
                                     detail::argument_of(member, region.layout(), p, a)...);
  }
  void finish(std::size_t member) { members_[member - first()].finish(); }
  team_scalar<T> result() && { return std::move(result_); }

 private:
  std::size_t first() const { return result_.team().first_local(); }
  team_scalar<T> result_;
  std::deque<member_reduction<T, Op>> members_;
};

template <class Space, class F, class Op, class... A>
auto reduce_on_team(const Space& space, const F& f, const Op& op, const A&... a) {
  using T = typename shard_result<Space, F, Op, A...>::type;
  const team& t = detail::region_of(space).layout().team();
  team_reduction<T, Op> all(t, op);
  all.expect(space);
  t.for_each([&](std::size_t m) {
    all.run(m, space, f, a...);
    all.finish(m);
  });
  (detail::note_written(detail::region_of(space), a), ...);
  return std::move(all).result();
}

template <class Space, class F, class... A>
using shard_reduction_check =
    call_check<detail::shard_loop_arguments, true, F, typename front_of<detail::part_space<Space>>::type, A...>;

// Returns the reduction of a call that passed its checks; for a refused call, a number in place of the result.
template <class... P, class Space, class F, class Op, class... A>
auto call_reduce_on_team(detail::accepted_call<P...>, const Space& space, const F& f, const Op& op, A&&... a) {
  return reduce_on_team(space, f, op, detail::as_shard_argument<P>(a)...);
}
template <class... Any>
scalar<double> call_reduce_on_team(detail::refused_call, const Any&...) {
  return scalar<double>();
}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// Reduces the results f(index..., arguments...) of all cells of a region by op. The order depends on the region, the
/// number of members, and their devices. Every member computes its part on its stream. Never blocks: the CPU waits when
/// it reads the result.
/// @param space a region or tiles, as in parallel_for over shards
/// @param f returns the value of a cell
/// @param op the operation, as in parallel_reduce over one device; its type must be empty
/// @param arguments arrays and values for f
/// @return a team_scalar
template <detail::shard_space Space, class F, class Op, class... Arguments>
auto parallel_reduce(const Space& space, const F& f, const Op& op, Arguments&&... arguments) {
  return detail::call_reduce_on_team(detail::checked<detail::shard_reduction_check<Space, F, Arguments...>>(), space, f,
                                     op, std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
