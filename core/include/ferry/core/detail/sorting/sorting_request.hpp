// Sorting and related functions, between expressions and memory of arrays. No templates.
#pragma once
#include <cstddef>
#include <string_view>

#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/operations/sorting_task.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The sources and results of one call. Null: there is no such source or result.
struct sorting_request {
  std::string_view name;  // of the function, for errors
  sorting_kind kind = sorting_kind::sort;
  scalar_type type = scalar_type::none;  // of the elements that are sorted, or selected
  int axis = -1;                         // of sort, partition and order; negative: from the last
  bool is_descending = false, is_after_equal = false, is_merged = false;
  std::size_t kept = 0;  // of partition
  expression_program* from = nullptr;
  expression_program* other = nullptr;
  const program_operand* values = nullptr;
  const program_operand* positions = nullptr;
  const program_operand* counts = nullptr;
  const program_operand* inverse = nullptr;
  const program_operand* found = nullptr;
};

// Submits the request, ordered on the stream, or on the calling thread's stream of the first result's device.
// Expressions, strided sources and strided results go through temporaries, with a submission each. Does not block,
// except where memory is needed. Throws invalid_argument for axes, shapes and indices that do not fit; use_after_free.
void submit_sorting(const stream_ref* given, const sorting_request& r, source_line at);

// Checks an axis, and returns its number from the first dimension. Throws invalid_argument.
std::size_t sorted_axis(std::string_view name, int axis, std::size_t rank);
// Throws invalid_argument if k is above `extent`.
void need_top(std::size_t k, std::size_t extent);

}  // namespace ferry::inline FERRY_ABI::detail
