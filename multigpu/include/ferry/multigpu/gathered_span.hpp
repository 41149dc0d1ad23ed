/// @file
/// A sharded array inside kernels that reach elements by index lists: what one member owns, and its ghosts.
#pragma once
#include <cstddef>
#include <type_traits>

#include "ferry/core/mdspan.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// The elements of a sharded array that one member reads with an exchange_plan, by their local numbers: 0, 1, ... are
/// the elements that the member owns, in order, and those after them its ghosts. Of arrays of several dimensions, the
/// local number is the index along the first one; the others are whole.
/// @tparam T element type, const
/// @tparam Rank number of dimensions
template <class T, std::size_t Rank>
class gathered_span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  static constexpr std::size_t rank() { return Rank; }

  gathered_span() = default;
#if !defined(__CUDACC_RTC__)
  /// Makes a span of contiguous elements.
  /// @param own the elements that the member owns; their extents are those of the other dimensions, too
  /// @param ghosts the elements of other members
  gathered_span(const mdspan<T, Rank>& own, const mdspan<T, Rank>& ghosts)
      : own_(own.data()),
        ghosts_(ghosts.data()),
        owned_(own.extent(0)),
        label_(own.label()) {
    for (std::size_t d = 0; d != Rank; ++d) extent_[d] = ghosts.extent(d);
    extent_[0] += owned_;
  }
#endif

  /// Number of elements that the member owns: the local number of its first ghost.
  FERRY_HOST_DEVICE std::size_t owned() const { return owned_; }
  /// Number of local numbers for d = 0, else the extent of the array along dimension d.
  FERRY_HOST_DEVICE std::size_t extent(std::size_t d) const { return extent_[d]; }
  /// Name of the array for messages.
  FERRY_HOST_DEVICE const detail::array_label& label() const { return label_; }

  /// The element at a local number and one index for each further dimension. Numbers outside fail if FERRY_CHECKS is 1.
  template <class... Index>
  requires(sizeof...(Index) + 1 == Rank && (std::is_convertible_v<Index, std::size_t> && ...)) FERRY_HOST_DEVICE T&
  operator()(std::size_t number, Index... index) const {
    const std::size_t n = checked(0, number);
    std::size_t at = n < owned_ ? n : n - owned_;
    [[maybe_unused]] int d = 1;
    ((at = at * extent_[d] + checked(d, static_cast<std::size_t>(index)), ++d), ...);
    return n < owned_ ? own_[at] : ghosts_[at];
  }
  /// As the call with one number.
  FERRY_HOST_DEVICE T& operator[](std::size_t number) const requires(Rank == 1) { return (*this)(number); }

  /// The same elements at other addresses. For the simulator, which runs kernels on copies.
  template <class Move>
  gathered_span relocated(const Move& move) const {
    gathered_span s = *this;
    s.own_ = move(own_), s.ghosts_ = move(ghosts_);
    return s;
  }

 private:
  FERRY_HOST_DEVICE std::size_t checked([[maybe_unused]] int d, std::size_t i) const {
#if FERRY_CHECKS
    if (i >= extent_[d]) out_of_range(d, i);
#endif
    return i;
  }
#if FERRY_IN_DEVICE_CODE
  FERRY_HOST_DEVICE void out_of_range([[maybe_unused]] int d, [[maybe_unused]] std::size_t i) const {
#ifndef NDEBUG
    const bool named = label_.is_named();
    ::printf(
        "ferry: local number or index %lld in dimension %d of %s%s%s is outside of the %llu that this member has\n",
        static_cast<long long>(i), d, named ? "sharded array '" : "an unnamed sharded array", label_.text(),
        named ? "'" : "", static_cast<unsigned long long>(extent_[d]));
    __trap();
#endif
  }
#else
  FERRY_HOST_DEVICE void out_of_range(int d, std::size_t i) const {
    detail::index_failed(label_.text(), d, i, extent_[d]);
  }
#endif

  T* own_ = nullptr;
  T* ghosts_ = nullptr;
  std::size_t owned_ = 0;
  std::size_t extent_[Rank] = {};
  detail::array_label label_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
