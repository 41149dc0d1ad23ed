/// @file
/// Functors over index spaces, on CUDA devices or simulated ones.
#pragma once
#include <type_traits>
#include <utility>

#include "ferry/core/detail/kernels/call_checks.hpp"
#include "ferry/core/detail/kernels/captured_pointers.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/kernels/loop_grid.hpp"
#include "ferry/core/detail/kernels/prepared_kernel.hpp"
#include "ferry/core/detail/kernels/simulated_launch.hpp"
#include "ferry/core/detail/kernels/staged_launch.hpp"
#include "ferry/core/detail/support/type_name.hpp"
#include "ferry/core/functor.hpp"
#include "ferry/core/index_space.hpp"
#include "ferry/core/struct_argument.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

namespace detail {
inline namespace FERRY_UNIT {

// False in sources that g++ or clang++ compiles for a ferry with CUDA.
template <class>
inline constexpr bool nvcc_compiles_kernels =
#if FERRY_HAS_CUDA && !defined(__CUDACC__)
    false;
#else
    true;
#endif
template <class F>
consteval void need_kernel_of() {
  static_assert(nvcc_compiles_kernels<F> || has_functor_text<F>,
                "this source is compiled as plain C++, but ferry was built with CUDA: define the functor by "
                "FERRY_FUNCTOR, which needs no nvcc; or add the source by ferry_add_executable(), which compiles it by "
                "nvcc; or build ferry with -DFERRY_CUDA=OFF");
}

#if FERRY_HAS_CUDA
// The kernel of a loop with these parameters. It knows the last strides of spans where all are 1.
template <class Space, class F, class... P>
auto loop_kernel_on(stream_ref s, const P&... p) {
  using body = std::conditional_t<is_over_line<Space>, over_line, over_blocks>;
  using layout = std::conditional_t<is_over_line<Space>, unsigned, block_layout>;
  using kernel = prepared_kernel<Space, layout, F, P...>;
  if constexpr ((... || strided_parameter<P>))
    if (have_unit_strides(p...))
      return kernel{kernel_code_on<body, F, Space, layout, F, typename parameter_of_unit_stride<P>::type...>(s)};
  return kernel{kernel_code_on<body, F, Space, layout, F, P...>(s)};
}
#endif

// Compiles the kernel of a loop for the device of s, where NVRTC compiles it. Throws as the loop for wrong arguments.
template <class Space, class F, class... A>
void compile_loop([[maybe_unused]] stream_ref s, const A&... a) {
  detail::with_parameters<F, Space::indices>(
      std::index_sequence_for<A...>(),
      [&]([[maybe_unused]] const auto&... p) {
#if FERRY_HAS_CUDA && !defined(__CUDACC__)
        if (runtime::current().backend().compiles_functors()) (void)loop_kernel_on<Space, F>(s, p...);
#endif
      },
      a...);
}

// enqueue: submits the launch, ordered after the hazards of its arguments. Watch: the checks on a simulated device.
template <class Watch, class Space, class F, class... A>
void launch_for_each([[maybe_unused]] stream_ref s, ordered_launch& enqueue, const Space& space, const F& f,
                     const A&... a) {
#if FERRY_HAS_CUDA
  if (runtime& m = runtime::current(); !m.is_simulated())
    return detail::with_parameters<F, Space::indices>(
        std::index_sequence_for<A...>(),
        [&](const auto&... p) {
          const auto kernel = loop_kernel_on<Space, F>(s, p...);
          const loop_grid grid = grid_over<std::decay_t<decltype(p)>...>(space, s.where().properties().multiprocessors);
          enqueue([&](native_stream n) {
            const launch_place where{m, n, s.timeline().device(), detail::type_name<F>()};
            if constexpr (is_over_line<Space>)
              launch_kernel(where, kernel, grid.blocks, grid.threads, space, grid.layout.steps, f, p...);
            else
              launch_kernel(where, kernel, grid.blocks, grid.threads, space, grid.layout, f, p...);
          });
        },
        a...);
  compile_loop<Space, F>(s, a...);
#endif
  launch_simulated<Watch, F, Space::indices>(
      enqueue, [space, f](const auto&... p) { run_on_cpu(space, f, p...); }, a...);
}

template <class Space, class F, class... A>
void for_each(stream_ref s, source_line at, const Space& space, const F& f, const A&... a) {
  static_assert(sizeof...(A) <= 16, "a kernel takes at most 16 arguments");
  need_kernel_of<F>();
  if (detail::is_empty(space)) return;
  detail::access_list<(most_arrays<A> + ... + 0)> uses;
  (detail::add_use(uses, a), ...);
  if (detail::needs_staging(s, uses.get())) [[unlikely]] {
    detail::search_call(s, at, detail::used_by::kernel, f, a...);
    detail::staged_launch enqueue(s, uses.get());
    enqueue.poison_outputs(a...);
    return launch_for_each<unwatched_run>(s, enqueue, space, f, enqueue.moved(a)...);
  }
  detail::direct_launch enqueue(s, uses);
  detail::check_call(
      s, at, detail::used_by::kernel, [&] { enqueue.poison_outputs(a...); }, f, a...);
  launch_for_each<unwatched_run>(s, enqueue, space, f, a...);
}

template <class Space, class F, class... A>
void for_each_placed(source_line at, const Space& space, const F& f, const A&... a) {
  for_each(default_stream(detail::placement(a...)), at, space, f, a...);
}

// Runs the loop of an accepted call; does nothing for a refused one.
template <class... P, class Space, class F, class... A>
void call_for_each(detail::accepted_call<P...>, const located<stream_ref>& s, const Space& space, const F& f,
                   A&&... a) {
  for_each(s.value, s.at, space, f, detail::as_argument<P>(std::forward<A>(a), s.at)...);
}
template <class... P, class Space, class F, class... A>
void call_for_each(detail::accepted_call<P...>, const detail::located_space<Space>& space, const F& f, A&&... a) {
  for_each_placed(space.at, space.space, f, detail::as_argument<P>(std::forward<A>(a), space.at)...);
}
template <class... Any>
void call_for_each(detail::refused_call, const Any&...) {}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// Calls f(index..., arguments...) in parallel for every index of a space.
///
/// Arrays arrive in f as pointers (contiguous arrays only) or ferry::mdspan, as f declares. Const arrays, in(a), and
/// arrays for which f declares const elements are read; out(a) is written. Other arrays are read and written. Ordered
/// on `s`. Does not block, except on the first use of a pair of devices and where staging copies need memory. The first
/// use of a pair tests its link, which allocates and waits for the test. The first launch of a FERRY_FUNCTOR on a
/// device waits until it is compiled.
/// @param s stream of the launch
/// @param space an integer n calls f(i, ...); extents of 2 to 6 dimensions call f(i, j, ...), f(i, j, k, ...) and so
///   on, last index fastest, also written as {n, m} or {n, m, l}; tiles call f(tile, ...)
/// @param f functor that can run on the device
/// @param arguments arrays and values to pass to f
/// @throws invalid_argument if the call is wrong as written
/// @throws use_after_free if an array was freed
/// @throws not_supported if a FERRY_FUNCTOR does not compile
/// @throws peer_access_error if the device cannot access an argument
/// @throws device_error if the device has failed
/// @note If it throws, nothing ran.
template <detail::index_space Space, class F, class... Arguments>
void parallel_for(located<stream_ref> s, const Space& space, const F& f, Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  detail::call_for_each(detail::checked<detail::loop_check<over, F, Arguments...>>(), s, detail::space_of(space), f,
                        std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(located<stream_ref> s, const extents<1>& space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_1d, F, Arguments...>>(), s,
                        detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(located<stream_ref> s, const extents<2>& space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_2d, F, Arguments...>>(), s,
                        detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(located<stream_ref> s, const extents<3>& space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_3d, F, Arguments...>>(), s,
                        detail::space_of(space), f, std::forward<Arguments>(arguments)...);
}
/// @overload
template <std::size_t Rank, class F, class... Arguments>
requires(Rank > 3) void parallel_for(located<stream_ref> s, const detail::braced_extent (&space)[Rank], const F& f,
                                     Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  detail::call_for_each(detail::checked<detail::loop_check<over, F, Arguments...>>(), s, detail::space_of(space), f,
                        std::forward<Arguments>(arguments)...);
}

/// Same as above, on the calling thread's stream of the device of the first written argument.
template <class F, class... Arguments>
void parallel_for(detail::located_space<detail::space_1d> space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_1d, F, Arguments...>>(), space, f,
                        std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(detail::located_space<detail::space_2d> space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_2d, F, Arguments...>>(), space, f,
                        std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(detail::located_space<detail::space_3d> space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_3d, F, Arguments...>>(), space, f,
                        std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(detail::located_space<detail::space_nd<4>> space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_nd<4>, F, Arguments...>>(), space, f,
                        std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(detail::located_space<detail::space_nd<5>> space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_nd<5>, F, Arguments...>>(), space, f,
                        std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(detail::located_space<detail::space_nd<6>> space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_nd<6>, F, Arguments...>>(), space, f,
                        std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class... Arguments>
void parallel_for(detail::located_space<detail::space_of_tiles> space, const F& f, Arguments&&... arguments) {
  detail::call_for_each(detail::checked<detail::loop_check<detail::space_of_tiles, F, Arguments...>>(), space, f,
                        std::forward<Arguments>(arguments)...);
}

/// Rejects spaces of more than six dimensions at compile time.
template <class F, class... Arguments>
void parallel_for(detail::located_space<detail::space_beyond>, const F&, Arguments&&...) {
  detail::checked<detail::loop_check<detail::space_beyond, F, Arguments...>>();
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
