/// @file
/// Views: strided elements of an array. A view keeps its array's memory alive. Accesses to disjoint views never wait
/// for each other.
#pragma once
#include <concepts>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/detail/runtime/host_access.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/type_name.hpp"
#include "ferry/core/detail/views/element_access.hpp"
#include "ferry/core/detail/views/host_permission.hpp"
#include "ferry/core/detail/views/view_layout.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/extents.hpp"
#include "ferry/core/macros.hpp"
#include "ferry/core/mdspan.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// Half-open range [begin, end) of indices of one dimension, every step-th of them; by default all. Any integer type is
/// accepted. The call that takes the slice throws for indices outside the dimension, such as negative ones.
struct slice {
  std::ptrdiff_t begin = 0, end = std::numeric_limits<std::ptrdiff_t>::max();
  std::ptrdiff_t step = 1;  ///< negative: from end - 1 downwards
  /// An integer that does not convert to a slice, so that a.slice({0, 10}) means ten elements.
  struct first_index {
    std::ptrdiff_t value;
    template <std::integral I>
    constexpr first_index(I i) : value(static_cast<std::ptrdiff_t>(i)) {}
  };
  constexpr slice() = default;
  constexpr slice(first_index first) : begin(first.value) {}  ///< {first}: from first to the end
  /// The range [first, last), every by-th index.
  template <std::integral Begin, std::integral End, std::integral Step = std::ptrdiff_t>
  constexpr slice(Begin first, End last, Step by = 1)
      : begin(static_cast<std::ptrdiff_t>(first)),
        end(static_cast<std::ptrdiff_t>(last)),
        step(static_cast<std::ptrdiff_t>(by)) {}
  /// End of the range in a dimension of this extent.
  constexpr std::ptrdiff_t end_in(std::size_t extent) const {
    return end == slice().end ? static_cast<std::ptrdiff_t>(extent) : end;
  }
  /// True if the range lies in [0, extent], does not end before it begins, and its step is not 0.
  constexpr bool fits(std::size_t extent) const {
    const std::ptrdiff_t last = end_in(extent);
    return step != 0 && begin >= 0 && begin <= last && static_cast<std::size_t>(last) <= extent;
  }
};
/// The whole dimension.
inline constexpr slice all_of{};

namespace detail {
// Throws invalid_argument for a slice that does not fit.
[[noreturn]] void throw_bad_slice(const slice& s, std::size_t extent, std::size_t dimension, const std::string& of);
// Returns the number of elements of a slice of one dimension. Throws invalid_argument unless s lies in [0, extent] and
// does not end before it begins.
std::size_t checked_slice(const slice& s, std::size_t extent, std::size_t dimension, const array_look& of);
[[noreturn]] void throw_out_of_range(std::size_t index, std::size_t extent, std::size_t dimension, const array_look& of,
                                     source_line at);
// As array_view::last_stream().
std::optional<stream_ref> last_stream_of(const allocation_ref& owner, byte_range bytes);
}  // namespace detail

template <class T, std::size_t Rank, memory_kind Kind>
class basic_array;
template <class T, std::size_t Rank>
class expression;
template <class T, std::size_t Rank>
class reduced;

/// View of the elements of an array; it does not own them, but keeps their memory alive. Constness is deep, as for
/// containers: a const view returns const elements.
/// @tparam T trivially copyable element type; const for read-only elements
/// @tparam Rank number of dimensions, 0 to max_rank
/// @tparam Kind kind of memory
template <class T, std::size_t Rank, memory_kind Kind>
class array_view {
  static_assert(std::is_trivially_copyable_v<T>,
                "ferry arrays hold trivially copyable types: bytes are copied as they are");

 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  using const_view = array_view<const T, Rank, Kind>;
  static constexpr std::size_t rank = Rank;
  static constexpr memory_kind kind = Kind;

