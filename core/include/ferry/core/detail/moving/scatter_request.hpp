// Scatters, between expressions and memory of arrays. No templates.
#pragma once
#include <cstddef>
#include <string_view>

#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct scatter_request {
  std::string_view name;  // of the function, for errors
  const program_operand* to = nullptr;
  expression_program indices, values;
  std::size_t dimension = 0;  // of the destination
  bool is_sum = false;
};

// Submits the request, ordered on the stream, or on the calling thread's stream of the destination's device.
// Expressions, and arrays that are not dense, go through temporaries, with a submission each. Does not block, except
// where memory is needed. Throws invalid_argument for shapes that do not fit; use_after_free.
void submit_scatter(const stream_ref* given, scatter_request r, source_line at);

}  // namespace ferry::inline FERRY_ABI::detail
