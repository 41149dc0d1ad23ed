// Elements that members send each other, all in one step.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Dense elements of one dimension that leave members, and where they arrive: one operand for each local member. Members
// without elements need none.
struct moved_elements {
  const std::vector<program_operand>* leaving;
  const std::vector<program_operand>* arriving;
};

// sent(from, to): the elements that member `to` receives from member `from`, the same in all processes. They arrive in
// the order of members, without gaps. Each member copies those of its process on its stream; other processes send them,
// as collectives do.
void exchange_parts(const team& t, const std::function<part(std::size_t from, std::size_t to)>& sent,
                    const std::vector<moved_elements>& all);

}  // namespace ferry::inline FERRY_ABI::detail
