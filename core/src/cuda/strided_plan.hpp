// Plans a strided copy or fill with the fewest dimensions and the widest words. Pure functions on the CPU.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <ferry/core/detail/backend/backend.hpp>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// An element's bytes are one more dimension, contiguous, so an element of any size is a run of words.
inline constexpr std::size_t plan_rank = max_rank + 1;

// Words of `word` bytes (1, 2, 4, 8, 16) at to + sum(index[d] * to_stride[d]), slowest dimension first. Strides are in
// bytes.
struct strided_plan {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;  // null for a fill
  std::size_t word = 1;
  std::size_t words = 0;  // total number; 0: nothing to do
  std::size_t rank = 0;
  std::array<std::size_t, plan_rank> extent{};
  std::array<std::ptrdiff_t, plan_rank> to_stride{}, from_stride{};

  // Returns the bytes of the innermost run that is contiguous on both sides (one word if there is none).
  std::size_t run_bytes() const;
  // True if the whole operation is one contiguous piece.
  bool is_contiguous() const { return run_bytes() == words * word; }
  // True for rows of run_bytes() with one pitch on each side, as cudaMemcpy2DAsync requires: forwards, not overlapping.
  bool is_pitched(std::size_t max_pitch) const;
  // Returns the dimension along which the source is contiguous, if that differs from the target's (a transposition).
  // Tiles in shared memory are faster then. plan_rank if there is none.
  std::size_t source_run() const;
  std::size_t rows() const { return words * word / run_bytes(); }
};

// `from` may repeat elements (stride 0). Throws invalid_argument for a rank or an element size out of range.
strided_plan plan_copy(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape);

// The pattern of a fill: word c of a run is the `word` bytes at (c % period) * word of `bytes`.
struct fill_pattern {
  alignas(16) std::array<std::byte, 16> bytes{};
  std::uint32_t period = 1;
  // True if all bytes are equal, so that a memset suffices.
  bool uniform = false;
};

struct fill_plan {
  strided_plan where;
  fill_pattern what;
};
fill_plan plan_fill(const strided_bytes& to, const strided_shape& shape, const void* element);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
