/// @file
/// Kernels of loops, compiled before they are needed.
#pragma once
#include "ferry/core/ghosts.hpp"
#include "ferry/core/parallel_reduce.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

namespace detail {
inline namespace FERRY_UNIT {

// What a call compiles: the kernel of a loop, or those of a reduction.
struct loop_compilation {
  template <class Space, class F, class... A>
  void operator()(stream_ref s, const Space&, const F&, const A&... a) const {
    compile_loop<Space, F>(s, a...);
  }
};
template <class Op>
struct reduction_compilation {
  template <class Space, class F, class... A>
  void operator()(stream_ref s, const Space& space, const F& f, const A&... a) const {
    using T = typename decltype(reduced_type<Op>(space, f, a...))::type;
    compile_reduction<T, Space, F, Op>(s, a...);
  }
};

template <class Compile, class Space, class F, class... A>
void check_and_compile(const Compile& compile, stream_ref s, source_line at, const Space& space, const F& f,
                       const A&... a) {
  need_kernel_of<F>();
  detail::search_call(s, at, detail::used_by::kernel, f, a...);
  compile(s, space, f, a...);
}

template <class Compile, class... P, class Space, class F, class... A>
void call_precompile(const Compile& compile, detail::accepted_call<P...>, const located<stream_ref>& s,
                     const Space& space, const F& f, A&&... a) {
  check_and_compile(compile, s.value, s.at, space, f, detail::as_argument<P>(std::forward<A>(a), s.at)...);
}
template <class Compile, class... P, class Space, class F, class... A>
void call_precompile(const Compile& compile, detail::accepted_call<P...>, const detail::located_space<Space>& space,
                     const F& f, A&&... a) {
  const auto here = [&](const auto&... x) {
    check_and_compile(compile, default_stream(detail::placement(x...)), space.at, space.space, f, x...);
  };
  here(detail::as_argument<P>(std::forward<A>(a), space.at)...);
}
template <class Compile, class... Any>
void call_precompile(const Compile&, detail::refused_call, const Any&...) {}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// Compiles the kernel of a parallel_for with these arguments, and blocks until that is done: for programs that must
/// not compile while they run, and before a capture, which compiles nothing. Launches nothing.
///
/// The kernel depends on the types of the arguments, and on whether all mdspans have adjacent elements along their last
/// axis; not on sizes and values. Functors that nvcc compiled have their kernels, and simulated devices need none: then
/// only the arguments are checked.
/// @param s a stream of the device, as in parallel_for
/// @param space as in parallel_for
/// @param f functor that FERRY_FUNCTOR defines, or any that nvcc compiles
/// @param arguments as in parallel_for
/// @throws not_supported if the kernel cannot be compiled. The text contains the compiler's messages.
/// @throws invalid_argument if the call is wrong as written
template <detail::index_space Space, class F, class... Arguments>
void precompile_for(located<stream_ref> s, const Space& space, const F& f, Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  detail::call_precompile(detail::loop_compilation(), detail::checked<detail::loop_check<over, F, Arguments...>>(), s,
                          detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(located<stream_ref> s, const extents<1>& space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_1d, F, Arguments...>>(), s,
                          detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(located<stream_ref> s, const extents<2>& space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_2d, F, Arguments...>>(), s,
                          detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(located<stream_ref> s, const extents<3>& space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_3d, F, Arguments...>>(), s,
                          detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <std::size_t Rank, class F, class... Arguments>
requires(Rank > 3) void precompile_for(located<stream_ref> s, const detail::braced_extent (&space)[Rank], const F& f,
                                       Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  detail::call_precompile(detail::loop_compilation(), detail::checked<detail::loop_check<over, F, Arguments...>>(), s,
                          detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}

/// Same as above, for the device of the first written argument.
template <class F, class... Arguments>
void precompile_for(detail::located_space<detail::space_1d> space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_1d, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(detail::located_space<detail::space_2d> space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_2d, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(detail::located_space<detail::space_3d> space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_3d, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(detail::located_space<detail::space_nd<4>> space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_nd<4>, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(detail::located_space<detail::space_nd<5>> space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_nd<5>, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(detail::located_space<detail::space_nd<6>> space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_nd<6>, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void precompile_for(detail::located_space<detail::space_of_tiles> space, const F& f, Arguments&&... arguments) {
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<detail::space_of_tiles, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}

/// As above, for a loop over ghost cells. Its kernel is another one than that of a loop over an index space.
template <class T, std::size_t Rank, memory_kind Kind, class F, class... Arguments>
void precompile_for(located<stream_ref> s, const ghost_cells<T, Rank, Kind>& g, const F& f, Arguments&&... arguments) {
  const auto space = g.slab({0, side_end::low}).space();
  detail::call_precompile(detail::loop_compilation(),
                          detail::checked<detail::loop_check<decltype(space), F, Arguments...>>(), s, space, f,
                          std::forward<Arguments>(arguments)...);
}
/// As above, for the device of the array.
template <class T, std::size_t Rank, memory_kind Kind, class F, class... Arguments>
void precompile_for(const ghost_cells<T, Rank, Kind>& g, const F& f, Arguments&&... arguments) {
  precompile_for(located<stream_ref>(default_stream(g.array().device()), g.at()), g, f,
                 std::forward<Arguments>(arguments)...);
}

/// Compiles the kernels of a parallel_reduce with these arguments. See precompile_for.
/// @param s a stream of the device, as in parallel_reduce
/// @param space as in parallel_reduce
/// @param f as in precompile_for
/// @param op as in parallel_reduce
/// @param arguments as in parallel_reduce
/// @note Throws as precompile_for.
template <detail::index_space Space, class F, class Op, class... Arguments>
void precompile_reduce(located<stream_ref> s, const Space& space, const F& f, [[maybe_unused]] const Op& op,
                       Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<over, F, Arguments...>>(), s, detail::space_of(space),
                          f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(located<stream_ref> s, const extents<1>& space, const F& f, const Op&,
                       Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_1d, F, Arguments...>>(), s,
                          detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(located<stream_ref> s, const extents<2>& space, const F& f, const Op&,
                       Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_2d, F, Arguments...>>(), s,
                          detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(located<stream_ref> s, const extents<3>& space, const F& f, const Op&,
                       Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_3d, F, Arguments...>>(), s,
                          detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <std::size_t Rank, class F, class Op, class... Arguments>
requires(Rank > 3) void precompile_reduce(located<stream_ref> s, const detail::braced_extent (&space)[Rank], const F& f,
                                          const Op&, Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<over, F, Arguments...>>(), s, detail::space_of(space),
                          f, std::forward<Arguments>(arguments)...);
}

/// Same as above, for the device of the first written argument, else of the first array.
template <class F, class Op, class... Arguments>
void precompile_reduce(detail::located_space<detail::space_1d> space, const F& f, const Op&, Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_1d, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(detail::located_space<detail::space_2d> space, const F& f, const Op&, Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_2d, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(detail::located_space<detail::space_3d> space, const F& f, const Op&, Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_3d, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(detail::located_space<detail::space_nd<4>> space, const F& f, const Op&,
                       Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_nd<4>, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(detail::located_space<detail::space_nd<5>> space, const F& f, const Op&,
                       Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_nd<5>, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(detail::located_space<detail::space_nd<6>> space, const F& f, const Op&,
                       Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_nd<6>, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
void precompile_reduce(detail::located_space<detail::space_of_tiles> space, const F& f, const Op&,
                       Arguments&&... arguments) {
  detail::call_precompile(detail::reduction_compilation<Op>(),
                          detail::checked<detail::reduction_check<detail::space_of_tiles, F, Arguments...>>(), space, f,
                          std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
