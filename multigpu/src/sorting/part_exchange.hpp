// Elements that members send each other, all in one step.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Dense elements of one dimension that leave members, and where they arrive: one operand for each local member. Members
// without elements need none.
struct moved_elements {
  const std::vector<program_operand>* leaving;
  const std::vector<program_operand>* arriving;
  std::size_t row = 1;  // elements that move together
};

// Elements of dense memory of one dimension, or of rows, as elements of T: with std::uint8_t as their bytes.
template <class T>
array_view<T, 1, memory_kind::device> elements_in(const program_operand& o, std::size_t first, std::size_t count) {
  const std::size_t size = size_of(o.type);
  auto* const data = reinterpret_cast<T*>(const_cast<std::byte*>(o.data) + first * size);
  return {o.owner, data, {count * size / sizeof(T)}, {1}};
}

// sent(from, to): the elements, or rows of them, that member `to` receives from member `from`, the same in all
// processes. They arrive in the order of members, without gaps. Each member copies those of its process on its stream;
// other processes send them, as collectives do.
void exchange_parts(const team& t, const std::function<part(std::size_t from, std::size_t to)>& sent,
                    const std::vector<moved_elements>& all);

}  // namespace ferry::inline FERRY_ABI::detail
