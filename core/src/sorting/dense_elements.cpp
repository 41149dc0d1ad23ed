#include "sorting/dense_elements.hpp"

#include "ferry/core/basic_array.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Axis number `k` in the order of memory.
std::size_t axis_in_memory(std::size_t k, std::size_t fastest) { return k == 0 ? fastest : k <= fastest ? k - 1 : k; }

}  // namespace

bool is_dense_along(const program_operand& o, std::size_t axis) {
  auto stride = static_cast<std::ptrdiff_t>(size_of(o.type));
  for (std::size_t k = 0; k != o.shape.rank; ++k) {
    const std::size_t d = axis_in_memory(k, axis);
    if (o.shape.extent[d] != 1 && o.stride_bytes[d] != stride) return false;
    stride *= static_cast<std::ptrdiff_t>(o.shape.extent[d]);
  }
  return true;
}

program_operand temporary_along(const program_shape& shape, scalar_type type, std::size_t axis, stream_ref s) {
  program_operand t;
  t.shape = shape;
  t.type = type;
  const std::size_t size = size_of(type);
  std::size_t count = 1;
  for (std::size_t k = 0; k != shape.rank; ++k) {
    const std::size_t d = axis_in_memory(k, axis);
    t.stride_bytes[d] = shape.extent[d] == 1 ? 0 : static_cast<std::ptrdiff_t>(count * size);
    count *= shape.extent[d];
  }
  t.owner = allocate_array(memory_kind::device, device(s.timeline().device()), count, size);
  t.data = t.owner.get().begin;
  return t;
}

program_operand dense_elements(const stream_ref& s, expression_program& p, scalar_type type, std::size_t axis,
                               source_line at) {
  const instruction& root = p.code[p.root];
  if (root.what == operation::load) {
    const program_operand& o = p.operands[root.a];
    if (o.type == type && o.shape == p.shape && is_dense_along(o, axis)) return o;
  }
  program_operand t = temporary_along(p.shape, type, axis, s);
  assignment one{t, &p};
  assign_programs(&s, {&one, 1}, at);
  return t;
}

}  // namespace ferry::inline FERRY_ABI::detail
