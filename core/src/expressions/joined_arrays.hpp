// Arrays that a program joins along an axis. An assignment copies them one by one, at the speed of a copy.
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
  // True if p only joins these arrays. False if operations were applied to it: they append instructions, or change its
  // shape.
  bool describe(const expression_program& p) const {
    return p.root == root && p.code.size() == length && p.shape == shape;
  }

  std::size_t axis;
  std::uint8_t root;
  std::size_t length;
  program_shape shape;
  std::vector<expression_program> programs;  // in order along the axis
};

// Returns the assignments of the joined arrays to parts of the destination. Empty if the program joins none, if the
// destination has another shape or shares memory with an array, or if the contiguous pieces are too short.
std::vector<assignment> assignments_of_parts(const expression_program& p, const program_operand& to);

}  // namespace ferry::inline FERRY_ABI::detail
