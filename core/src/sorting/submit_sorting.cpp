// The submission of sorting tasks.
#include <string>

#include "expressions/operand_memory.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/sorting/sorting_request.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "sorting/bound_sorting.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string called(const sorting_request& r) { return concat("fr::", r.name); }

void need_equal(const sorting_request& r, const program_shape& to, const program_shape& from, const std::string& what) {
  if (to != from)
    throw invalid_argument(called(r) + ": " + what + " of " + text_of(to) + " and the elements of " + text_of(from) +
                           " must have equal shapes");
}

void need_own_elements(const sorting_request& r, const program_operand* to, source_line at) {
  if (!to || to->shape.is_empty()) return;
  for (std::size_t d = 0; d != to->shape.rank; ++d)
    if (to->shape.extent[d] > 1 && to->stride_bytes[d] == 0)
      throw invalid_argument(called(r) + " to " + array_text(look_at(*to)) + in_line(at) +
                             ": some of its indices name the same element");
}

// Returns the axis, numbered from the last dimension. Throws invalid_argument.
std::size_t checked_axis(const sorting_request& r) {
  const std::size_t rank = r.from->shape.rank;
  if (r.kind == sorting_kind::unique || r.kind == sorting_kind::search || r.kind == sorting_kind::rank ||
      r.kind == sorting_kind::select)
    return 0;
  return rank - 1 - sorted_axis(r.name, r.axis, rank);
}

void need_shapes(const sorting_request& r, std::size_t axis, source_line at) {
  const program_shape& from = r.from->shape;
  for (const program_operand* to : {r.values, r.positions, r.counts, r.inverse}) need_own_elements(r, to, at);
  switch (r.kind) {
    case sorting_kind::partition:
      if (r.kept >= from.extent[axis])
        throw invalid_argument(
            concat(called(r), ": there is no element ", r.kept, " along an axis of ", from.extent[axis], in_line(at)));
      [[fallthrough]];
    case sorting_kind::sort: need_equal(r, r.values->shape, from, "the destination"); break;
    case sorting_kind::select:
      if (r.other) need_equal(r, from, r.other->shape, "the mask");
      break;
    default: break;  // ferry has allocated these results with the right shapes
  }
}

void set_to_zero(const stream_ref& s, const program_operand& to, source_line at) {
  const std::int64_t zero = 0;
  expression_program p = constant_program(&zero, scalar_type::int64);
  assignment one{to, &p};
  assign_programs(&s, {&one, 1}, at);
}

}  // namespace

std::size_t sorted_axis(std::string_view name, int axis, std::size_t rank) {
  const int number = axis < 0 ? axis + static_cast<int>(rank) : axis;
  if (number < 0 || number >= static_cast<int>(rank))
    throw invalid_argument(concat("fr::", name, ": there is no axis ", axis, ": there are ", rank, " dimensions"));
  return static_cast<std::size_t>(number);
}

void need_top(std::size_t k, std::size_t extent) {
  if (k > extent) throw invalid_argument(concat("fr::top_k: ", k, " elements along an axis of ", extent));
}

void submit_sorting(const stream_ref* given, const sorting_request& r, source_line at) {
  refuse_inside_submission(called(r));
  const std::size_t axis = checked_axis(r);
  need_shapes(r, axis, at);
  const program_operand& first = r.values ? *r.values : r.positions ? *r.positions : *r.found;
  if (r.from->shape.is_empty()) {
    if (r.kind != sorting_kind::search && !r.found) return;
    const program_operand& numbers = r.found ? *r.found : *r.positions;
    if (numbers.shape.is_empty()) return;
    const stream_ref s = given ? *given : default_stream(device(alive(numbers, at).device));
    return set_to_zero(s, numbers, at);
  }
  if (!r.found && first.shape.is_empty()) return;
  const program_operand& home = first.shape.is_empty() ? *r.found : first;
  const stream_ref s = given ? *given : default_stream(device(alive(home, at).device));
  need_current(s);
  bound_sorting(s, r, axis, at).submit(s, at);
}

}  // namespace ferry::inline FERRY_ABI::detail
