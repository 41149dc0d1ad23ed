// Random strided operations with their oracle, for testing plans (anywhere) and kernels (on a GPU).
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <ferry/core/detail/backend/backend.hpp>

namespace cuda_test {

using random_engine = std::mt19937_64;

inline std::size_t pick(random_engine& r, std::size_t from, std::size_t to) {
  return std::uniform_int_distribution<std::size_t>(from, to)(r);
}

inline std::vector<std::byte> random_bytes(random_engine& r, std::size_t n) {
  std::vector<std::byte> v(n);
  for (std::byte& b : v) b = static_cast<std::byte>(pick(r, 0, 255));
  return v;
}

inline ferry::detail::strided_shape random_shape(random_engine& r, std::size_t rank, std::size_t element_bytes) {
  static constexpr std::array<std::size_t, 7> most{0, 3000, 70, 20, 9, 6, 5};
  ferry::detail::strided_shape shape{.element_bytes = element_bytes, .rank = rank};
  for (std::size_t d = 0; d < rank; ++d) shape.extent[d] = pick(r, 1, most[rank]);
  return shape;
}

// One side of an operation: strides, and the offset of element 0 in a buffer of `bytes` bytes.
struct layout {
  std::array<std::ptrdiff_t, ferry::max_rank> stride{};
  std::size_t offset = 0, bytes = 0;
  ferry::detail::strided_bytes at(std::byte* buffer) const { return {buffer + offset, stride}; }
};

// Dimensions in any memory order, with gaps of any number of bytes, in any direction. `plain` makes it contiguous.
inline layout random_layout(random_engine& r, const ferry::detail::strided_shape& shape, bool may_repeat) {
  layout l;
  std::vector<std::size_t> order(shape.rank);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  const bool plain = pick(r, 0, 3) == 0;
  if (!plain && pick(r, 0, 1) == 0) std::shuffle(order.begin(), order.end(), r);
  std::size_t step = shape.element_bytes;
  for (const std::size_t d : order) {
    if (may_repeat && pick(r, 0, 7) == 0) continue;  // stride 0: repeats elements
    if (!plain && pick(r, 0, 1) == 0) step += pick(r, 1, 3) * (pick(r, 0, 1) == 0 ? 1 : shape.element_bytes);
    l.stride[d] = static_cast<std::ptrdiff_t>(step);
    step *= shape.extent[d];
    if (!plain && pick(r, 0, 2) == 0) {
      l.offset += (shape.extent[d] - 1) * static_cast<std::size_t>(l.stride[d]);
      l.stride[d] = -l.stride[d];
    }
  }
  const std::size_t front = plain ? 0 : pick(r, 0, 16);
  l.offset += front;
  l.bytes = front + step + 32;
  return l;
}

// Calls f with the byte offsets of each element on both sides, relative to element 0.
template <class F>
void for_each_element(const ferry::detail::strided_shape& shape, const layout& to, const layout& from, F f) {
  std::array<std::size_t, ferry::max_rank> index{};
  for (;;) {
    std::ptrdiff_t a = 0, b = 0;
    for (std::size_t d = 0; d < shape.rank; ++d) {
      a += static_cast<std::ptrdiff_t>(index[d]) * to.stride[d];
      b += static_cast<std::ptrdiff_t>(index[d]) * from.stride[d];
    }
    f(a, b);
    std::size_t d = shape.rank;
    while (d > 0 && ++index[d - 1] == shape.extent[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

inline void oracle_copy(std::byte* to, const layout& lt, const std::byte* from, const layout& lf,
                        const ferry::detail::strided_shape& shape) {
  for_each_element(shape, lt, lf, [&](std::ptrdiff_t a, std::ptrdiff_t b) {
    std::memcpy(to + lt.offset + a, from + lf.offset + b, shape.element_bytes);
  });
}

inline void oracle_fill(std::byte* to, const layout& lt, const ferry::detail::strided_shape& shape,
                        const void* element) {
  for_each_element(shape, lt, lt, [&](std::ptrdiff_t a, std::ptrdiff_t) {
    std::memcpy(to + lt.offset + a, element, shape.element_bytes);
  });
}

}  // namespace cuda_test
