// How a generated kernel traverses memory: what its source depends on besides the program.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// The position of an operand's or output's elements along axis 0.
enum class access_class : std::uint8_t {
  broadcast,   // stride 0
  contiguous,  // stride of one element
  strided,     // any other stride
  transposed,  // strided, and contiguous along the plan's tile_axis: loaded through a tile in shared memory
  gathered     // read at offsets that the program computes
};

// Each thread computes `unroll` vectors of `lanes` elements along axis 0, or elements of a tile. Evaluations with equal
// shape() have the same source.
struct kernel_plan {
  static constexpr unsigned threads = 256;
  static constexpr std::size_t most_accesses = 2 * (most_instructions + 6);

  explicit kernel_plan(const evaluation& e);

  // Bytes that determine the source: types, access classes, the numbers below, and the program without the values of
  // its constants. Valid until the plan is moved or destroyed.
  std::string_view shape() const { return {shape_.data(), shape_bytes_}; }
  access_class of_operand(std::size_t i) const { return classes_[i]; }
  access_class of_output(std::size_t i) const { return classes_[operands_ + i]; }
  bool has_tiles() const { return tile != 0; }

  std::uint8_t rank = 1;       // at least 1
  std::uint8_t lanes = 1;      // elements of a vector: a power of 2. Above 1, all contiguous accesses are aligned to it
  std::uint8_t unroll = 1;     // vectors of a thread, `threads` apart
  std::uint8_t tile = 0;       // elements of a tile's side; 0: no tiles
  std::uint8_t tile_axis = 0;  // the other axis of tiles
  bool is_wide = false;        // indices or strides need 64 bits
  // Not in the shape: the extents, in elements, and the digits of a position, fastest first. Each digit is a number of
  // values. Without tiles, a position counts vectors: the first digit is the vectors of a row, the others are the other
  // axes. With tiles, it counts tiles: along axis 0, along tile_axis, then along the other axes.
  std::array<std::size_t, max_rank> extent{}, digits{};
  std::size_t positions = 1;  // the product of all digits
  // Returns the number of blocks of the grid.
  std::size_t blocks() const {
    return has_tiles() ? positions : (positions + threads * unroll - 1) / (threads * unroll);
  }
  // True if the source uses the stride along axis d of an access of this class.
  static bool needs_stride(access_class c, std::size_t d) {
    return d != 0 || (c != access_class::broadcast && c != access_class::contiguous);
  }

 private:
  void classify(const evaluation& e);
  void choose_tiles(const evaluation& e);
  void choose_lanes(const evaluation& e);
  void choose_unroll(const evaluation& e);
  void choose_width(const evaluation& e);
  void write_shape(const evaluation& e);

  std::size_t operands_ = 0;
  std::size_t shape_bytes_ = 0;
  std::array<access_class, most_accesses> classes_;
  std::array<char, 10 + most_instructions*(sizeof(instruction) + sizeof(function_call)) + 4 * most_accesses> shape_;
};

// Calls f(number, operand) for the operands, then f(number, destination) for the outputs.
template <class F>
void for_each_access(const evaluation& e, F f) {
  std::size_t i = 0;
  for (const evaluation_operand& o : e.operands) f(i++, o);
  for (const evaluation_output& o : e.outputs) f(i++, o.to);
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
