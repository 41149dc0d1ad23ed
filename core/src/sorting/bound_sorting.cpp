#include "sorting/bound_sorting.hpp"

#include <algorithm>

#include "expressions/bound_program.hpp"
#include "expressions/operand_memory.hpp"
#include "ferry/core/basic_array.hpp"
#include "ferry/core/detail/copies/out_of_reach.hpp"
#include "ferry/core/detail/kernels/staged_launch.hpp"
#include "ferry/core/detail/operations/sort_key.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/runtime.hpp"
#include "sorting/dense_elements.hpp"

namespace ferry::inline FERRY_ABI::detail {

bound_sorting::bound_sorting(const stream_ref& s, const sorting_request& r, std::size_t axis, source_line at) {
  const bool has_rows =
      r.kind == sorting_kind::sort || r.kind == sorting_kind::partition || r.kind == sorting_kind::order;
  const scalar_type type_from = r.kind == sorting_kind::select ? scalar_type::boolean : r.type;
  task_.kind = r.kind;
  task_.type = r.type;
  task_.is_descending = r.is_descending;
  task_.is_after_equal = r.is_after_equal;
  task_.is_merged = r.is_merged;

  const program_operand from = dense_elements(s, *r.from, type_from, axis, at);
  std::size_t count = 1;
  for (std::size_t d = 0; d != from.shape.rank; ++d) count *= from.shape.extent[d];
  task_.length = has_rows ? from.shape.extent[axis] : count;
  task_.rows = count / task_.length;
  const bool is_replacing = r.kind == sorting_kind::sort || r.kind == sorting_kind::partition;
  is_in_place_ = is_replacing && are_same_elements(*r.values, from);
  task_.from = is_in_place_ ? from.data : source(from);
  if (r.other) {
    const scalar_type type = r.kind == sorting_kind::rank ? key_type_of(r.type) : r.type;
    const program_operand other = dense_elements(s, *r.other, type, 0, at);
    task_.other = source(other);
    task_.other_count = 1;
    for (std::size_t d = 0; d != other.shape.rank; ++d) task_.other_count *= other.shape.extent[d];
  }
  task_.kept = r.kind == sorting_kind::order ? r.positions->shape.extent[axis] : r.kept;
  if (!r.counts && r.found) task_.kept = (r.values ? r.values : r.positions)->shape.extent[0];
  if (r.counts) task_.kept = r.counts->shape.extent[0];
  task_.values = result(r.values, has_rows ? axis : 0, has_rows, s);
  task_.positions = result(r.positions, has_rows ? axis : 0, !r.found, s);
  task_.counts = result(r.counts, 0, false, s);
  task_.inverse = result(r.inverse, 0, true, s);
  task_.found = result(r.found, 0, true, s);
}

std::byte* bound_sorting::source(const program_operand& o) {
  uses_.push_back({o, false, false});
  return const_cast<std::byte*>(o.data);
}

bool bound_sorting::is_hazard(const program_operand& to) const {
  return std::any_of(uses_.begin(), uses_.end(), [&](const use& u) { return may_overlap(to, u.what); });
}

// Returns the address for a result: its own memory, or a temporary if that is not dense or overlaps another array.
// is_filled: the task writes every element.
std::byte* bound_sorting::result(const program_operand* to, std::size_t axis, bool is_filled, const stream_ref& s) {
  if (!to || to->shape.is_empty()) return nullptr;
  if (is_dense_along(*to, axis) && !is_hazard(*to)) {
    uses_.push_back({*to, true, is_filled && !is_in_place_});
    return const_cast<std::byte*>(to->data);
  }
  copies_.push_back({*to, temporary_along(to->shape, to->type, axis, s)});
  const program_operand& t = copies_.back().temporary;
  if (!is_filled) copy_operand(s, t, *to, {});  // elements that the task does not write must not change
  uses_.push_back({t, true, is_filled});
  return const_cast<std::byte*>(t.data);
}

void bound_sorting::submit(const stream_ref& s, source_line at) {
  small_vector<access, 8> uses;
  small_vector<kernel_use, 8> bytes;
  runtime& m = runtime::current();
  const bool is_simulated = m.is_simulated();
  for (const use& u : uses_) {
    allocation& a = alive(u.what, at);
    const byte_range where = u.what.bytes();
    uses.push_back({&a, where, u.write, u.whole, at});
    if (is_simulated)
      bytes.push_back({where.begin, where.size(), !u.whole, u.write, array_label(a.name.get().c_str()), at});
  }
  const int device = s.timeline().device();
  allocation_ref scratch;
  if (const std::size_t needed = m.backend().sorting_scratch(device, task_)) {
    scratch = allocate_array(memory_kind::device, ferry::device(device), needed, 1);
    allocation& a = scratch.get();
    task_.scratch = a.begin;
    uses.push_back({&a, {a.begin, a.begin + needed}, true, true, at});
  }
  const std::span<access> all{uses.begin(), uses.size()};
  if (needs_staging(s, all)) [[unlikely]] {
    staged_launch enqueue(s, all);
    const relocation move = enqueue.addresses();
    for (kernel_use& u : bytes) u.begin = move(u.begin);
    const sorting_task there = task_.moved(move);
    enqueue([&](native_stream n) { m.backend().sort(n, device, there, bytes.get()); });
  } else {
    submit_ordered(s, all, reach::by_kernel, [&](native_stream n) { m.backend().sort(n, device, task_, bytes.get()); });
  }
  for (const copy_back& c : copies_) copy_operand(s, c.to, c.temporary, at);
}

}  // namespace ferry::inline FERRY_ABI::detail
