// Assignments of reductions to memory, in one submission.
#include <algorithm>
#include <limits>
#include <vector>

#include "expressions/operand_memory.hpp"
#include "ferry/core/basic_array.hpp"
#include "ferry/core/detail/copies/out_of_reach.hpp"
#include "ferry/core/detail/kernels/staged_launch.hpp"
#include "ferry/core/detail/operations/owned_reduction.hpp"
#include "ferry/core/detail/reductions/reduction_program.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "reductions/joint_reduction.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

device device_of(stream_ref s) { return device(s.timeline().device()); }

void need_result_shape(const reduction_assignment& a, source_line at) {
  const reduction_program& r = *a.value;
  if (const program_shape shape = r.shape(); shape != a.to.shape)
    throw invalid_argument("cannot assign '" + text_of(r) + "' of " + text_of(shape) + " to " +
                           array_text(look_at(a.to)) + in_line(at) + ": the shapes must be equal");
  for (std::size_t d = 0; d != a.to.shape.rank; ++d)
    if (a.to.shape.extent[d] > 1 && a.to.stride_bytes[d] == 0)
      throw invalid_argument("cannot assign to " + array_text(look_at(a.to)) + in_line(at) +
                             ": some of its indices name the same element");
}

// Returns the result of a reduction over no elements. Throws invalid_argument if it is undefined.
expression_program neutral_program(const reduction_program& r, source_line at) {
  double value = 0;
  switch (r.how.what) {
    case reduction_operation::minimum:
    case reduction_operation::maximum:
    case reduction_operation::least:
    case reduction_operation::greatest:
      throw invalid_argument(concat("'", text_of(r), "'", in_line(at), " is over no elements: '", text_of(r.program),
                                    "' has the shape ", text_of(r.program.shape), ", and ", r.name,
                                    " of nothing is undefined"));
    case reduction_operation::product:
    case reduction_operation::all: value = 1; break;
    case reduction_operation::moments: value = std::numeric_limits<double>::quiet_NaN(); break;
    default: break;
  }
  if (r.how.finish == reduction_finish::mean) value = std::numeric_limits<double>::quiet_NaN();
  expression_program p = constant_program(&value, scalar_type::float64);
  p.root = p.converted(p.root, computed_as(r.result));
  return p;
}

// Computes the results in one submission.
void submit_reductions(stream_ref s, const expression_program& p, std::span<const bound_result> results,
                       source_line at) {
  const bound_reduction bound(p, results);
  small_vector<access, 12> uses;
  small_vector<kernel_use, 12> bytes;
  runtime& m = runtime::current();
  const bool is_simulated = m.is_simulated();
  const auto add = [&](const program_operand& o, bool write, bool whole) {
    allocation& a = alive(o, at);
    const byte_range where = o.bytes();
    uses.push_back({&a, where, write, whole, at});
    if (is_simulated)
      bytes.push_back({where.begin, where.size(), !whole, write, array_label(a.name.get().c_str()), at});
  };
  for (const std::uint8_t k : bound.operands()) add(p.operands[k], false, false);
  for (const bound_result& r : results) add(*r.to, true, is_dense(*r.to));
  reduction_evaluation r = bound.view();
  r.input.fast_math = fast_math_depth() > 0;
  allocation_ref scratch;
  if (const std::size_t needed = m.backend().scratch_bytes(r)) {
    scratch = allocate_array(memory_kind::device, device_of(s), needed, 1);
    allocation& a = scratch.get();
    r.scratch = a.begin;
    uses.push_back({&a, {a.begin, a.begin + needed}, true, true, at});
  }
  const int device = s.timeline().device();
  const std::span<access> all{uses.begin(), uses.size()};
  if (needs_staging(s, all)) [[unlikely]] {
    staged_launch enqueue(s, all);
    const relocation move = enqueue.addresses();
    for (kernel_use& u : bytes) u.begin = move(u.begin);
    const owned_reduction there = owned_reduction(r).moved(move);
    enqueue([&](native_stream n) { m.backend().reduce(n, device, there.get(), bytes.get()); });
    return;
  }
  submit_ordered(s, all, reach::by_kernel, [&](native_stream n) { m.backend().reduce(n, device, r, bytes.get()); });
}

}  // namespace

void assign_reductions(const stream_ref* given, std::span<const reduction_assignment> all, source_line at) {
  refuse_inside_submission("a reduction of an expression");
  for (const reduction_assignment& a : all) need_result_shape(a, at), need_one_pass(*a.value, *all.front().value, at);
  for (const reduction_assignment& a : all)
    for (const reduction_assignment* b = &a + 1; b != all.data() + all.size(); ++b)
      if (may_overlap(a.to, b->to))
        throw invalid_argument("fr::reduce_all: the destinations " + array_text(look_at(a.to)) + " and " +
                               array_text(look_at(b->to)) + in_line(at) + " overlap");
  const reduction_program& first = *all.front().value;
  if (all.front().to.shape.is_empty()) return;
  const stream_ref s = given ? *given : default_stream(device(alive(all.front().to, at).device));
  need_current(s);
  if (is_over_nothing(first)) {
    std::vector<expression_program> neutral;
    neutral.reserve(all.size());
    for (const reduction_assignment& a : all) neutral.push_back(neutral_program(*a.value, at));
    for (std::size_t k = 0; k != all.size(); ++k) {
      assignment one{all[k].to, &neutral[k]};
      assign_programs(&s, {&one, 1}, at);
    }
    return;
  }

  joint_reduction joint(all);
  const expression_program& p = joint.program;
  std::vector<bound_result>& results = joint.results;
  std::vector<program_operand> temporaries;
  temporaries.reserve(all.size());  // results refer to them
  for (bound_result& r : results) {
    const bool is_hazard = std::any_of(p.operands.begin(), p.operands.end(),
                                       [&](const program_operand& o) { return may_overlap(*r.to, o); });
    if (!is_hazard) continue;
    (void)alive(*r.to, at);
    temporaries.push_back(new_elements(r.to->shape, r.to->type, s.where()));
    r.to = &temporaries.back();
  }
  submit_reductions(s, p, results, at);
  for (std::size_t k = 0, t = 0; k != all.size(); ++k) {
    if (results[k].to == &all[k].to) continue;
    expression_program result = array_program(temporaries[t++]);
    assignment copy{all[k].to, &result};
    assign_programs(&s, {&copy, 1}, at);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
