#include "reductions/joint_reduction.hpp"

#include "expressions/operand_memory.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

joint_reduction::joint_reduction(std::span<const reduction_assignment> all) : program(all.front().value->program) {
  for (const reduction_assignment& a : all) {
    const std::uint8_t value = &a == all.data() ? program.root : program.append(a.value->program);
    results.push_back({&a.to, value, a.value});
  }
}

void need_one_pass(const reduction_program& r, const reduction_program& f, source_line at) {
  if (r.program.shape != f.program.shape)
    throw invalid_argument("fr::reduce_all: '" + text_of(r) + "' reduces elements of " + text_of(r.program.shape) +
                           ", and '" + text_of(f) + "' of " + text_of(f.program.shape) + in_line(at) +
                           ": one pass over memory needs equal shapes");
  if (r.axes != f.axes)
    throw invalid_argument("fr::reduce_all: '" + text_of(r) + "' and '" + text_of(f) + "'" + in_line(at) +
                           " reduce different axes: reduce them in calls of their own");
}

bool is_over_nothing(const reduction_program& r) {
  for (std::size_t d = 0; d != r.program.shape.rank; ++d)
    if ((r.axes >> d & 1) && r.program.shape.extent[d] == 0) return true;
  return false;
}

}  // namespace ferry::inline FERRY_ABI::detail
