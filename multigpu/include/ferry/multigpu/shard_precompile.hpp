/// @file
/// Kernels of loops over shards, compiled before they are needed.
#pragma once
#include "ferry/core/precompile.hpp"
#include "ferry/multigpu/shard_ghosts.hpp"
#include "ferry/multigpu/sweep.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {
inline namespace FERRY_UNIT {

template <class Op, class T>
struct shard_reduction_compilation {
  template <class Space, class F, class... A>
  void operator()(stream_ref s, const Space&, const F&, const A&... a) const {
    member_reduction<T, Op>::template compile<Space, F>(s, a...);
  }
};

// For the device of each member with cells of the region.
template <class Compile, class Space, class F, class... A>
void compile_on_team(const Compile& compile, const Space& space, const F& f, const A&... a) {
  const auto& region = detail::region_of(space);
  const team& t = region.layout().team();
  t.for_each([&](std::size_t m) {
    for (const auto& p : region.parts(m))
      check_and_compile(compile, t.stream(m), {}, detail::space_of_part(space, p), f,
                        detail::argument_of(m, region.layout(), p, a)...);
  });
}
template <class Op, class Space, class F, class... A>
void compile_reduction_on_team(const Space& space, const F& f, const A&... a) {
  using T = typename shard_result<Space, F, Op, A...>::type;
  compile_on_team(shard_reduction_compilation<Op, T>(), space, f, a...);
}
template <class Space, class F, class... A>
void compile_on_each(const on_each_member<Space>& each, const F& f, const A&... a) {
  each.team.for_each([&](std::size_t m) {
    check_and_compile(loop_compilation(), each.team.stream(m), {}, detail::space_of(each.space), f,
                      argument_of_member(m, a)...);
  });
}

template <class... P, class Space, class F, class... A>
void call_precompile_for(detail::accepted_call<P...>, const Space& space, const F& f, A&&... a) {
  compile_on_team(loop_compilation(), space, f, detail::as_shard_argument<P>(a)...);
}
template <class Op, class... P, class Space, class F, class... A>
void call_precompile_reduce(const Op&, detail::accepted_call<P...>, const Space& space, const F& f, A&&... a) {
  compile_reduction_on_team<Op>(space, f, detail::as_shard_argument<P>(a)...);
}
template <class... P, class Space, class F, class... A>
void call_precompile_each(detail::accepted_call<P...>, const on_each_member<Space>& each, const F& f, A&&... a) {
  compile_on_each(each, f, detail::as_shard_argument<P>(a)...);
}
template <class... Any>
void call_precompile_for(detail::refused_call, const Any&...) {}
template <class Op, class... Any>
void call_precompile_reduce(const Op&, detail::refused_call, const Any&...) {}
template <class... Any>
void call_precompile_each(detail::refused_call, const Any&...) {}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// Compiles the kernel of a parallel_for over shards, for the devices of the members of this process that have cells of
/// the region. Launches nothing. See precompile_for over one device.
/// @param space a region or tiles, as in parallel_for over shards
/// @param f functor that FERRY_FUNCTOR defines, or any that nvcc compiles
/// @param arguments as in parallel_for over shards
/// @throws not_supported if the kernel cannot be compiled. The text contains the compiler's messages.
/// @throws invalid_argument for arrays of different distributions, and for other wrong arguments
template <detail::shard_space Space, class F, class... Arguments>
void precompile_for(const Space& space, const F& f, Arguments&&... arguments) {
  detail::call_precompile_for(detail::checked<detail::shard_loop_check<Space, F, Arguments...>>(), space, f,
                              std::forward<Arguments>(arguments)...);
}
/// As above, for a sweep.
template <detail::shard_space Space, class F, class... Arguments>
void precompile_for(const swept<Space>& s, const F& f, Arguments&&... arguments) {
  precompile_for(s.space, f, std::forward<Arguments>(arguments)...);
}
/// As above, for a loop over ghost cells.
template <class T, std::size_t Rank, memory_kind Kind, class F, class... Arguments>
void precompile_for(const shard_ghosts<T, Rank, Kind>& g, const F& f, Arguments&&... arguments) {
  precompile_for(owned(g.array()), f, std::forward<Arguments>(arguments)...);
}
/// As above, for a loop over one device that runs once on each member.
template <class Space, class F, class... Arguments>
void precompile_for(const on_each_member<Space>& each, const F& f, Arguments&&... arguments) {
  using over = decltype(detail::space_of(each.space));
  detail::call_precompile_each(detail::checked<detail::member_loop_check<over, F, Arguments...>>(), each, f,
                               std::forward<Arguments>(arguments)...);
}

/// Compiles the kernels of a parallel_reduce over shards. See precompile_for.
/// @param space a region or tiles, as in parallel_for over shards
/// @param f as in precompile_for
/// @param op as in parallel_reduce over shards
/// @param arguments as in parallel_reduce over shards
/// @note Throws as precompile_for.
template <detail::shard_space Space, class F, class Op, class... Arguments>
void precompile_reduce(const Space& space, const F& f, const Op& op, Arguments&&... arguments) {
  detail::call_precompile_reduce(op, detail::checked<detail::shard_reduction_check<Space, F, Arguments...>>(), space, f,
                                 std::forward<Arguments>(arguments)...);
}
/// As above, for a sweep.
template <detail::shard_space Space, class F, class Op, class... Arguments>
void precompile_reduce(const swept<Space>& s, const F& f, const Op& op, Arguments&&... arguments) {
  precompile_reduce(s.space, f, op, std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
