#include "expressions/operand_memory.hpp"

#include "ferry/core/basic_array.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"

namespace ferry::inline FERRY_ABI::detail {

array_look look_at(const program_operand& o) {
  array_look look{&o.owner, o.kind, name_of(o.type), o.shape.rank, {}};
  for (std::size_t d = 0; d != o.shape.rank; ++d) look.extent[d] = o.shape.extent[o.shape.rank - 1 - d];
  return look;
}

allocation& alive(const program_operand& o, source_line at) {
  if (o.owner && !o.owner.is_freed()) [[likely]]
    return *o.owner.unchecked();
  const array_look look = look_at(o);
  return o.owner.get(at, &look);
}

bool is_dense(const program_operand& o) {
  auto stride = static_cast<std::ptrdiff_t>(size_of(o.type));
  for (std::size_t d = 0; d != o.shape.rank; ++d) {
    if (o.shape.extent[d] != 1 && o.stride_bytes[d] != stride) return false;
    stride *= static_cast<std::ptrdiff_t>(o.shape.extent[d]);
  }
  return true;
}

std::size_t element_count(const program_shape& shape) {
  std::size_t n = 1;
  for (std::size_t d = 0; d != shape.rank; ++d) n *= shape.extent[d];
  return n;
}

program_operand dense_operand(const program_shape& shape, scalar_type type) {
  program_operand o;
  o.shape = shape;
  o.type = type;
  auto stride = static_cast<std::ptrdiff_t>(size_of(type));
  for (std::size_t d = 0; d != shape.rank; ++d) {
    o.stride_bytes[d] = shape.extent[d] == 1 ? 0 : stride;
    stride *= static_cast<std::ptrdiff_t>(shape.extent[d]);
  }
  return o;
}

program_operand new_elements(const program_shape& shape, scalar_type type, const device& on) {
  program_operand o = dense_operand(shape, type);
  o.owner = allocate_array(memory_kind::device, on, element_count(shape), size_of(type));
  o.data = o.owner.get().begin;
  return o;
}

}  // namespace ferry::inline FERRY_ABI::detail
