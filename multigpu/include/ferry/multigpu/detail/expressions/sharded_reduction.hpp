// Reductions of expressions over sharded arrays: the part of each member, and how parts are joined.
#pragma once
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "ferry/core/detail/reductions/reduction_operand.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/reduction_operations.hpp"
#include "ferry/multigpu/detail/expressions/axes_reduction.hpp"
#include "ferry/multigpu/detail/expressions/sharded_assignment.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A reduction over all cells, of which each member has a part.
struct total_of_team {
  const axes_reduction* what;
  std::vector<program_operand> parts;  // of the local members, in memory that their devices reach
  const void* neutral;                 // the value for the part of a member without cells
};
// Each member reduces the cells that it owns to its parts, on its stream. All reductions take one pass; variances need
// another pass before, for the mean. For reductions to a position, all parts get the same position. Halos that shifted
// operands read are exchanged before. Throws invalid_argument if distributions or teams do not fit, and for the least
// or greatest of no elements.
void reduce_to_parts(const team& t, std::span<const total_of_team> all);
// Returns the same reduction or scan over the cells of a part.
reduction_program part_of_reduction(const reduction_program& r, const program_part& part);
// Returns the team of the program's sharded arrays. Throws invalid_argument if it reads none, or several that do not
// fit.
const team& team_of(const expression_program& p);

// Joins the parts of members into one value.
template <reduction_function F, class T>
struct joined_parts {
  static constexpr bool is_extreme = F == reduction_function::min || F == reduction_function::max;
  // half and bfloat16 are compared as float.
  using ordered = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

  static T neutral() {
    if constexpr (F == reduction_function::prod || F == reduction_function::all) {
      return T(1);
    } else if constexpr (is_extreme) {
      using limits = std::numeric_limits<ordered>;
      const ordered most = limits::has_infinity ? limits::infinity() : limits::max();
      const ordered least = limits::has_infinity ? -limits::infinity() : limits::lowest();
      return T(F == reduction_function::min ? most : least);
    } else {
      return T(0);
    }
  }
  static T join(const T& a, const T& b) {
    if constexpr (F == reduction_function::prod)
      return T(a * b);
    else if constexpr (F == reduction_function::min)
      return T(minimum()(ordered(a), ordered(b)));
    else if constexpr (F == reduction_function::max)
      return T(maximum()(ordered(a), ordered(b)));
    else if constexpr (F == reduction_function::any)
      return a || b;
    else if constexpr (F == reduction_function::all)
      return a && b;
    else if constexpr (F == reduction_function::norm || F == reduction_function::std)
      return std::hypot(a, b);
    else
      return T(a + b);
  }
  static constexpr operation as = F == reduction_function::prod   ? operation::multiply
                                  : F == reduction_function::min  ? operation::min
                                  : F == reduction_function::max  ? operation::max
                                  : F == reduction_function::any  ? operation::logical_or
                                  : F == reduction_function::all  ? operation::logical_and
                                  : F == reduction_function::norm ? operation::hypot
                                  : F == reduction_function::std  ? operation::hypot
                                                                  : operation::add;
};

}  // namespace ferry::inline FERRY_ABI::detail
