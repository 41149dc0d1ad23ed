/// @file
/// Options of reductions: their axes, and whether the result has them.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <span>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// The axes along which elements are combined: `sum(a, axes{0, 2})`. 0 is the first dimension; negative axes count from
/// the last one, which is -1.
template <std::size_t N>
class axes {
 public:
  /// @param axis the numbers of the axes, in any order
  template <std::convertible_to<int>... I>
  requires(sizeof...(I) == N && N > 0) constexpr explicit axes(I... axis) : axes_{static_cast<int>(axis)...} {}
  /// The numbers, as passed to the constructor.
  constexpr std::span<const int> span() const { return axes_; }

 private:
  std::array<int, N> axes_;
};
/// @cond
template <class... I>
axes(I...) -> axes<sizeof...(I)>;
/// @endcond

/// Type of keep_dims.
struct keep_dims_t {};
/// The result has the rank of the elements, and the extent 1 along reduced axes: `a - mean(a, axes{1}, keep_dims)`.
inline constexpr keep_dims_t keep_dims{};

/// Subtracted from the number of elements in `var` and `std`: `std(a, ddof{1})`. 0 by default, as in NumPy.
struct ddof {
  double value = 0;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
