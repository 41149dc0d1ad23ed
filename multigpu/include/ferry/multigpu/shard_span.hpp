/// @file
/// A sharded array inside kernels: the cells that one device sees, with the indices of the whole array.
#pragma once
#include <cstdint>
#include <type_traits>

#include "ferry/core/mdspan.hpp"
#include "ferry/version.hpp"
#if !defined(__CUDACC_RTC__)
#include "ferry/multigpu/box.hpp"
#endif

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {
[[noreturn]] void shard_index_failed(const char* array, int dimension, std::ptrdiff_t index, std::ptrdiff_t begin,
                                     std::ptrdiff_t end);
[[noreturn]] void stale_halo_failed(const char* array, int dimension, std::ptrdiff_t index);
}  // namespace detail

/// The cells of a sharded array that one device sees, for kernels. Indices are those of the whole array. Halo cells
/// have the indices -1, -2, ... and those after the last one, if an axis is periodic or at the ends of an axis. A
/// functor that takes shard_spans also works with whole arrays, because mdspans convert to it.
/// @tparam T element type
/// @tparam Rank number of dimensions
template <class T, std::size_t Rank>
class shard_span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  static constexpr std::size_t rank() { return Rank; }

  shard_span() = default;
#if !defined(__CUDACC_RTC__)
  /// Makes a span of the cells `seen`.
  /// @param data the address of the first cell of `seen`
  /// @param seen the cells that the device sees
  /// @param s the strides, in elements
  /// @param whole the shape of the whole array
  /// @param label the name of the array in error texts
  shard_span(T* data, const box<Rank>& seen, const strides<Rank>& s, const extents<Rank>& whole,
             detail::array_label label = {})
      : data_(data),
        label_(label) {
    for (std::size_t d = 0; d != Rank; ++d)
      begin_[d] = seen.begin[d], length_[d] = seen.length(d), stride_[d] = s[d], extent_[d] = whole[d],
      first_ += offset(seen.begin[d], s[d]);
  }
#endif
  /// Converts from an mdspan of a whole array, without halos.
  FERRY_HOST_DEVICE shard_span(const mdspan<T, Rank>& m) : data_(m.data()), label_(m.label()) {
    for (std::size_t d = 0; d != Rank; ++d)
      begin_[d] = 0, length_[d] = extent_[d] = m.extent(d), stride_[d] = m.stride(d);
  }
  /// Converts from a span of writable elements.
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) FERRY_HOST_DEVICE
      shard_span(const shard_span<U, Rank>& o)
      : data_(o.data()),
        label_(o.label()) {
    for (std::size_t d = 0; d != Rank; ++d)
      begin_[d] = o.begin(d), length_[d] = o.length(d), stride_[d] = o.stride(d), extent_[d] = o.extent(d),
      first_ += offset(begin_[d], stride_[d]), refuse(d, o.refused_low(d), o.refused_high(d));
  }
  /// @overload
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) FERRY_HOST_DEVICE shard_span(const mdspan<U, Rank>& m)
      : shard_span(mdspan<T, Rank>(m)) {}

  /// Returns the extent of the whole array along dimension d.
  FERRY_HOST_DEVICE std::size_t extent(std::size_t d) const { return extent_[d]; }
  /// Returns the stride along dimension d, in elements.
  FERRY_HOST_DEVICE std::ptrdiff_t stride(std::size_t d) const { return stride_[d]; }
  /// Returns the first index along dimension d that this device sees: it sees [begin, begin + length).
  FERRY_HOST_DEVICE std::ptrdiff_t begin(std::size_t d) const { return begin_[d]; }
  /// Returns the number of indices along dimension d that this device sees.
  FERRY_HOST_DEVICE std::size_t length(std::size_t d) const { return length_[d]; }
  /// Returns the address of the first cell that this device sees.
  FERRY_HOST_DEVICE T* data() const { return data_; }
  /// Returns the label of the array.
  FERRY_HOST_DEVICE const detail::array_label& label() const { return label_; }
  /// Marks cells at both ends of a dimension as halos out of date. Where indices are checked, accesses to these cells
  /// fail.
  FERRY_HOST_DEVICE void refuse(std::size_t d, std::uint32_t low, std::uint32_t high) {
    refused_[2 * d] = low, refused_[2 * d + 1] = high;
  }
  /// Returns the number of cells that refuse() marked at the low end.
  FERRY_HOST_DEVICE std::uint32_t refused_low(std::size_t d) const { return refused_[2 * d]; }
  /// Returns the number of cells that refuse() marked at the high end.
  FERRY_HOST_DEVICE std::uint32_t refused_high(std::size_t d) const { return refused_[2 * d + 1]; }

  /// Returns the cell at one index of the whole array a dimension. Unsigned arithmetic may wrap: i - 1 is valid for i =
  /// 0.
  template <class... Index>
  requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, std::size_t> && ...)) FERRY_HOST_DEVICE T&
  operator()(Index... index) const {
    std::size_t at = 0 - first_;  // unsigned, because g++ vectorizes no signed sum of products
    int d = 0;
    ((check(d, static_cast<std::size_t>(index)),
      at += static_cast<std::size_t>(index) * static_cast<std::size_t>(stride_[d]), ++d),
     ...);
    return data_[static_cast<std::ptrdiff_t>(at)];
  }
  /// As the call with one index.
  FERRY_HOST_DEVICE T& operator[](std::size_t i) const requires(Rank == 1) { return (*this)(i); }

  /// Returns true if cells along the last dimension are adjacent.
  FERRY_HOST_DEVICE bool has_unit_stride() const { return stride_[Rank - 1] == 1; }
  /// Returns the same span, if has_unit_stride(), for a compiler that then knows so. Used by kernels of loops.
  FERRY_HOST_DEVICE shard_span with_unit_stride() const {
    shard_span s = *this;
    s.stride_[Rank - 1] = 1;
    return s;
  }

  /// Returns the same span, without checks of indices. Used by loops on the CPU.
  FERRY_HOST_DEVICE shard_span unchecked() const {
    shard_span s = *this;
    s.label_.set_unchecked();
    return s;
  }

  /// Returns the same cells at another address. The simulator, which runs kernels on copies, uses it.
  template <class Move>
  shard_span relocated(const Move& move) const {
    shard_span s = *this;
    s.data_ = move(data_);
    return s;
  }

 private:
  FERRY_HOST_DEVICE static std::size_t offset(std::ptrdiff_t i, std::ptrdiff_t stride) {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(stride);
  }

  FERRY_HOST_DEVICE void check([[maybe_unused]] int d, [[maybe_unused]] std::size_t index) const {
#if FERRY_CHECKS
    const std::size_t i = index - static_cast<std::size_t>(begin_[d]);
    const std::size_t low = refused_[2 * d], both = low + refused_[2 * d + 1];
    if (i - low >= length_[d] - both && !label_.is_unchecked())
      out_of_range(label_, d, static_cast<std::ptrdiff_t>(i), begin_[d], length_[d]);
#endif
  }
  // No member is passed by its address: then compilers would vectorize no loop with the span.
  // i: distance from the first index that this device sees.
