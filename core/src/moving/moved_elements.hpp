// An array for `gather`: some of its axes are read at computed indices, the others are axes of the result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "ferry/core/detail/expressions/expression_program.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Builds the operand and its index. Axes are numbered from the last dimension. An axis that is neither traversed nor
// placed stays at index 0.
class moved_elements {
 public:
  explicit moved_elements(const array_elements& a) { describe(from_, a); }
  const program_operand& operand() const { return from_; }
  std::size_t rank() const { return from_.shape.rank; }
  std::size_t extent(std::size_t axis) const { return from_.shape.extent[axis]; }
  // Reads the axis at the index of an axis of the result.
  void traverse(std::size_t axis, std::size_t of_result) {
    from_.axis_map |= static_cast<std::uint32_t>(of_result + 1) << (4 * axis);
  }
  // Reads the axis at a computed index: an int64 in [0, extent). place_checked() takes any integers, and the kernel
  // checks them.
  void place(std::size_t axis, const expression_program& index);
  void place_checked(std::size_t axis, expression_program index);
  // The common shape of all indices.
  program_shape shape_of_indices() const { return offsets_->shape; }
  // Returns the program of the elements. Requires a placed axis.
  expression_program finish(const program_shape& result) &&;

 private:
  void add(expression_program offset);
  program_operand from_;
  std::optional<expression_program> offsets_;  // in bytes
};

expression_program int64_program(std::int64_t value);
// Returns the program of the index along an axis of this extent. The other axes of its shape have extent 1.
expression_program axis_index(std::size_t axis, std::size_t extent);
expression_program plus(expression_program p, std::int64_t value);

}  // namespace ferry::inline FERRY_ABI::detail
