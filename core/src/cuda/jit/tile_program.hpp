// Programs in the form that the tile kernel reads. No CUDA headers: included by the kernel and by plain C++.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// A value of a tile is in a slot of shared memory: for each thread, one chunk of 16 bytes at each of its positions.
inline constexpr unsigned tile_chunks = 2, chunk_bytes = 16;
// With transposed operands, a tile has 16 chunks along axis 0, and 32 elements along the other axis.
inline constexpr unsigned tile_width = 16, tile_threads = 256, tile_height = tile_threads / tile_width * tile_chunks;

// Slots are given by the offset of their first chunk in bytes.
struct alignas(8) tile_step {
  std::uint16_t what;  // operation
  std::uint16_t to, a, b, c;
};
enum class tile_access_kind : std::uint8_t {
  chunks,      // aligned chunks of the type of values
  one,         // one element of that type for all of axis 0
  elements,    // any stride, any type
  transposed,  // of the type of values; contiguous along tile_axis
};
struct tile_access {
  char* data;
  std::int32_t stride[max_rank];  // in bytes
  tile_access_kind kind;
  scalar_type type;          // in memory
  std::uint16_t slot, mask;  // mask: slot, or no_mask
};

struct alignas(16) tile_program {
  static constexpr std::size_t most_steps = 96, most_accesses = 20, most_constants = 32;
  static constexpr std::uint16_t no_mask = 0xffff;
  static constexpr std::size_t most_shared_bytes = (std::size_t{24} << 10) * tile_chunks;
  static constexpr unsigned most_slots = 48;  // of blocks of 32 threads

  std::uint32_t row;               // elements along axis 0
  std::uint32_t positions;         // chunks of all rows; with transposed operands, tiles
  std::uint32_t digits[max_rank];  // chunks of a row, or tiles; then the extents of the other axes
  // Divides by a digit: the product with the factor, shifted.
  std::uint32_t factor[max_rank];
  std::uint8_t shift[max_rank];
  std::uint32_t extent[max_rank];
  std::uint8_t is_tiled[max_rank];  // 1 for tile_axis
  std::uint8_t rank, operands, outputs, constants, steps, slots;
  std::uint8_t tile_axis;  // axis along which transposed operands are contiguous; 0 without
  scalar_type type;        // float32 or float64: of all values but bool ones, which are 0 or 1 of the same type
  std::uint16_t constant_slot[most_constants];
  double constant[most_constants];
  tile_access access[most_accesses];  // of the operands, then of the outputs
  tile_step step[most_steps];

  // Returns false if the program has another form than tile programs: values of other types, too many of anything.
  bool assign(const evaluation& e);
  unsigned lanes() const { return chunk_bytes / static_cast<unsigned>(size_of(type)); }  // elements of a chunk
  unsigned threads() const;
  std::size_t shared_bytes() const { return std::size_t{chunk_bytes} * tile_chunks * threads() * slots; }
  std::size_t blocks() const;
};
static_assert(sizeof(tile_program) <= 4064);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
