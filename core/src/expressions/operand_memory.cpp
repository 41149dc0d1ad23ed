#include "expressions/operand_memory.hpp"

#include "ferry/core/basic_array.hpp"

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

program_operand temporary_like(const program_operand& to, stream_ref s) {
  program_operand t;
  t.shape = to.shape;
  t.type = to.type;
  auto bytes = static_cast<std::ptrdiff_t>(size_of(t.type));
  for (std::size_t d = 0; d != t.shape.rank; ++d) {
    t.stride_bytes[d] = t.shape.extent[d] == 1 ? 0 : bytes;
    bytes *= static_cast<std::ptrdiff_t>(t.shape.extent[d]);
  }
  const std::size_t size = size_of(t.type);
  t.owner =
      allocate_array(memory_kind::device, device(s.timeline().device()), static_cast<std::size_t>(bytes) / size, size);
  t.data = t.owner.get().begin;
  return t;
}

}  // namespace ferry::inline FERRY_ABI::detail
