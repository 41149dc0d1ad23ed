// How an evaluation is cut into blocks.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "interpreter/loop_table.hpp"

namespace ferry::inline FERRY_ABI::detail {

// When the elements of a load are the register's contents.
enum class load_way : std::uint8_t {
  in_place,   // the register is the array's memory
  once,       // the same for all blocks
  each_line,  // the same for all blocks of a line
  each_block
};

// A value in registers: where it is, and what computes it.
struct block_step {
  block_loop loop = nullptr;  // null for loads and gathers without conversion, constants, indices, offsets and calls
  instruction what;
  load_way way = load_way::each_block;
  int slot = -1;             // register; -1: in memory of an array
  int output = -1;           // computed into the memory of this output
  bool is_computed = false;  // from other values
};

// The axes [0, span) are the line: blocks are ranges of its elements, in order. All combinations of the other indices
// are lines. So short rows do not make short blocks.
struct block_plan {
  // values: how many are needed after all steps, so that none of these shares its register; unit: a block has a
  // multiple of so many elements, unless it is the last of its line.
  explicit block_plan(const evaluation& e, std::span<const std::uint8_t> values = {}, std::size_t unit = 1);
  std::size_t span = 0;  // number of axes of a line
  std::size_t line = 1;  // elements of a line
  std::size_t lines = 1;
  std::size_t block = 1;          // elements of a block
  std::size_t blocks = 1;         // of a line
  bool is_block_major = false;    // goes over all lines before the next block: for operands whose inner axis is another
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
