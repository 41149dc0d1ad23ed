#include "expressions/joined_arrays.hpp"

#include <algorithm>

#include "expressions/bound_program.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// If the contiguous pieces are shorter, one kernel that selects elements is faster than a copy of each array.
constexpr std::size_t least_piece_bytes = 256;

// Returns the part of a destination that begins at index `first` of an axis.
program_operand slice_of(const program_operand& to, std::size_t axis, std::size_t first, std::size_t extent) {
  program_operand part = to;
  part.data += static_cast<std::ptrdiff_t>(first) * to.stride_bytes[axis];
  part.shape.extent[axis] = extent;
  if (extent == 1) part.stride_bytes[axis] = 0;
  return part;
}

bool is_long(const program_operand& to, std::size_t axis, std::size_t extent) {
  const std::ptrdiff_t stride = to.stride_bytes[axis];
  return static_cast<std::size_t>(stride < 0 ? -stride : stride) * extent >= least_piece_bytes;
}

}  // namespace

std::vector<assignment> assignments_of_parts(const expression_program& p, const program_operand& to) {
  const joined_arrays& parts = *p.joined;
  if (!parts.describe(p) || to.shape != parts.shape) return {};
  std::vector<assignment> all;
  all.reserve(parts.programs.size());
  std::size_t first = 0;
  for (const expression_program& part : parts.programs) {
    const std::size_t extent = part.shape.extent[parts.axis];
    const bool overlaps = std::any_of(part.operands.begin(), part.operands.end(),
                                      [&](const program_operand& o) { return may_overlap(to, o); });
    if (overlaps || !is_long(to, parts.axis, extent)) return {};
    all.push_back({slice_of(to, parts.axis, first, extent), &part});
    first += extent;
  }
  return all;
}

}  // namespace ferry::inline FERRY_ABI::detail
