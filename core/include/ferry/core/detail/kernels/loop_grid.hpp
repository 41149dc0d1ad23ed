// The grid of a loop over an index space.
#pragma once
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"
#if FERRY_HAS_CUDA
#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

#include "ferry/core/detail/kernels/loop_layout.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The number of blocks of a kernel, or of threads of a block, as CUDA's dim3.
struct grid_size {
  constexpr grid_size(unsigned along_x = 1, unsigned along_y = 1, unsigned along_z = 1)
      : x(along_x),
        y(along_y),
        z(along_z) {}
  unsigned x, y, z;
};

inline namespace FERRY_UNIT {

// Bytes of an element of an array that a kernel gets; 0 for other parameters.
template <class P>
constexpr std::size_t element_bytes_of() {
  if constexpr (std::is_pointer_v<P> && std::is_object_v<std::remove_pointer_t<P>>)
    return sizeof(std::remove_pointer_t<P>);
  else if constexpr (requires { typename P::element_type; })
    return sizeof(typename P::element_type);
  else
    return 0;
}
// Calls of a thread in one dimension: 16 bytes of the largest elements. With blocks of 128 threads this is the fastest
// for elements of 1 to 16 bytes on an H100. 1 if no array is passed.
template <class... P>
constexpr unsigned line_steps() {
  const std::size_t bytes = std::max({std::size_t{0}, element_bytes_of<P>()...});
  return bytes == 0 || bytes > 16 ? 1 : static_cast<unsigned>(16 / bytes);
}

// The parameter of a kernel that knows the last strides of spans to be 1.
template <class P>
struct parameter_of_unit_stride {
  using type = P;
};
template <strided_parameter P>
struct parameter_of_unit_stride<P> {
  using type = unit_strided<P>;
  static_assert(sizeof(type) == sizeof(P) && alignof(type) == alignof(P));  // launches pass the span itself
};
// True if these strides are 1 in all spans.
template <class... P>
bool have_unit_strides(const P&... p) {
  const auto is_unit = [](const auto& q) {
    if constexpr (strided_parameter<std::decay_t<decltype(q)>>)
      return q.has_unit_stride();
    else
      return true;
  };
  return (... && is_unit(p));
}

struct loop_grid {
  grid_size blocks, threads;
  block_layout layout;
};

template <class Space>
[[noreturn]] void throw_too_many_blocks(const Space& s) {
  std::string outer;
  if constexpr (Space::indices > 3)
    for (const std::size_t e : s.outer) outer += concat(e, " x ");
  else
    outer = concat(s.z, " x ");
  throw invalid_argument(concat("an index space of ", outer, s.y, " x ", s.x,
                                " calls needs more than 2^31 - 1 blocks of 256 threads: split it"));
}

// P: types of the kernel's parameters. A thread makes several calls only where all multiprocessors have enough threads
// then. Throws before anything is submitted.
template <class... P, class Space>
loop_grid grid_over(const Space& s, int multiprocessors) {
  constexpr std::size_t most_blocks = 0x7fffffff;
  const std::size_t wanted = 2 * 2048 * static_cast<std::size_t>(multiprocessors);  // twice those that run at a time
  if constexpr (is_over_line<Space>) {
    std::size_t threads = 128, steps = line_steps<P...>();
    if (s.x / steps < wanted) threads = block_threads, steps = 1;
    if (ceil_div(s.x, threads * steps) > most_blocks) steps = ceil_div(s.x, threads * most_blocks);
    return {grid_size(static_cast<unsigned>(ceil_div(s.x, threads * steps))),
            grid_size(static_cast<unsigned>(threads)),
            {.steps = static_cast<unsigned>(steps)}};
  } else {
    unsigned bx = block_threads;
    while (bx > 32 && bx / 2 >= s.x) bx /= 2;
    unsigned steps = is_over_tiles<Space> ? 1 : Space::indices == 2 ? 4 : 8;
    if (at_most(s.x, wanted) * at_most(s.y, wanted) * at_most(s.z, wanted) / steps < wanted) steps = 1;
    const unsigned by = block_threads / bx, y_steps = Space::indices > 2 ? 1 : steps;
    const std::size_t along_x = ceil_div(s.x, bx), along_y = ceil_div(s.y, std::size_t{by} * y_steps);
    const std::size_t along_z = Space::indices > 2 ? ceil_div(s.z, steps) : 1;
    std::size_t blocks = 0;
    if (__builtin_mul_overflow(along_x, along_y, &blocks) || __builtin_mul_overflow(blocks, along_z, &blocks) ||
        blocks > most_blocks)
      throw_too_many_blocks(s);
    return {grid_size(static_cast<unsigned>(blocks)),
            grid_size(bx, by),
            {bx, static_cast<unsigned>(along_x), static_cast<unsigned>(along_y), steps}};
  }
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
