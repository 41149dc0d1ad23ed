// The lines of the program in which the CPU accesses an array: their counts, and how many of them a text shows.
#pragma once
#include <string>
#include <vector>

#include "ferry/unified/report.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A text shows this many lines, the first ones. All lines are recorded: a program has a limited number.
inline constexpr std::size_t shown_touches = 32;

// Counts a host access for its source line.
void note_touch(std::vector<cpu_touch>& touches, const coming_access& a);
// Returns text such as "and 8 more lines of the CPU, 12 checks", or "" if all lines are shown.
std::string more_touches(const std::vector<cpu_touch>& touches);

}  // namespace ferry::inline FERRY_ABI::detail
