// Reductions of expressions over sharded arrays along axes. No templates.
#pragma once
#include <memory>
#include <span>
#include <utility>

#include "ferry/core/detail/reductions/reduction_operand.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/expressions/sharded_assignment.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct axes_reduction {
  reduction_function what;
  scalar_type type;             // of the elements
  expression_program elements;  // as the user wrote them
  reduction_program over;       // of all elements
  program_shape shape() const { return over.shape(); }
  // True for an axis, counted from the last, that is not reduced.
  bool keeps(std::size_t axis) const { return (over.axes >> axis & 1) == 0; }
};
template <reduction_function F, class A, class... O>
axes_reduction make_axes_reduction(const A& a, const O&... options) {
  return {F, kind_of_operand<A>.type, a.program(), make_reduction<F>(a, options...)};
}

// Computes the result. If the axes of distribution are kept, each member has its part, and nothing is communicated. If
// they are reduced, each member reduces its own cells, and joins the results of all members in their order: every
// member has the whole result, with the same bits. If some are kept and others reduced, the members with the same part
// join. Halos that shifted operands read are exchanged before. Throws invalid_argument if distributions or teams do not
// fit, and for the least or greatest of no elements.
std::shared_ptr<const team_operand> reduce_along_axes(const axes_reduction& r);
// The same without values.
std::shared_ptr<const team_operand> room_along_axes(const axes_reduction& r);
// The same, to a sharded array. Throws invalid_argument as well if the shapes differ, or if the axes of distribution
// are kept and the array's are others.
void reduce_along_axes(const axes_reduction& r, const sharded_operand& to);
// The same, to one copy for each local member of a team. Throws invalid_argument as well if shapes or teams differ, and
// if the axes of distribution are kept.
void reduce_along_axes(const axes_reduction& r, const team& t, std::span<const program_operand> copies);

}  // namespace ferry::inline FERRY_ABI::detail
