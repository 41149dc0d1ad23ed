// Access of the CPU for a scope, whose end ferry knows.
#pragma once
#include <span>

#include "ferry/core/detail/kernels/arguments.hpp"
#include "ferry/core/host.hpp"

namespace ferry {

namespace detail {
std::uint64_t begin_host_scope(const allocation_ref& owner, byte_range bytes, access_mode mode, source_line at);
void end_host_scope(const allocation_ref& owner, std::uint64_t scope) noexcept;
[[noreturn]] void throw_strided_guard(const allocation_ref& owner);
}  // namespace detail

// Whether what host_span(), host() and as_eigen() give for unified arrays is followed as guards are: while it or a copy of it lives,
// submitting work that conflicts is an invalid_argument that names both lines. It moves no pages, and costs an allocation
// a span. For the current machine; FERRY_CHECK_SPANS says it for a program, off if not set. Of spans made from then on.
enum class span_checks { off, on };
void check_spans(span_checks how);

// The elements of a unified or pinned array for the CPU, as in(a), inout(a) or out(a) says: waits once, then raw. Blocks
// until the device work that conflicts is over. While a guard lives, submitting work that conflicts is an error that names
// both lines, and pages of a unified array stay with the CPU: a device that reads along reaches them there. With
// out() every element must be written, and pages that lie wholly inside may come without their contents.
// Throws invalid_argument for a device array.
template <class T, std::size_t Rank>
class host_guard {
 public:
  explicit host_guard(const array_argument<T, Rank>& a, source_line at = source_line::here())
      : owner_(*a.owner),
        view_(a.span),
        contiguous_(a.contiguous),
        scope_(detail::begin_host_scope(owner_, a.bytes, a.mode, at)) {}
  ~host_guard() { detail::end_host_scope(owner_, scope_); }
  host_guard(const host_guard&) = delete;
  host_guard& operator=(const host_guard&) = delete;

  std::size_t extent(std::size_t d) const { return view_.extent(d); }
  std::size_t size() const { return view_.size(); }
  T* data() const { return view_.data(); }
  // The element at one index a dimension. Checked only where kernels are (FERRY_CHECKS).
  template <class... Index>
  requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, std::size_t> && ...)) T& operator()(
      Index... index) const {
    return view_(index...);
  }
  T& operator[](std::size_t i) const requires(Rank == 1) { return view_(i); }
  // Contiguous elements only; throws invalid_argument.
  T* begin() const {
    if (!contiguous_) detail::throw_strided_guard(owner_);
    return data();
  }
  T* end() const { return begin() + size(); }
  std::span<T> span() const { return {begin(), size()}; }

 private:
  allocation_ref owner_;
  mdspan<T, Rank> view_;
  bool contiguous_;
  std::uint64_t scope_;
};

}  // namespace ferry
