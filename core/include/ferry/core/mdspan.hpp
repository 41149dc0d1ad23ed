/// @file
/// Strided elements without ownership: how kernels see arrays, and what host() converts to. The interface follows
/// std::mdspan. data(), extents and strides convert it to std::mdspan or cuda::std::mdspan with layout_stride.
#pragma once
#include <cstddef>
#include <type_traits>

#include "ferry/core/assert.hpp"
#include "ferry/core/detail/support/array_label.hpp"
#include "ferry/core/macros.hpp"
#include "ferry/version.hpp"
#if !defined(__CUDACC_RTC__)
#include "ferry/core/extents.hpp"
#endif

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// Non-owning strided elements, for device code and the CPU.
template <class T, std::size_t Rank>
class mdspan {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  static constexpr std::size_t rank() { return Rank; }

  mdspan() = default;
#if !defined(__CUDACC_RTC__)
  /// @param data element at index 0 of every dimension
  /// @param e shape, in elements
  /// @param s strides, in elements
  /// @param label name of the array for messages
  mdspan(T* data, const extents<Rank>& e, const strides<Rank>& s, detail::array_label label = {})
      : data_(data),
        label_(label) {
    for (std::size_t d = 0; d != Rank; ++d) extent_[d] = e[d], stride_[d] = s[d];
  }
#endif
  /// n contiguous elements.
  FERRY_HOST_DEVICE mdspan(T* data, std::size_t n, const detail::array_label& label = {}) requires(Rank == 1)
      : data_(data),
        extent_{n},
        stride_{1},
        label_(label) {}
  /// Read-only span of a writable one.
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) FERRY_HOST_DEVICE mdspan(const mdspan<U, Rank>& o)
      : data_(o.data()),
        label_(o.label()) {
    for (std::size_t d = 0; d != Rank; ++d) extent_[d] = o.extent(d), stride_[d] = o.stride(d);
  }

  /// Element at index 0 of every dimension.
  FERRY_HOST_DEVICE T* data() const { return data_; }
  /// Number of elements of dimension d.
  FERRY_HOST_DEVICE std::size_t extent(std::size_t d) const { return extent_[d]; }
  /// Distance in elements between neighbors along dimension d.
  FERRY_HOST_DEVICE std::ptrdiff_t stride(std::size_t d) const { return stride_[d]; }
  /// Name of the array for messages.
  FERRY_HOST_DEVICE const detail::array_label& label() const { return label_; }
  /// Number of elements.
  FERRY_HOST_DEVICE std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t d = 0; d != Rank; ++d) n *= extent_[d];
    return n;
  }

  /// The element at one index for each dimension, each in [0, extent). Out-of-range indices fail if FERRY_CHECKS is 1
  /// and the span is not unchecked().
  template <class... Index>
  requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, std::size_t> && ...)) FERRY_HOST_DEVICE T&
  operator()(Index... index) const {
    std::size_t at = 0;  // unsigned: g++ vectorizes no signed sum of products
    [[maybe_unused]] int d = 0;
    ((at += checked(d, static_cast<std::size_t>(index)) * static_cast<std::size_t>(stride_[d]), ++d), ...);
    return data_[static_cast<std::ptrdiff_t>(at)];
  }
  FERRY_HOST_DEVICE T& operator[](std::size_t i) const requires(Rank == 1) { return (*this)(i); }

  /// True if elements along the last dimension are adjacent.
  FERRY_HOST_DEVICE bool has_unit_stride() const requires(Rank > 0) { return stride_[Rank - 1] == 1; }
  /// The same span, if has_unit_stride(), for a compiler that then knows so. Used by kernels of loops.
  FERRY_HOST_DEVICE mdspan with_unit_stride() const requires(Rank > 0) {
    mdspan m = *this;
    m.stride_[Rank - 1] = 1;
    return m;
  }

  /// The same span, without checks of indices. Used by loops on the CPU.
  FERRY_HOST_DEVICE mdspan unchecked() const {
    mdspan m = *this;
    m.label_.set_unchecked();
    return m;
  }

  /// The same elements at another address. For the simulator, which runs kernels on copies.
  template <class Move>
  mdspan relocated(const Move& move) const {
    mdspan m = *this;
    m.data_ = move(data_);
    return m;
  }

 private:
  FERRY_HOST_DEVICE std::size_t checked([[maybe_unused]] int d, std::size_t i) const {
#if FERRY_CHECKS
    if (i >= extent_[d] && !label_.is_unchecked()) out_of_range(label_, d, i, extent_[d]);
#endif
    return i;
  }
  // By value: the address of a span that is passed on would keep the compiler from vectorizing the loop.
#if FERRY_IN_DEVICE_CODE
  FERRY_HOST_DEVICE static void out_of_range([[maybe_unused]] detail::array_label label, [[maybe_unused]] int d,
                                             [[maybe_unused]] std::size_t i, [[maybe_unused]] std::size_t extent) {
#ifndef NDEBUG
    const bool named = label.is_named();
    ::printf("ferry: index %lld in dimension %d of %s%s%s is outside its extent %llu\n", static_cast<long long>(i), d,
             named ? "array '" : "an unnamed array", label.text(), named ? "'" : "",
             static_cast<unsigned long long>(extent));
    __trap();
#endif
  }
#else
  [[noreturn]] static void out_of_range(detail::array_label label, int d, std::size_t i, std::size_t extent) {
    detail::index_failed(label.text(), d, i, extent);
  }
#endif

  T* data_ = nullptr;
  // Rank 0 has one unused entry, because arrays of no elements are not allowed.
  std::size_t extent_[Rank == 0 ? 1 : Rank] = {};
  std::ptrdiff_t stride_[Rank == 0 ? 1 : Rank] = {};
  detail::array_label label_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
