// How an evaluation is divided into blocks.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "interpreter/loop_table.hpp"

namespace ferry::inline FERRY_ABI::detail {

// When the elements of a load are copied to its register.
enum class load_way : std::uint8_t {
  in_place,   // the register is the array's memory
  once,       // the same for all blocks
  each_line,  // the same for all blocks of a line
  each_block,
  never  // of a computed value that nothing reads
};

// A value of the program: its register, and the loop that computes it.
struct block_step {
  block_loop loop = nullptr;  // null for loads and gathers without conversion, constants, indices, offsets and calls
  instruction what;
  load_way way = load_way::each_block;
  int slot = -1;             // register; -1: in memory of an array
  int output = -1;           // computed into the memory of this output
  bool is_computed = false;  // from other values
};

// Axes 0 to span - 1 form a line, so that short rows do not make short blocks. Each combination of the other indices is
// another line. Blocks are ranges of the elements of a line, in order.
struct block_plan {
  // values: the values that are needed after all steps, so that no other value uses their registers. unit: the number
  // of elements of a block is a multiple of it, except in the last block of a line.
  explicit block_plan(const evaluation& e, std::span<const std::uint8_t> values = {}, std::size_t unit = 1);
  std::size_t span = 0;  // number of axes of a line
  std::size_t line = 1;  // elements of a line
  std::size_t lines = 1;
  std::size_t block = 1;          // elements of a block
  std::size_t blocks = 1;         // of a line
  bool is_block_major = false;    // evaluates a block of all lines before the next block: for transposed operands
  std::vector<block_step> steps;  // by instruction
  int slots = 0;
  std::size_t slot_bytes = 0;
  std::array<bool, most_instructions> is_flat{};  // by operand: contiguous on the line
  std::vector<bool> stores;                       // by output: needs a store after the steps

 private:
  void choose_blocks(const evaluation& e, std::size_t unit);
  void choose_steps(const evaluation& e, std::span<const std::uint8_t> values);
};

// True if the elements of an operand are contiguous on the line.
bool is_flat_on(const evaluation& e, const evaluation_operand& o, std::size_t span);

}  // namespace ferry::inline FERRY_ABI::detail