#if FERRY_IN_DEVICE_CODE
  FERRY_HOST_DEVICE static void out_of_range([[maybe_unused]] detail::array_label label, [[maybe_unused]] int d,
                                             [[maybe_unused]] std::ptrdiff_t i, [[maybe_unused]] std::ptrdiff_t begin,
                                             [[maybe_unused]] std::size_t length) {
#ifndef NDEBUG
    const bool named = label.is_named();
    const char* const what = named ? "sharded array '" : "an unnamed sharded array";
    if (static_cast<std::size_t>(i) < length)
      ::printf(
          "ferry: index %lld in dimension %d of %s%s%s is a halo cell that is out of date: call exchange_halos first\n",
          static_cast<long long>(i + begin), d, what, label.text(), named ? "'" : "");
    else
      ::printf(
          "ferry: index %lld in dimension %d of %s%s%s is outside the cells [%lld, %lld) that this device may touch "
          "here\n",
          static_cast<long long>(i + begin), d, what, label.text(), named ? "'" : "", static_cast<long long>(begin),
          static_cast<long long>(begin) + static_cast<long long>(length));
    __trap();
#endif
  }
#else
  [[noreturn]] static void out_of_range(detail::array_label label, int d, std::ptrdiff_t i, std::ptrdiff_t begin,
                                        std::size_t length) {
    if (static_cast<std::size_t>(i) < length) detail::stale_halo_failed(label.text(), d, i + begin);
    detail::shard_index_failed(label.text(), d, i + begin, begin, begin + static_cast<std::ptrdiff_t>(length));
  }
#endif

  T* data_ = nullptr;
  std::size_t first_ = 0;  // offset of begin_ from index 0: one addition an access, not one a dimension
  std::ptrdiff_t begin_[Rank] = {};
  std::size_t length_[Rank] = {};
  std::ptrdiff_t stride_[Rank] = {};
  std::size_t extent_[Rank] = {};
  std::uint32_t refused_[2 * Rank] = {};
  detail::array_label label_;
};

#if !defined(__CUDACC_RTC__)
/// `shard_span<const T, Rank>` as a template of arrays: a functor of a loop over shards that only reads a struct S
/// takes it as `S<const_shard_span>`, one that writes as `S<shard_span>`.
template <class T, std::size_t Rank>
using const_shard_span = shard_span<std::add_const_t<T>, Rank>;  // nvcc takes an alias with const T for shard_span
#endif

/// @}

}  // namespace ferry::inline FERRY_ABI
