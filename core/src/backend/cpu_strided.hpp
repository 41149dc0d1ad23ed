// Strided copies and fills on the CPU.
#pragma once
#include "ferry/core/detail/backend/backend.hpp"

namespace ferry::inline FERRY_ABI::detail {

// All functions here use the workers of the calling thread for large work.
// As memmove().
void move_on_cpu(void* to, const void* from, std::size_t bytes);
bool is_empty(const strided_shape& shape);
// Returns the bounding range of the bytes that a strided operation uses.
kernel_use bounding_range(const strided_bytes& s, const strided_shape& shape, bool writes);
void copy_on_cpu(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape);
// Converts one number.
using number_converter = void (*)(std::byte* to, const std::byte* from);
number_converter converter(number_type to, number_type from);
void convert_on_cpu(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape,
                    number_converter one);
void fill_on_cpu(const strided_bytes& to, const strided_shape& shape, const std::byte* element);

}  // namespace ferry::inline FERRY_ABI::detail