  array_view() = default;
  array_view(const array_view&) = default;
  array_view& operator=(const array_view&) = default;
  /// The moved-from view has no elements afterwards. For rank 0 it has no memory, and each use of it throws.
  array_view(array_view&& o) noexcept
      : owner_(std::move(o.owner_)),
        data_(std::exchange(o.data_, nullptr)),
        extents_(std::exchange(o.extents_, {})),
        strides_(o.strides_) {
    o.permission_.forget();
  }
  array_view& operator=(array_view&& o) noexcept {
    owner_ = std::move(o.owner_);
    data_ = std::exchange(o.data_, nullptr);
    extents_ = std::exchange(o.extents_, {});
    strides_ = o.strides_;
    permission_.forget();
    return *this;
  }
  /// Sets the elements of this view to those of an expression (expression.hpp). Ordered on the calling thread's stream
  /// of the view's device.
  /// @throws invalid_argument if the shape does not fit
  template <class U, std::size_t R>
  array_view& operator=(const expression<U, R>& e);
  /// Sets the elements of this view to the result of a reduction (reduce.hpp), as above.
  template <class U, std::size_t R>
  array_view& operator=(const reduced<U, R>& r);
  template <class E>
  requires(E::expression_kind.is_spread)  //
      array_view&
      operator=(const E&) = delete;  // elements of several devices: use a sharded array, then ferry::copy
  template <class N>
  requires std::is_arithmetic_v<N> array_view& operator=(N) = delete;  // a number is set by ferry::assign(a, 0.0)
  /// View of memory of an allocation.
  /// @param owner allocation; the view shares its ownership
  /// @param data element at index 0 of every dimension
  /// @param e shape, in elements
  /// @param s strides, in elements
  array_view(detail::allocation_ref owner, T* data, const ferry::extents<Rank>& e, const ferry::strides<Rank>& s)
      : owner_(std::move(owner)),
        data_(data),
        extents_(e),
        strides_(s) {}
  /// Read-only view of a writable one.
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) array_view(const array_view<U, Rank, Kind>& o)
      : array_view(o.owner(), o.unsynchronized_data(), o.extents(), o.strides()) {}

  /// Deleted: a const array does not convert to a writable view, not even by slicing to its base class.
  template <class A>
  requires(std::is_const_v<A> && !std::is_const_v<T> && std::is_base_of_v<array_view, A> &&
           !std::is_same_v<A, const array_view>) array_view(A&)
  = delete;

  /// Shape, in elements.
  const ferry::extents<Rank>& extents() const { return extents_; }
  /// Number of elements of dimension d.
  std::size_t extent(std::size_t d) const { return extents_[d]; }
  /// Distance in elements between neighbors along each dimension.
  const ferry::strides<Rank>& strides() const { return strides_; }
  /// Number of elements.
  std::size_t size() const { return extents_.count(); }
  /// Size of the elements in bytes.
  std::size_t size_bytes() const { return size() * sizeof(T); }
  /// True if there are no elements.
  bool empty() const { return size() == 0; }
  /// True if the elements are contiguous, last dimension fastest.
  bool is_contiguous() const { return ferry::is_contiguous(extents_, strides_); }
  /// Device that owns the memory; for unified and pinned memory the home device.
  ferry::device device() const { return ferry::device(owner_ ? owner_.unchecked()->device : 0); }
  /// Byte range from the lowest element to the end of the highest.
  detail::byte_range bytes() const {
    if (empty()) return {};
    return detail::bounding_bytes(extents_, strides_, data_, sizeof(T));
  }
  /// Stream of the newest submission that touches any of these bytes. Never blocks. A raw pointer from pointer() counts
  /// as a use by its stream at the time of that call. Accesses by the CPU do not count.
  /// @return empty if no submission has used the bytes, or all uses are complete and their records are dropped
  /// @throws use_after_free if the array was freed
  /// @note The reference stays valid for the life of the runtime, but another owner may reuse the stream.
  std::optional<stream_ref> last_stream() const { return detail::last_stream_of(owner_, bytes()); }
  /// Name of the array; empty if it has none.
  const std::string& name() const {
    static const std::string none;
    return owner_ ? owner_.get().name.get() : none;
  }
  /// Contiguous copy of the elements, in memory of the same kind on the same device. Ordered on the calling thread's
  /// stream of that device.
  /// @throws out_of_memory and whatever copy() throws
  basic_array<value_type, Rank, Kind> clone(source_line at = source_line::here()) const;
  /// Description of the array for messages.
  detail::array_look look() const {
    detail::array_look l{&owner_, Kind, detail::type_name<value_type>(), Rank, {}};
    for (std::size_t d = 0; d != Rank; ++d) l.extent[d] = extents_[d];
    return l;
  }
  /// The allocation behind the view.
  /// @throws use_after_free naming the array and the source line, if it was freed
  /// @throws invalid_argument if there is no allocation
  detail::allocation& need_alive(source_line at) const {
    if (!owner_ || owner_.is_freed()) [[unlikely]]
      throw_freed(at);
    return *owner_.unchecked();
  }
  /// Address of the first element, without any synchronization. The caller must order all accesses through it.
  T* unsynchronized_data() const { return data_; }
  /// The allocation that the view shares.
  const detail::allocation_ref& owner() const { return owner_; }

  /// Subview with one slice for each dimension; missing slices mean the whole dimension.
  /// @throws invalid_argument if a slice does not fit
  array_view slice(std::initializer_list<ferry::slice> parts) { return sliced<array_view>(parts); }
  /// @overload
  const_view slice(std::initializer_list<ferry::slice> parts) const { return sliced<const_view>(parts); }
  /// Subview of the elements [begin, end) of the first dimension.
  array_view slice(ferry::slice part) { return sliced<array_view>({part}); }
  /// @overload
  const_view slice(ferry::slice part) const { return sliced<const_view>({part}); }
  /// The same elements in another shape.
  /// @throws invalid_argument unless the view is contiguous and has as many elements as the new shape
  template <std::size_t NewRank>
  auto reshape(const ferry::extents<NewRank>& e) {
    return reshaped<array_view<T, NewRank, Kind>>(e);
  }
  /// @overload
  template <std::size_t NewRank>
  auto reshape(const ferry::extents<NewRank>& e) const {
    return reshaped<array_view<const T, NewRank, Kind>>(e);
  }
  /// View with the dimensions in reverse order.
  array_view transpose() { return transposed<array_view>(); }
  /// @overload
  const_view transpose() const { return transposed<const_view>(); }

  /// Accesses one element from the CPU. Blocks until the conflicting device work is complete. Without such work it
  /// costs one comparison. Numbers in device memory are returned as device_element: a(i, j).get() copies one to the
  /// CPU.
  /// @param first first index, with the caller's source line
  /// @param index further indices, each in [0, extent)
  /// @throws invalid_argument with the array, the index and its extent, if an index is out of range, where indices are
  ///   checked (FERRY_CHECK_INDICES)
  template <class... Index>
  requires(sizeof...(Index) + 1 == Rank && (std::is_convertible_v<Index, std::size_t> && ...))
      [[gnu::always_inline]] detail::element_access<T, Kind>
      operator()(detail::located_index first, Index... index) {
    return at_offset<T>(first.at, first.value, static_cast<std::size_t>(index)...);
  }
  /// @overload
  template <class... Index>
  requires(sizeof...(Index) + 1 == Rank && (std::is_convertible_v<Index, std::size_t> && ...))
      [[gnu::always_inline]] detail::element_access<const T, Kind>
      operator()(detail::located_index first, Index... index) const {
    return at_offset<const T>(first.at, first.value, static_cast<std::size_t>(index)...);
  }
  /// The value of an array of rank 0; otherwise as above.
  detail::element_access<T, Kind> operator()(source_line at = source_line::here()) requires(Rank == 0) {
    return at_offset<T>(at);
  }
  /// @overload
  detail::element_access<const T, Kind> operator()(source_line at = source_line::here()) const requires(Rank == 0) {
    return at_offset<const T>(at);
  }
  /// Accesses one element of an array of rank 1; see operator()().
  [[gnu::always_inline]] detail::element_access<T, Kind> operator[](detail::located_index i) requires(Rank == 1) {
    return at_offset<T>(i.at, i.value);
  }
  /// @overload
  [[gnu::always_inline]] detail::element_access<const T, Kind> operator[](detail::located_index i) const
      requires(Rank == 1) {
    return at_offset<const T>(i.at, i.value);
  }
  /// The first element of an array of rank 1; see at().
  /// @throws invalid_argument if there is none
  detail::element_access<T, Kind> front(source_line at = source_line::here()) requires(Rank == 1) {
    return at_offset<T, true>(at, std::size_t{0});
  }
  /// @overload
  detail::element_access<const T, Kind> front(source_line at = source_line::here()) const requires(Rank == 1) {
    return at_offset<const T, true>(at, std::size_t{0});
  }
  /// The last element of an array of rank 1; see at().
  /// @throws invalid_argument if there is none
  detail::element_access<T, Kind> back(source_line at = source_line::here()) requires(Rank == 1) {
    return at_offset<T, true>(at, size() - 1);
  }
  /// @overload
  detail::element_access<const T, Kind> back(source_line at = source_line::here()) const requires(Rank == 1) {
    return at_offset<const T, true>(at, size() - 1);
  }
  /// True if the work that writes the elements is complete. Never blocks.
  bool is_ready() const { return !owner_ || detail::are_uses_complete(owner_.get(), bytes(), false); }
  /// Same as operator(), but always compares the indices with the extents, as at() of containers does.
  template <class... Index>
  requires(sizeof...(Index) + 1 == Rank && (std::is_convertible_v<Index, std::size_t> && ...))  //
      detail::element_access<T, Kind> at(detail::located_index first, Index... index) {
    return at_offset<T, true>(first.at, first.value, static_cast<std::size_t>(index)...);
  }
  /// @overload
  template <class... Index>
  requires(sizeof...(Index) + 1 == Rank && (std::is_convertible_v<Index, std::size_t> && ...))  //
      detail::element_access<const T, Kind> at(detail::located_index first, Index... index)
  const { return at_offset<const T, true>(first.at, first.value, static_cast<std::size_t>(index)...); }

  /// Contiguous iteration at raw pointer speed: one host access check in begin(), none in the loop. Blocks as
  /// operator() does. A pointer is valid until the next conflicting submission.
  /// @throws invalid_argument if the view is not contiguous
  auto begin(source_line at = source_line::here()) { return first<T>(at); }
  /// End of the elements.
  auto end() { return last<T>(); }
  /// @overload
  auto begin(source_line at = source_line::here()) const { return first<const T>(at); }
  /// @overload
  auto end() const { return last<const T>(); }
  /// As begin(), for reading. Waits for writers only.
  auto cbegin(source_line at = source_line::here()) const { return first<const T>(at); }
  /// End of the elements.
  auto cend() const { return last<const T>(); }

  /// Blocks until the CPU may access the elements: for reading, until writers are complete; for writing, also readers.
  /// Used by begin(), host() and host_span().
  void wait_for_host(bool write, source_line at = source_line::here()) const {
    wait_for_host(write ? detail::access_mode::inout : detail::access_mode::in,
                  {detail::host_reach::range, nullptr, at});
  }
  /// @overload
  void wait_for_host(detail::access_mode mode, const detail::host_ask& how) const {
    detail::need_host_access<Kind>();
    if (!owner_ && empty()) return;
    permission_.keep(detail::wait_for_host_access(need_alive(how.at), bytes(), mode, how),
                     mode != detail::access_mode::in);
  }

  /// @cond
 protected:
  // Differs between sources of one program: used as a template argument, and in functions that are always inlined.
  static constexpr bool checks_indices = FERRY_CHECK_INDICES || !detail::has_element_references<T, Kind>;
  [[noreturn, gnu::noinline, gnu::cold]] void throw_freed(source_line at) const {
    const detail::array_look shape = look();
    (void)owner_.get(at, &shape);
    std::terminate();  // get() has thrown
  }
  [[noreturn, gnu::noinline, gnu::cold]] void throw_outside(std::size_t index, std::size_t d, source_line at) const {
    detail::throw_out_of_range(index, extents_[d], d, look(), at);
  }
  // Costs one comparison while no new submission touches the same bytes.
  template <class U>
  [[gnu::always_inline]] U* granted(T* element, source_line line) const {
    detail::need_host_access<Kind>();
    constexpr bool write = !std::is_const_v<U>;
    // Other ranks need no check: without an owner there are no elements.
    if constexpr (Rank == 0) (void)owner_.get();
    const detail::access_history& log = owner_.unchecked()->history;
    if (write ? !permission_.may_write(log) : !permission_.may_read(log)) [[unlikely]] {
      element = wait_for_element(element, write, line);
      asm volatile("" : "+r"(element));  // the wait is needed even if the element is not
    }
    return element;
  }
  // Returns the element. "pure" tells g++ that no member of the view changes, so that loops keep extents and strides in
  // registers. What changes are counters, which are loaded each time (movable_load). It throws errors of the work;
  // clang would take "pure" to mean that it does not.
