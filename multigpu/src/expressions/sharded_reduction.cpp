#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"

#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

const team& team_of(const expression_program& p) {
  const sharded_operand* const first = first_array_of(p);
  if (!first)
    throw invalid_argument("'" + text_of(p) +
                           "' reads no sharded array: reduce the copy of one member, copy_of(member)");
  need_one_deal(*first, p);
  if (p.shape != first->deal().extents)
    throw invalid_argument("'" + text_of(p) + "' of " + text_of(p.shape) + " stretches " + first->described() +
                           ": reductions take the shape of the sharded arrays");
  return first->team();
}

reduction_program part_of_reduction(const reduction_program& r, const program_part& part) {
  reduction_program here = r;
  here.program = part_program(r.program, part);
  here.shown = here.program.root;
  return here;
}

void reduce_sharded(const team& t, const reduction_program& r, std::span<const program_operand> parts,
                    const void* neutral) {
  const sharded_operand& array = *first_array_of(r.program);
  const bool is_extreme = r.how.what == reduction_operation::minimum || r.how.what == reduction_operation::maximum;
  if (is_extreme && r.program.shape.is_empty())
    throw invalid_argument("'" + text_of(r) + "' is over no elements: " + array.described() + " has none, and " +
                           std::string(r.name) + " of nothing is undefined");
  const expression_program* const program = &r.program;
  exchange_for(t, {&program, 1});
  t.for_each([&](std::size_t m) {
    const program_part own = array.own(m);
    const program_operand& to = parts[m - t.first_local()];
    const stream_ref s = t.stream(m);
    if (own.is_empty()) {
      const expression_program value = constant_program(neutral, r.result);
      const assignment one{to, &value};
      return assign_programs(&s, {&one, 1}, {});
    }
    const reduction_program here = part_of_reduction(r, own);
    const reduction_assignment one{to, &here};
    assign_reductions(&s, {&one, 1}, {});
  });
}

}  // namespace ferry::inline FERRY_ABI::detail
