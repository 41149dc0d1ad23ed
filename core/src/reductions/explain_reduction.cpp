// What is known of reductions before they are computed: their texts and their kernels.
#include <optional>
#include <vector>

#include "expressions/operand_memory.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/runtime.hpp"
#include "reductions/joint_reduction.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Calls f(evaluation, device) for one pass that stores the results in new memory, which is not accessed. Without a
// device, that of the operands is taken.
template <class F>
void with_new_results(std::span<const reduction_program* const> all, const std::optional<device>& on, F f) {
  std::vector<reduction_assignment> to_nothing;
  for (const reduction_program* r : all) {
    need_one_pass(*r, *all.front(), {});
    program_operand to = dense_operand(r->shape(), r->result);
    to.data = reinterpret_cast<const std::byte*>((to_nothing.size() + 1) << 40);  // aligned as arrays are
    to_nothing.push_back({to, r});
  }
  if (to_nothing.front().to.shape.is_empty() || is_over_nothing(*all.front())) return;
  const joint_reduction joint(to_nothing);
  const bound_reduction bound(joint.program, joint.results);
  reduction_evaluation e = bound.view();
  e.input.fast_math = fast_math_depth() > 0;
  f(e, (on ? *on : home_of(joint.program)).index());
}

}  // namespace

std::string explain_reduction(const reduction_program& r) {
  std::string text =
      concat("reduction ", text_of(r), "\n  result: ", text_of(r.shape()), " of ", name_of(r.result), "\n");
  std::size_t read = 0;
  for (const program_operand& o : r.program.operands) {
    read += element_count(o.shape) * size_of(o.type);
    text += "  reads " + array_text(look_at(o)) + "\n";
  }
  text += concat("  moves ", read, " bytes, in one pass\n");
  const reduction_program* const alone[] = {&r};
  with_new_results(alone, {}, [&](const reduction_evaluation& e, int device) {
    text += runtime::current().backend().explain_reduction(device, e);
  });
  return text;
}

bool precompile_reductions(std::span<const reduction_program* const> all, const std::optional<device>& on) {
  bool is_compiled = true;
  with_new_results(all, on, [&](const reduction_evaluation& e, int device) {
    is_compiled = runtime::current().backend().prepare_reduction(device, e);
  });
  return is_compiled;
}

}  // namespace ferry::inline FERRY_ABI::detail
