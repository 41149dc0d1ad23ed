// One side of a copy: elements of an array, or of host memory, without their type.
#pragma once
#include <array>
#include <cstddef>
#include <type_traits>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/number_type.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// One side of a copy, without its element type. `owner` is null for host memory that ferry does not track.
struct copy_side {
  const allocation_ref* owner = nullptr;
  std::byte* data = nullptr;
  std::array<std::ptrdiff_t, max_rank> stride_bytes{};
  byte_range bytes;
  bool contiguous = true;
  source_line at = {};  // source line of the call
};
inline bool is_array(const copy_side& s) { return s.owner != nullptr; }

// Copies elements, ordered on s, as one access of each side. Blocks the CPU if a side is pageable memory. `shape` is in
// elements of the source. If the types differ, numbers are converted.
void copy_elements(const stream_ref* s, const copy_side& to, const copy_side& from, const strided_shape& shape,
                   number_type to_type = number_type::none, number_type from_type = number_type::none);

// Throws use_after_free.
template <class T, std::size_t Rank, memory_kind Kind>
copy_side side_of(const array_view<T, Rank, Kind>& v, source_line at = {}) {
  if (v.owner()) (void)v.need_alive(at);
  copy_side side{&v.owner(),
                 reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(v.unsynchronized_data())),
                 {},
                 v.bytes(),
                 v.is_contiguous(),
                 at};
  for (std::size_t d = 0; d != Rank; ++d)
    side.stride_bytes[d] = v.strides()[d] * static_cast<std::ptrdiff_t>(sizeof(T));
  return side;
}

template <class T, std::size_t Rank>
strided_shape shape_of(const extents<Rank>& e) {
  strided_shape shape{sizeof(T), Rank, {}};
  for (std::size_t d = 0; d != Rank; ++d) shape.extent[d] = e[d];
  return shape;
}

// Side of a copy in host memory with these strides, or in row-major order.
template <class T, std::size_t Rank>
copy_side pageable_side(T* data, const extents<Rank>& e, const strides<Rank>& s) {
  copy_side side;
  side.data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(data));
  for (std::size_t d = 0; d != Rank; ++d) side.stride_bytes[d] = s[d] * static_cast<std::ptrdiff_t>(sizeof(T));
  side.contiguous = is_contiguous(e, s);
  return side;
}
template <class T, std::size_t Rank>
copy_side pageable_side(T* data, const extents<Rank>& e) {
  return pageable_side(data, e, row_major(e));
}

}  // namespace ferry::inline FERRY_ABI::detail
