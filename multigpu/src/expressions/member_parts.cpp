#include "expressions/member_parts.hpp"

#include <algorithm>
#include <utility>

#include "ferry/core/copy.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/multigpu/collective_group.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"

namespace ferry::inline FERRY_ABI::detail {

member_parts::member_parts(const team& t, const program_shape& shape, scalar_type type)
    : member_parts(t, std::vector<program_shape>(t.size(), shape), type) {}
member_parts::member_parts(const team& t, std::vector<program_shape> shapes, scalar_type type)
    : team_(t),
      shapes_(std::move(shapes)),
      type_(type) {
  for (const program_shape& s : shapes_) bytes_ = std::max(bytes_, element_count(s) * size_of(type));
  for (std::size_t i = 0; i != t.local_size(); ++i)
    own_.emplace_back(extents<1>{bytes_}, t.device(t.first_local() + i));
}

program_operand member_parts::elements_at(const copies& a, std::size_t index, std::size_t place,
                                          std::size_t member) const {
  program_operand o = dense_operand(shapes_[member], type_);
  o.owner = a[index].owner();
  o.data = reinterpret_cast<const std::byte*>(a[index].unsynchronized_data()) + place * bytes_;
  return o;
}
program_operand member_parts::own(std::size_t member) const {
  return elements_at(own_, member - team_.first_local(), 0, member);
}

void member_parts::gather(const team& t, std::span<member_parts> all) {
  if (!spans_processes(t)) return;
  collective_group group = collective_group::at_once(t);
  for (member_parts& p : all) {
    for (std::size_t i = 0; i != t.local_size(); ++i)
      p.all_.emplace_back(extents<1>{t.size() * p.bytes_}, t.device(t.first_local() + i));
    group.all_gather(p.own_, p.all_);
  }
  group.submit();
}

program_operand member_parts::part_for(std::size_t m, std::size_t member, copies& made) const {
  if (!all_.empty()) return elements_at(all_, m - team_.first_local(), member, member);
  if (team_.device(m).can_reach(team_.device(member))) return elements_at(own_, member, 0, member);
  made.emplace_back(extents<1>{bytes_}, team_.device(m));
  copy(team_.stream(m), own_[member], made.back(), source_line{});
  return elements_at(made, made.size() - 1, 0, member);
}

}  // namespace ferry::inline FERRY_ABI::detail
