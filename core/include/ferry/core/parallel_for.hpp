// Functors over index spaces, on devices or on simulated ones.
#pragma once
#include <type_traits>
#include <utility>

#include "ferry/core/index_space.hpp"
#include "ferry/core/kernel_parameters.hpp"
#include "ferry/core/type_name.hpp"
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace ferry {
inline namespace FERRY_UNIT {
namespace detail_unit {

template <class>
inline constexpr bool kernels_can_be_compiled =
#if FERRY_HAS_CUDA && !defined(__CUDACC__)
    false;
#else
    true;
#endif

#if defined(__CUDACC__)
struct launch_shape {
  dim3 grid, block;
};

// 256 threads; along x as far as the space goes, a power of two. The kernels stride by the grid where it is capped.
template <class Space>
launch_shape shape_for(const Space& s) {
  unsigned bx = 256;
  while (bx > 32 && bx / 2 >= s.x && Space::indices + (s.y > 1) > 1) bx /= 2;
  const unsigned by = 256 / bx;
  const auto capped = [](std::size_t n, std::size_t most) { return static_cast<unsigned>(n < most ? n : most); };
  return {dim3(capped(detail::ceil_div(s.x, bx), 0x7fffffff), capped(detail::ceil_div(s.y, by), 65535), capped(s.z, 65535)),
          dim3(bx, by)};
}

template <class Space, class F, class... P>
__global__ void run_over(Space space, F f, P... p) {
  const std::size_t x = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if constexpr (std::is_same_v<Space, detail::space_1d>) {
    for (std::size_t i = x; i < space.x; i += std::size_t{gridDim.x} * blockDim.x) space.call(f, i, 0, 0, p...);
  } else {
    const std::size_t y = blockIdx.y * std::size_t{blockDim.y} + threadIdx.y;
    for (std::size_t k = blockIdx.z; k < space.z; k += gridDim.z)
      for (std::size_t j = y; j < space.y; j += std::size_t{gridDim.y} * blockDim.y)
        for (std::size_t i = x; i < space.x; i += std::size_t{gridDim.x} * blockDim.x) space.call(f, i, j, k, p...);
  }
}
#endif

template <class Space, class F, class... P>
void run_on_cpu(const Space& space, const F& f, const P&... p) {
  for (std::size_t k = 0; k < space.z; ++k)
    for (std::size_t j = 0; j < space.y; ++j)
      for (std::size_t i = 0; i < space.x; ++i) space.call(f, i, j, k, p...);
}

// Gives one kernel to a simulated device: `body(parameters...)` runs the whole grid.
template <class F, std::size_t First, class Body, class... A>
void launch_simulated(native_stream s, Body body, const A&... a) {
  static_assert(sizeof...(A) <= 16, "a kernel takes at most 16 arguments");
  std::array<kernel_use, 16> uses;
  std::size_t n = 0;
  (detail::add_kernel_use(uses, n, a), ...);
  detail::with_parameters<F, First>(
      std::index_sequence_for<A...>(),
      [&](const auto&... p) {
        machine::current().verbs().launch(
            s, {detail::type_name<F>(), {uses.data(), n}, [body, p...](const relocation& move) {
                  body(detail::relocated<A>(move, p)...);
                }});
      },
      a...);
}

template <class Space, class F, class... A>
void for_each(stream_ref s, const Space& space, const F& f, const A&... a) {
  static_assert(kernels_can_be_compiled<F>,
                "this source is compiled as plain C++, but ferry was built with CUDA, so its kernels need nvcc: add the "
                "source by ferry_add_executable(), or build ferry with -DFERRY_CUDA=OFF");
  if (detail::is_empty(space)) return;
  detail::access_list<sizeof...(A)> uses;
  (detail::add_use(uses, a), ...);
  [[maybe_unused]] machine& m = machine::current();
#if defined(__CUDACC__)
  if (!m.is_simulated())
    return detail::with_parameters<F, Space::indices>(
        std::index_sequence_for<A...>(),
        [&](const auto&... p) {
          detail::current_device_scope current(m, s.line().device());
          detail::submit_ordered(s, uses.get(), reach::by_kernel, [&](native_stream n) {
            const launch_shape shape = shape_for(space);
            run_over<<<shape.grid, shape.block, 0, static_cast<cudaStream_t>(n.handle)>>>(space, f, p...);
            m.verbs().check_launch(n, detail::type_name<F>());
          });
        },
        a...);
#endif
  detail::submit_ordered(s, uses.get(), reach::by_kernel, [&](native_stream n) {
    launch_simulated<F, Space::indices>(n, [space, f](const auto&... p) { run_on_cpu(space, f, p...); }, a...);
  });
}

}  // namespace detail_unit

// Calls f(index..., arguments...) for every index of a space, in parallel: an integer n gives f(i, ...), extents of 2 or
// 3 give f(i, j, ...) or f(i, j, k, ...) with the last fastest, tiles give f(tile, ...). Arrays arrive as pointers
// (contiguous only) or ferry::mdspan, as f declares; const arrays and in(a) are read, others read and written, out(a)
// written. Ordered on `s`. Never blocks. Throws invalid_argument, peer_access_error, device_error; then nothing ran.
template <detail::index_space Space, class F, class... Arguments>
void parallel_for(stream_ref s, const Space& space, const F& f, Arguments&&... arguments) {
  detail_unit::for_each(s, detail::space_of(space), f, detail::as_argument(std::forward<Arguments>(arguments))...);
}

// The same on this thread's stream of the device of the first written argument.
template <detail::index_space Space, class F, class... Arguments>
void parallel_for(const Space& space, const F& f, Arguments&&... arguments) {
  const auto run = [&](const auto&... a) {
    detail_unit::for_each(default_stream(detail::placement(a...)), detail::space_of(space), f, a...);
  };
  run(detail::as_argument(std::forward<Arguments>(arguments))...);
}

}  // namespace FERRY_UNIT
}  // namespace ferry
