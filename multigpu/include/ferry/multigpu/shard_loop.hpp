/// @file
/// Loops over the cells of sharded arrays: each member processes its own shard.
#pragma once
#include "ferry/core/parallel_for.hpp"
#include "ferry/multigpu/detail/loops/shard_argument_uses.hpp"
#include "ferry/multigpu/detail/loops/shard_arguments.hpp"
#include "ferry/multigpu/detail/loops/shard_kernel_types.hpp"
#include "ferry/multigpu/detail/loops/shard_space.hpp"
#include "ferry/multigpu/detail/loops/watched_shards.hpp"
#include "ferry/multigpu/replicated_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {
inline namespace FERRY_UNIT {

template <class Space, class F, class... A>
void run_on_shard(stream_ref s, const Space& space, const F& f, const A&... a) {
  need_kernel_of<F>();
  if (detail::is_empty(space)) return;
  detail::access_list<4 * (detail::most_arrays<A> + ... + 0)> uses;
  (detail::add_shard_use(uses, a), ...);
  if (detail::needs_staging(s, uses.get())) [[unlikely]] {
    detail::search_call(s, {}, detail::used_by::kernel, f, a...);
    detail::staged_launch enqueue(s, uses.get());
    detail::poison_shard_outputs(enqueue, a...);
    return launch_for_each<watched_shards>(s, enqueue, space, f, detail::moved_shard_argument(enqueue, a)...);
  }
  detail::direct_launch enqueue(s, uses);
  detail::check_call(
      s, {}, detail::used_by::kernel, [&] { detail::poison_shard_outputs(enqueue, a...); }, f, a...);
  launch_for_each<watched_shards>(s, enqueue, space, f, a...);
}

// Submits the kernels of one member.
template <class Space, class F, class... A>
void run_on_member(std::size_t member, const Space& space, const F& f, const A&... a) {
  const auto& region = detail::region_of(space);
  const stream_ref s = region.layout().team().stream(member);
  for (const auto& p : region.parts(member))
    run_on_shard(s, detail::space_of_part(space, p), f, detail::argument_of(member, region.layout(), p, a)...);
}

template <class Space, class F, class... A>
void run_on_team(const Space& space, const F& f, const A&... a) {
  const auto& region = detail::region_of(space);
  region.layout().team().for_each([&](std::size_t m) { run_on_member(m, space, f, a...); });
  (detail::note_written(region, a), ...);
}

// The argument of a loop that runs once on each member.
template <class A>
auto argument_of_member(std::size_t member, const A& a) {
  if constexpr (requires { a.of_member(member); })
    return a.of_member(member);
  else
    return a;
}
template <class Space, class F, class... A>
void run_on_each(const on_each_member<Space>& each, const F& f, const A&... a) {
  each.team.for_each([&](std::size_t m) {
    for_each(each.team.stream(m), {}, detail::space_of(each.space), f, argument_of_member(m, a)...);
  });
}

template <class Space, class F, class... A>
using shard_loop_check =
    call_check<detail::shard_loop_arguments, false, F, typename front_of<detail::part_space<Space>>::type, A...>;
template <class Space, class F, class... A>
using member_loop_check = call_check<detail::shard_loop_arguments, false, F, typename front_of<Space>::type, A...>;

// Executes the loop of a call that passed its checks; a refused call has no loop.
template <class... P, class Space, class F, class... A>
void call_on_team(detail::accepted_call<P...>, const Space& space, const F& f, A&&... a) {
  run_on_team(space, f, detail::as_shard_argument<P>(a)...);
}
template <class... P, class Space, class F, class... A>
void call_on_each(detail::accepted_call<P...>, const on_each_member<Space>& each, const F& f, A&&... a) {
  run_on_each(each, f, detail::as_shard_argument<P>(a)...);
}
template <class... Any>
void call_on_team(detail::refused_call, const Any&...) {}
template <class... Any>
void call_on_each(detail::refused_call, const Any&...) {}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// Calls f(index..., arguments...) for every cell of a region of sharded arrays. Each member processes its own cells,
/// on its stream. Blocks only where parallel_for over one device does; with submission::by_threads, the caller waits
/// for the threads. Indices are those of the whole array. Sharded arrays arrive as ferry::shard_span, all other
/// arguments as in parallel_for over one device. All members receive the same array if it is not sharded.
/// @param space owned(a), interior(a) or boundary(a), these .within({{begin, end}, {begin, end}}), or shard_tiles of
///   one
/// @param f the function of a cell
/// @param arguments arrays and values for f
/// @throws invalid_argument for arrays of different distributions, and for other wrong arguments
/// @throws peer_access_error if a device cannot access an array
/// @throws device_error if a device failed
template <detail::shard_space Space, class F, class... Arguments>
void parallel_for(const Space& space, const F& f, Arguments&&... arguments) {
  detail::call_on_team(detail::checked<detail::shard_loop_check<Space, F, Arguments...>>(), space, f,
                       std::forward<Arguments>(arguments)...);
}

/// @cond
template <class T, std::size_t Rank, memory_kind Kind, class... Rest>
void parallel_for(const sharded_array<T, Rank, Kind>&, Rest&&...) = delete;  // use parallel_for(owned(u), ...)
/// @endcond

/// Executes parallel_for over one device once on each member, on its stream. Replicated arrays arrive as the copy of
/// the member. Blocks and throws as parallel_for over one device.
template <class Space, class F, class... Arguments>
void parallel_for(const on_each_member<Space>& each, const F& f, Arguments&&... arguments) {
  using over = decltype(detail::space_of(each.space));
  detail::call_on_each(detail::checked<detail::member_loop_check<over, F, Arguments...>>(), each, f,
                       std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// Calls f(member, stream of the member, view of its shard of each array...) for each local member, as team::for_each
/// does. Work of f is ordered as everywhere; f should use the stream that it receives. All arrays must be of the team
/// of the first one, which is not checked.
template <class F, class First, class... More>
void for_each_shard(const F& f, First& first, More&... more) {
  first.team().for_each([&](std::size_t m) { f(m, first.team().stream(m), first.shard(m), more.shard(m)...); });
}

/// @}

}  // namespace ferry::inline FERRY_ABI
