// Reductions with destinations: what an evaluator gets, and the arrays behind it.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "expressions/bound_program.hpp"
#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "ferry/core/detail/reductions/reduction_program.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A result of a program, and its memory.
struct bound_result {
  const program_operand* to;
  std::uint8_t value;            // number in the program
  const reduction_program* how;  // `weight` is a number in the program as well
};

// Orders axes for the operands that are read, and joins them.
class bound_reduction {
 public:
  // Throws invalid_argument for an index along an axis that the program lacks.
  bound_reduction(const expression_program& p, std::span<const bound_result> results);
  // Valid as long as this object.
  reduction_evaluation view() const;
  // Numbers, in the program, of the operands that are read.
  std::span<const std::uint8_t> operands() const { return bound_->operands(); }

 private:
  std::optional<bound_program> bound_;
  reduction_evaluation shape_;
  std::vector<reduction_output> results_;
};

}  // namespace ferry::inline FERRY_ABI::detail
