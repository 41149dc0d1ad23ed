// A program with destinations: what an evaluator gets, and the arrays behind it.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A value of a program, and the memory to which it is stored.
struct bound_output {
  const program_operand* to;
  std::uint8_t value;
};

// Removes what no output needs, removes axes of extent 1, orders axes by the strides of the first output, reverses
// those that it traverses backwards, and joins axes.
class bound_program {
 public:
  // Throws invalid_argument for an index along an axis that the outputs lack.
  bound_program(const expression_program& p, std::span<const bound_output> outputs, bool use_masks);
  // Valid as long as this object.
  evaluation view() const;
  // Numbers, in the program, of the operands that are read.
  std::span<const std::uint8_t> operands() const { return {used_.data(), used_count_}; }
  // True if only some elements of the output are written.
  bool is_masked(std::size_t output) const { return outputs_[output].mask != evaluation_output::no_mask; }

 private:
  // New numbers, by the program's numbers, of values and constants.
  struct needed_numbers {
    std::array<std::uint8_t, most_instructions> value, constant;
  };
  void keep_needed(const expression_program& p, std::span<const bound_output> outputs, bool use_masks);
  std::uint8_t keep(const expression_program& p, std::uint8_t value, needed_numbers& to);
  std::uint8_t keep_gathered(const expression_program& p, std::uint8_t original);
  void bind_indices(const program_shape& shape);
  void order_axes(const program_shape& shape, std::span<const bound_output> outputs);
  void join_axes();
  std::ptrdiff_t& stride(std::size_t array, std::size_t axis);

  std::size_t rank_ = 0;
  std::array<std::size_t, max_rank> extent_{};
  std::array<bool, max_rank> is_indexed_{};
  std::size_t used_count_ = 0;
  small_vector<instruction, 24> code_;
  std::array<std::uint8_t, most_instructions> used_;
  small_vector<evaluation_operand, 12> operands_;
  small_vector<evaluation_output, 4> outputs_;
  small_vector<program_constant, 8> constants_;
  small_vector<function_call, 2> calls_;
};

// True if two arrays may have bytes in common. Conservative: false only if they certainly have none.
bool may_overlap(const program_operand& a, const program_operand& b);
// The same, for operands whose bytes() are known.
bool may_overlap(const program_operand& a, byte_range in_a, const program_operand& b, byte_range in_b);
// True if every index has the same element in both. shape: that of the destination.
bool are_same_elements(const program_operand& destination, const program_operand& operand);

}  // namespace ferry::inline FERRY_ABI::detail
