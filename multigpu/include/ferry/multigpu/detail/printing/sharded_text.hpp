// Cells of sharded arrays as text. No templates.
#pragma once
#include <string>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/print.hpp"
#include "ferry/multigpu/detail/shards/sharded_operand.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The text of an array of one device with the same elements. Copies the cells that are shown to the CPU; blocks. All
// processes of the team must call it, and get the text.
std::string text_of_cells(const sharded_operand& a, const print_options& how);
// Writes text and a line feed to the standard output of the process of member 0.
void print_in_first_process(const team& t, const std::string& text);

}  // namespace ferry::inline FERRY_ABI::detail
