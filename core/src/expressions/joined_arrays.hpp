// Arrays that a program puts together along an axis: an assignment copies them one by one, at the speed of a copy.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/expressions/expression_program.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Axes are numbered from the last.
struct joined_arrays {
  joined_arrays(std::size_t along, std::uint8_t value, std::size_t instructions, const program_shape& all)
      : axis(along),
        root(value),
        length(instructions),
        shape(all) {}
  // True if this is still the program that the parts were noted for: operations that take it as an operand append
  // instructions, and others change its shape.
  bool describe(const expression_program& p) const {
    return p.root == root && p.code.size() == length && p.shape == shape;
  }

  std::size_t axis;
  std::uint8_t root;
  std::size_t length;
  program_shape shape;
  std::vector<expression_program> programs;  // one behind the other along the axis
};

// The assignments of the arrays that the program puts together. Empty if it puts nothing together, if the destination
// has another shape or shares memory with an array, or if the arrays are written in pieces that are too short.
std::vector<assignment> assignments_of_parts(const expression_program& p, const program_operand& to);

}  // namespace ferry::inline FERRY_ABI::detail
