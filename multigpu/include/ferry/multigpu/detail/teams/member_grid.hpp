// The members of a team as a grid over the axes of an array. No templates.
#pragma once
#include <array>
#include <cstddef>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/extents.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Divides `count` elements into contiguous parts in order, whose sizes differ by at most one; the larger parts are
// first.
constexpr part even_part(std::size_t index, std::size_t parts, std::size_t count) {
  const std::size_t each = count / parts, more = count % parts;
  const std::size_t begin = index * each + (index < more ? index : more);
  return {begin, begin + each + (index < more ? 1 : 0)};
}
// Returns the index of the part that contains an element.
constexpr std::size_t even_part_with(std::size_t element, std::size_t parts, std::size_t count) {
  const std::size_t each = count / parts, more = count % parts;
  const std::size_t in_larger = more * (each + 1);
  return element < in_larger ? element / (each + 1) : more + (element - in_larger) / each;
}

// Axes are numbered from the last. Members are numbered in row-major order of their coordinates: neighbours along the
// last axis that is cut have consecutive numbers.
struct member_grid {
  std::array<std::size_t, max_rank> members{};  // along each axis; 0 along axes that are not cut
  std::array<std::size_t, max_rank> step{};     // from a member to the next one along each axis that is cut

  // Sets the steps of a grid that has all members of a team.
  void number_members() {
    std::size_t next = 1;
    for (std::size_t d = 0; d != max_rank; ++d)
      if (members[d] != 0) step[d] = next, next *= members[d];
  }
  bool is_cut(std::size_t axis) const { return members[axis] != 0; }
  // Returns the number of axes that are cut.
  std::size_t cuts() const {
    std::size_t n = 0;
    for (const std::size_t m : members) n += m != 0;
    return n;
  }
  // Calls f(axis, coordinate) for each axis that is cut, with the coordinate of a member. Rank: of the array; g++ 12 at
  // -O3 warns of axes beyond it.
  template <std::size_t Rank = max_rank, class F>
  void for_each_cut(std::size_t member, F f) const {
    for (std::size_t d = 0; d != Rank; ++d)
      if (members[d] != 0) f(d, member / step[d] % members[d]);
  }
  bool operator==(const member_grid&) const = default;
};

}  // namespace ferry::inline FERRY_ABI::detail
