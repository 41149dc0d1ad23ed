// Boxes of elements as parts of contiguous memory.
#pragma once
#include "ferry/multigpu/detail/halos/halo_box.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline std::size_t bytes_of(const strided_shape& s) {
  std::size_t n = s.element_bytes;
  for (std::size_t d = 0; d < s.rank; ++d) n *= s.extent[d];
  return n;
}

// Returns the elements of a shape in contiguous memory.
inline strided_bytes packed_at(std::byte* base, const strided_shape& s) {
  strided_bytes b{base, {}};
  auto step = static_cast<std::ptrdiff_t>(s.element_bytes);
  for (std::size_t d = s.rank; d-- > 0; step *= static_cast<std::ptrdiff_t>(s.extent[d])) b.stride_bytes[d] = step;
  return b;
}

// Alignment of each box in a message.
inline constexpr std::size_t packed_alignment = 256;
inline std::size_t aligned(std::size_t n) { return (n + packed_alignment - 1) / packed_alignment * packed_alignment; }

// Returns the bytes of boxes that are packed one after the other.
inline std::size_t packed_bytes(const box_list& boxes) {
  std::size_t n = 0;
  for (const halo_box* b : boxes) n += aligned(bytes_of(b->shape));
  return n;
}

}  // namespace ferry::inline FERRY_ABI::detail
