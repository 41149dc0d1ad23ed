// Turns a strided copy or fill into the fewest dimensions and the widest words that do the same. Pure, on the CPU.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <ferry/core/detail/backend/backend.hpp>

namespace ferry::cuda {

// An element's own bytes are one more dimension, contiguous, so an element of any size is but a run of words.
inline constexpr std::size_t plan_rank = max_rank + 1;

// Words of `word` bytes (1, 2, 4, 8, 16) at to + sum(index[d] * to_stride[d]), slowest dimension first. Strides in bytes.
struct strided_plan {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;  // null for a fill
  std::size_t word = 1;
  std::size_t words = 0;  // in all; 0: nothing to do
  std::size_t rank = 0;
  std::array<std::size_t, plan_rank> extent{};
  std::array<std::ptrdiff_t, plan_rank> to_stride{}, from_stride{};

  // Bytes of the innermost run that is contiguous on both sides (one word if nothing is).
  std::size_t run_bytes() const;
  // The whole operation is one contiguous piece.
  bool is_contiguous() const { return run_bytes() == words * word; }
  // Rows of run_bytes() with one pitch each, as cudaMemcpy2DAsync wants them: forwards, not overlapping.
  bool is_pitched(std::size_t max_pitch) const;
  // The dimension along which the source is contiguous, when that is not the target's (a transposition): worth going
  // through tiles of shared memory. plan_rank if there is none.
  std::size_t source_run() const;
  std::size_t rows() const { return words * word / run_bytes(); }
};

// `from` may repeat elements (stride 0). Throws invalid_argument for a rank or an element size out of range.
strided_plan plan_copy(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape);

// What a fill writes: the word with number c of a run is the `word` bytes at (c % period) * word of `bytes`.
struct fill_pattern {
  alignas(16) std::array<std::byte, 16> bytes{};
  std::uint32_t period = 1;
  // All bytes are equal, so that a memset does it.
  bool uniform = false;
};

struct fill_plan {
  strided_plan where;
  fill_pattern what;
};
fill_plan plan_fill(const strided_bytes& to, const strided_shape& shape, const void* element);

}  // namespace ferry::cuda