#if !defined(__clang__)
  [[gnu::pure]]
#endif
  [[gnu::noinline, gnu::cold]] T*
  wait_for_element(T* element, bool write, source_line line) const {
    wait_for_host(write ? detail::access_mode::inout : detail::access_mode::in,
                  {detail::host_reach::elements, reinterpret_cast<const std::byte*>(element), line, sizeof(T)});
    return element;
  }
  template <class U>
  [[gnu::always_inline]] detail::element_access<U, Kind> element_at(std::ptrdiff_t offset, source_line line) const {
    if constexpr (detail::has_element_references<U, Kind>)
      return *granted<U>(data_ + offset, line);
    else
      return {owner_, data_ + offset, line};
  }
  template <class U, bool Checks = checks_indices, class... Index>
  [[gnu::always_inline]] detail::element_access<U, Kind> at_offset(source_line line, Index... index) const {
    if constexpr (Checks) check_indices(line, index...);
    std::ptrdiff_t at = 0;
    [[maybe_unused]] std::size_t d = 0;
    ((at += static_cast<std::ptrdiff_t>(index) * strides_[d++]), ...);
    return element_at<U>(at, line);
  }
  template <class U>
  auto first(source_line line) const {
    if constexpr (is_host_accessible(Kind))
      return host_data<U>(line);
    else
      return detail::no_host_iterator<U, Kind>();
  }
  template <class U>
  auto last() const {
    if constexpr (is_host_accessible(Kind))
      return static_cast<U*>(data_ + size());
    else
      return detail::no_host_iterator<U, Kind>();
  }
  template <class U>
  U* host_data(source_line line) const {
    if (!is_contiguous())
      throw invalid_argument("begin() needs contiguous elements, and this view of " + detail::array_text(look()) +
                             detail::in_line(line) + " is strided: use ferry::host(view), or view.clone()");
    wait_for_host(!std::is_const_v<U>, line);
    return data_;
  }
  template <class... Index>
  [[gnu::always_inline]] void check_indices([[maybe_unused]] source_line line, Index... index) const {
    std::size_t d = 0;
    ((index < extents_[d] ? void(++d) : throw_outside(index, d, line)), ...);
  }
  template <class View>
  View sliced(std::initializer_list<ferry::slice> parts) const {
    if (parts.size() > Rank)
      throw invalid_argument(detail::concat("slice() got ", parts.size(), " parts for ", detail::array_text(look()),
                                            ", which has rank ", Rank));
    detail::view_layout<Rank> l{extents_, strides_};
    std::size_t d = 0;
    for (const ferry::slice& p : parts) {
      const std::size_t n = detail::checked_slice(p, extents_[d], d, look());
      l.narrow(d, n, p.step > 0 ? p.begin : p.end_in(extents_[d]) - 1, p.step);
      ++d;
    }
    return View(owner_, data_ ? data_ + l.offset : data_, l.extents, l.strides);
  }
  template <class View, std::size_t NewRank>
  View reshaped(const ferry::extents<NewRank>& e) const {
    if (!is_contiguous() || e.count() != size())
      throw invalid_argument(
          "reshape of " + detail::array_text(look()) + " to shape " + e.text() +
          (is_contiguous() ? ": the number of elements differs" : ": the view is strided; reshape view.clone()"));
    return View(owner_, data_, e, row_major(e));
  }
  template <class View>
  View transposed() const {
    const auto l = detail::view_layout<Rank>{extents_, strides_}.transposed();
    return View(owner_, data_, l.extents, l.strides);
  }

  detail::allocation_ref owner_;
  T* data_ = nullptr;
  ferry::extents<Rank> extents_;
  ferry::strides<Rank> strides_{};
  mutable detail::host_permission permission_;
  /// @endcond
};

/// @}

}  // namespace ferry::inline FERRY_ABI
