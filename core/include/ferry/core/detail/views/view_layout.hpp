// Shapes and strides of views: the bytes between the outermost elements, and those of subviews.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/ordering/use_list.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/extents.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Byte range from the lowest element to the end of the highest. There is at least one element.
template <std::size_t Rank>
byte_range bounding_bytes(const extents<Rank>& e, const strides<Rank>& s, const void* data, std::size_t element_bytes) {
  std::ptrdiff_t low = 0, high = 0;
  for (std::size_t d = 0; d != Rank; ++d) {
    const std::ptrdiff_t reach = s[d] * static_cast<std::ptrdiff_t>(e[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  // Of null, too: the one element of an array that was moved from has bytes, and accesses to them are refused.
  const auto address = [&](std::ptrdiff_t element) {
    return reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(data) +
                                              static_cast<std::uintptr_t>(element) * element_bytes);
  };
  return {address(low), address(high + 1)};
}

// The elements of a subview, relative to the first element of the view. Distances are in elements.
template <std::size_t Rank>
struct view_layout {
  ferry::extents<Rank> extents;
  ferry::strides<Rank> strides{};
  std::ptrdiff_t offset = 0;  // of the first element

  // Leaves the indices first, first + step, ... of dimension d, of which there are `count`.
  void narrow(std::size_t d, std::size_t count, std::ptrdiff_t first, std::ptrdiff_t step) {
    if (count > 0) offset += first * strides[d];
    if (count > 1) strides[d] *= step;
    extents[d] = count;
  }
  // The same elements, with the dimensions in reverse order.
  view_layout transposed() const {
    view_layout l = *this;
    for (std::size_t d = 0; d != Rank; ++d) l.extents[d] = extents[Rank - 1 - d], l.strides[d] = strides[Rank - 1 - d];
    return l;
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
