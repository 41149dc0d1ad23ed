// Boxes of indices, in coordinates that may be negative: halos lie outside the array.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "ferry/core/extents.hpp"

namespace ferry {

// Indices [begin[d], end[d]) along each dimension. Not made from braces: calls that take cells of an array in braces take
// ranges, one a dimension, as ferry::slice, and not corners.
template <std::size_t Rank>
struct box {
  std::array<std::ptrdiff_t, Rank> begin{}, end{};

  box() = default;
  static box of_corners(const std::array<std::ptrdiff_t, Rank>& first, const std::array<std::ptrdiff_t, Rank>& end) {
    box b;
    b.begin = first, b.end = end;
    return b;
  }
  std::size_t length(std::size_t d) const {
    return end[d] > begin[d] ? static_cast<std::size_t>(end[d] - begin[d]) : 0;
  }
  bool empty() const {
    for (std::size_t d = 0; d != Rank; ++d)
      if (end[d] <= begin[d]) return true;
    return false;
  }
  ferry::extents<Rank> extents() const {
    ferry::extents<Rank> e;
    for (std::size_t d = 0; d != Rank; ++d) e[d] = length(d);
    return e;
  }
  box with(std::size_t d, std::ptrdiff_t from, std::ptrdiff_t to) const {
    box b = *this;
    b.begin[d] = from, b.end[d] = to;
    return b;
  }
  box shifted(const std::array<std::ptrdiff_t, Rank>& by) const {
    box b = *this;
    for (std::size_t d = 0; d != Rank; ++d) b.begin[d] += by[d], b.end[d] += by[d];
    return b;
  }
  // What both have in common.
  box operator&(const box& o) const {
    box b = *this;
    for (std::size_t d = 0; d != Rank; ++d)
      b.begin[d] = std::max(b.begin[d], o.begin[d]), b.end[d] = std::min(b.end[d], o.end[d]);
    return b;
  }
  bool contains(const box& o) const { return o.empty() || (*this & o) == o; }
  bool operator==(const box&) const = default;
  // "[0, 3) x [-1, 8)"
  std::string text() const {
    std::string s;
    for (std::size_t d = 0; d != Rank; ++d)
      s += (d ? " x [" : "[") + std::to_string(begin[d]) + ", " + std::to_string(end[d]) + ")";
    return s;
  }
};

}  // namespace ferry
