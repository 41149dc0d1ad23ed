// A reduction, a scan or a histogram of an expression's elements. No templates.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The public functions.
enum class reduction_function : std::uint8_t {
  sum,
  prod,
  min,
  max,
  mean,
  var,
  std,
  norm,
  any,
  all,
  count,
  argmin,
  argmax
};

// Returns the type of the result for elements of type t; none if there is no such reduction.
constexpr scalar_type reduced_as(reduction_function f, scalar_type t) {
  using enum scalar_type;
  const bool is_whole = t == boolean || is_integer(t);
  const scalar_type real = is_whole ? float64 : computed_as(t);
  switch (f) {
    case reduction_function::sum:
    case reduction_function::prod: return !is_whole ? real : is_signed(t) ? int64 : uint64;
    case reduction_function::min:
    case reduction_function::max: return is_complex(t) ? none : t;
    case reduction_function::mean: return real;
    case reduction_function::var:
    case reduction_function::std:
    case reduction_function::norm: return real_of(real);
    case reduction_function::any:
    case reduction_function::all: return t == boolean ? boolean : none;
    case reduction_function::count: return t == boolean ? uint64 : none;
    case reduction_function::argmin:
    case reduction_function::argmax: return is_complex(t) ? none : int64;
  }
  return none;
}

// The axes of a reduction, as the program's user numbers them: from the first dimension, negative ones from the last.
struct axis_list {
  std::span<const int> axes;
  bool are_all = false;   // `axes` is empty
  bool are_kept = false;  // with extent 1
};

struct reduction_program {
  expression_program program;  // its root has a type that `how` combines
  std::string_view name;       // such as "sum"
  std::uint8_t shown = 0;      // number of the value that the user wrote
  std::string text;            // what the user wrote, where that is no value of the program
  std::uint8_t axes = 0;       // bit d: axis d is reduced; axes are numbered from the last
  bool are_all = false, are_kept = false;
  reduction_kind kind = reduction_kind::reduce;
  reduction_output how{};  // without `to` and `value`
  std::size_t bins = 0;
  scalar_type result = scalar_type::none;
  program_shape shape() const;
};

// Returns the program of a reduction. freedom: of var and std. Throws invalid_argument for axes that are missing, or
// named twice.
reduction_program reduce_program(reduction_function f, expression_program p, scalar_type element, const axis_list& axes,
                                 double freedom = 0);
// Returns the program of a scan: inclusive, or exclusive and beginning with `initial`, a value of the type `result`.
// what: sum, product, minimum or maximum.
reduction_program scan_program(std::string_view name, reduction_operation what, expression_program p,
                               scalar_type result, int axis, const void* initial);
// Returns the program of a histogram: how often each integer below `bins` occurs, or the sum of its weights (double).
reduction_program count_program(expression_program p, std::size_t bins, const expression_program* weights);
// As above, for bins of equal widths from low to high.
reduction_program histogram_program(expression_program p, std::size_t bins, double low, double high,
                                    const expression_program* weights);

// Throws invalid_argument with both shapes if they differ.
void need_equal_shapes(const expression_program& a, const expression_program& b, std::string_view function);
// Returns the device of the first array of the programs; the default device if there is none.
device common_home(std::initializer_list<const reduction_program*> all);

// Returns a text such as "sum(a + b, axes{0})".
std::string text_of(const reduction_program& r);
std::string explain_reduction(const reduction_program& r);
// Compiles the kernel that computes all in one pass, and blocks until that is done. Returns false if nothing can be
// compiled. Throws what assign_reductions() does for reductions that differ in shape or axes. Without a device, for
// that of the operands.
bool precompile_reductions(std::span<const reduction_program* const> all, const std::optional<device>& on = {});

// A reduction and the memory of its result.
struct reduction_assignment {
  program_operand to;
  const reduction_program* value;
};
// Runs reductions of equal axes over arrays of equal shapes in one submission, in one pass over memory. Scans and
// histograms run one at a time. If bytes of a destination are read as well, it goes through a temporary. Ordered on the
// stream, or on the calling thread's stream of the first destination's device. Throws invalid_argument for shapes that
// do not fit, for min, max, argmin and argmax over no elements, and what admit() refuses; use_after_free.
void assign_reductions(const stream_ref* s, std::span<const reduction_assignment> all, source_line at);

}  // namespace ferry::inline FERRY_ABI::detail
