// The lines of the program in which the CPU asked for an array: how they are counted, and how many of them a text shows.
#pragma once
#include <string>
#include <vector>

#include "ferry/unified/report.hpp"

namespace ferry {

// A text shows so many, the first ones; all are kept: a program has only so many lines.
inline constexpr std::size_t shown_touches = 32;

// Counts an access of the CPU for its line.
void note_touch(std::vector<cpu_touch>& touches, const coming_access& a);
// "and 8 more lines of the CPU, 12 asks"; "" where all are shown.
std::string more_touches(const std::vector<cpu_touch>& touches);

}  // namespace ferry
