/// @file
/// Shapes: one 64-bit extent for each dimension, slowest first.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/macros.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// Maximum number of dimensions of an array.
inline constexpr std::size_t max_rank = 6;

/// Shape of an array, in elements.
/// @tparam Rank number of dimensions, 0 to max_rank
template <std::size_t Rank>
class extents {
  static_assert(Rank <= max_rank, "ferry arrays have at most 6 dimensions");

 public:
  static constexpr std::size_t rank = Rank;
  constexpr extents() = default;
  /// One integer for each dimension.
  /// @throws invalid_argument if one is negative
  template <std::integral... Int>
  requires(sizeof...(Int) == Rank && Rank > 0) constexpr extents(Int... e) : value_{checked(e)...} {}
  /// Extents as an array.
  constexpr extents(const std::array<std::size_t, Rank>& e) {
    for (std::size_t d = 0; d != Rank; ++d) value_[d] = e[d];
  }

  FERRY_HOST_DEVICE constexpr std::size_t operator[](std::size_t d) const { return value_[d]; }
  FERRY_HOST_DEVICE constexpr std::size_t& operator[](std::size_t d) { return value_[d]; }
  constexpr bool operator==(const extents&) const = default;
  /// The extents, slowest first.
  constexpr const std::size_t* data() const { return value_; }

  /// Number of elements; 1 for rank 0.
  /// @throws invalid_argument if it does not fit 64 bits
  constexpr std::size_t count() const {
    std::size_t n = 1;
    for (std::size_t d = 0; d != Rank; ++d)
      if (value_[d] == 0) return 0;
    for (std::size_t d = 0; d != Rank; ++d)
      if (__builtin_mul_overflow(n, value_[d], &n))
        throw invalid_argument("the shape " + text() + " has too many elements");
    return n;
  }
  /// Such as "3 x 4"; "scalar" for rank 0.
  std::string text() const {
    std::string s = Rank == 0 ? "scalar" : "";
    for (std::size_t d = 0; d != Rank; ++d) s += detail::concat(d ? " x " : "", value_[d]);
    return s;
  }

 private:
  template <class Int>
  static constexpr std::size_t checked(Int e) {
    if (std::cmp_less(e, 0)) throw invalid_argument(detail::concat("an extent is negative: ", e));
    return static_cast<std::size_t>(e);
  }
  // Not std::array: nvcc warns about its operators in device code.
  std::size_t value_[Rank > 0 ? Rank : 1] = {};
};

template <std::integral... Int>
extents(Int...) -> extents<sizeof...(Int)>;

/// Distance in elements between neighbors along each dimension.
template <std::size_t Rank>
using strides = std::array<std::ptrdiff_t, Rank>;

/// Strides of a contiguous array, last dimension fastest.
template <std::size_t Rank>
constexpr strides<Rank> row_major(const extents<Rank>& e) {
  strides<Rank> s{};
  std::size_t step = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    s[d] = static_cast<std::ptrdiff_t>(step);
    step *= e[d];
  }
  return s;
}

/// True if the elements are contiguous, last dimension fastest.
template <std::size_t Rank>
constexpr bool is_contiguous(const extents<Rank>& e, const strides<Rank>& s) {
  for (std::size_t d = 0; d != Rank; ++d)
    if (e[d] == 0) return true;
  std::size_t step = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    if (e[d] != 1 && s[d] != static_cast<std::ptrdiff_t>(step)) return false;
    step *= e[d];
  }
  return true;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
