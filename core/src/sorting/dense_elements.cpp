#include "sorting/dense_elements.hpp"

#include "ferry/core/basic_array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns the axis that is number `k` in the order of memory, where `fastest` is number 0.
std::size_t axis_in_memory(std::size_t k, std::size_t fastest) { return k == 0 ? fastest : k <= fastest ? k - 1 : k; }

copy_side side_of_operand(const program_operand& o, source_line at) {
  copy_side side{&o.owner, const_cast<std::byte*>(o.data), {}, o.bytes(), is_dense_along(o, 0), at};
  for (std::size_t d = 0; d != o.shape.rank; ++d) side.stride_bytes[d] = o.stride_bytes[o.shape.rank - 1 - d];
  return side;
}

}  // namespace

void copy_operand(const stream_ref& s, const program_operand& to, const program_operand& from, source_line at) {
  strided_shape shape{size_of(from.type), from.shape.rank, {}};
  for (std::size_t d = 0; d != shape.rank; ++d) shape.extent[d] = from.shape.extent[shape.rank - 1 - d];
  copy_elements(&s, side_of_operand(to, at), side_of_operand(from, at), shape);
}

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
  const program_operand* array = root.what == operation::load ? &p.operands[root.a] : nullptr;
  if (array && (array->type != type || array->shape != p.shape)) array = nullptr;
  if (array && is_dense_along(*array, axis)) return *array;
  program_operand t = temporary_along(p.shape, type, axis, s);
  if (array) {
    copy_operand(s, t, *array, at);
    return t;
  }
  assignment one{t, &p};
  assign_programs(&s, {&one, 1}, at);
  return t;
}

}  // namespace ferry::inline FERRY_ABI::detail
