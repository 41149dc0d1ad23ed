#include "expressions/member_memory.hpp"

#include "ferry/core/basic_array.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::size_t count_of(const program_shape& shape) {
  std::size_t n = 1;
  for (std::size_t d = 0; d != shape.rank; ++d) n *= shape.extent[d];
  return n;
}

program_operand dense_elements(const allocation_ref& owner, const std::byte* data, const program_shape& shape,
                               scalar_type type) {
  program_operand o;
  o.owner = owner, o.data = data, o.shape = shape, o.type = type;
  auto stride = static_cast<std::ptrdiff_t>(size_of(type));
  for (std::size_t d = 0; d != shape.rank; ++d) {
    o.stride_bytes[d] = shape.extent[d] == 1 ? 0 : stride;
    stride *= static_cast<std::ptrdiff_t>(shape.extent[d]);
  }
  return o;
}

program_operand new_elements(const program_shape& shape, scalar_type type, const device& on) {
  const allocation_ref owner = allocate_array(memory_kind::device, on, count_of(shape), size_of(type));
  return dense_elements(owner, owner.get().begin, shape, type);
}

}  // namespace ferry::inline FERRY_ABI::detail
