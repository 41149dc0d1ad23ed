/// @file
/// Boxes of indices. Coordinates may be negative, because halos lie outside the array.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/extents.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// A box of indices: [begin[d], end[d]) along each dimension. Not constructible from braces: functions that take cells
/// in braces expect ranges, one a dimension, as ferry::slice, and not corners.
/// @tparam Rank number of dimensions
template <std::size_t Rank>
struct box {
  std::array<std::ptrdiff_t, Rank> begin{}, end{};

  box() = default;
  /// Returns the box from its first and its past-the-end corner.
  static box of_corners(const std::array<std::ptrdiff_t, Rank>& first, const std::array<std::ptrdiff_t, Rank>& end) {
    box b;
    b.begin = first, b.end = end;
    return b;
  }
  /// Returns the number of indices along dimension d.
  std::size_t length(std::size_t d) const {
    return end[d] > begin[d] ? static_cast<std::size_t>(end[d] - begin[d]) : 0;
  }
  /// True if the box has no index.
  bool empty() const {
    for (std::size_t d = 0; d != Rank; ++d)
      if (end[d] <= begin[d]) return true;
    return false;
  }
  /// Returns the number of indices along each dimension.
  ferry::extents<Rank> extents() const {
    ferry::extents<Rank> e;
    for (std::size_t d = 0; d != Rank; ++d) e[d] = length(d);
    return e;
  }
  /// Returns the box with another range along dimension d.
  box with(std::size_t d, std::ptrdiff_t from, std::ptrdiff_t to) const {
    box b = *this;
    b.begin[d] = from, b.end[d] = to;
    return b;
  }
  /// Returns the box moved by an offset.
  box shifted(const std::array<std::ptrdiff_t, Rank>& by) const {
    box b = *this;
    for (std::size_t d = 0; d != Rank; ++d) b.begin[d] += by[d], b.end[d] += by[d];
    return b;
  }
  /// Returns the intersection.
  box operator&(const box& o) const {
    box b = *this;
    for (std::size_t d = 0; d != Rank; ++d)
      b.begin[d] = std::max(b.begin[d], o.begin[d]), b.end[d] = std::min(b.end[d], o.end[d]);
    return b;
  }
  /// True if this box contains all of `o`.
  bool contains(const box& o) const { return o.empty() || (*this & o) == o; }
  bool operator==(const box&) const = default;
  /// Returns text such as "[0, 3) x [-1, 8)".
  std::string text() const {
    std::string s;
    for (std::size_t d = 0; d != Rank; ++d) s += detail::concat(d ? " x [" : "[", begin[d], ", ", end[d], ")");
    return s;
  }
};

/// @}

}  // namespace ferry::inline FERRY_ABI
