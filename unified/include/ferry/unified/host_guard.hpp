/// @file
/// Access of the CPU to an array for a scope.
#pragma once
#include <span>

#include "ferry/core/arguments.hpp"
#include "ferry/core/host.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

namespace detail {
std::uint64_t begin_host_scope(const allocation_ref& owner, byte_range bytes, access_mode mode, source_line at);
void end_host_scope(const allocation_ref& owner, std::uint64_t scope) noexcept;
[[noreturn]] void throw_strided_guard(const allocation_ref& owner);
}  // namespace detail

/// Whether spans of unified arrays (host_span(), host() and as_eigen()) are tracked as guards are. While a span or a
/// copy of it lives, a conflicting submission throws invalid_argument, which names both source lines. Tracking moves no
/// pages. It costs one allocation a span.
enum class span_checks { off, on };
/// Turns span checks on or off for the current runtime and spans that are made later. FERRY_CHECK_SPANS sets them for a
/// program; the default is off.
void check_spans(span_checks how);

/// Access of the CPU to the elements of a unified or pinned array, for a scope. The constructor waits once; element
/// accesses then cost as much as through a raw pointer. While a guard lives, conflicting submissions are errors that
/// name both source lines. Pages of a unified array stay with the CPU, and devices that read them too access them
/// remotely.
/// @tparam T element type
/// @tparam Rank number of dimensions
/// @note With out(), the program must write every element. Pages that lie completely inside may arrive without their
///   contents.
template <class T, std::size_t Rank>
class host_guard {
 public:
  /// Blocks until conflicting device work is complete.
  /// @param a the array, as in(a), inout(a) or out(a)
  /// @param at the caller's source line, for error texts
  /// @throws invalid_argument for a device array
  explicit host_guard(const array_argument<T, Rank>& a, source_line at = source_line::here())
      : owner_(*a.owner),
        view_(a.span),
        contiguous_(a.contiguous),
        scope_(detail::begin_host_scope(owner_, a.bytes, a.mode, at)) {}
  /// Ends the access.
  ~host_guard() { detail::end_host_scope(owner_, scope_); }
  host_guard(const host_guard&) = delete;
  host_guard& operator=(const host_guard&) = delete;

  /// Returns the extent along dimension d.
  std::size_t extent(std::size_t d) const { return view_.extent(d); }
  /// Returns the number of elements.
  std::size_t size() const { return view_.size(); }
  /// Returns the address of the first element.
  T* data() const { return view_.data(); }
  /// Returns the element at one index a dimension. Indices are checked only where kernels check them (FERRY_CHECKS).
  template <class... Index>
  requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, std::size_t> && ...)) T& operator()(
      Index... index) const {
    return view_(index...);
  }
  /// Returns the element at an index.
  T& operator[](std::size_t i) const requires(Rank == 1) { return view_(i); }
  /// Returns a pointer to the first element.
  /// @throws invalid_argument if the elements are not contiguous
  T* begin() const {
    if (!contiguous_) detail::throw_strided_guard(owner_);
    return data();
  }
  /// Returns a pointer past the last element. Throws as begin() does.
  T* end() const { return begin() + size(); }
  /// Returns the elements as a span. Throws as begin() does.
  std::span<T> span() const { return {begin(), size()}; }

 private:
  detail::allocation_ref owner_;
  mdspan<T, Rank> view_;
  bool contiguous_;
  std::uint64_t scope_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
