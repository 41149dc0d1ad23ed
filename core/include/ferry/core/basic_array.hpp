/// @file
/// Arrays that own their memory.
#pragma once
#include <concepts>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/core/default_kind.hpp"
#include "ferry/core/detail/support/cpu_buffer.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

namespace detail {
// Allocates memory of an array; returns null for 0 bytes. Throws out_of_memory; invalid_argument if there is no such
// device.
allocation_ref allocate_array(memory_kind kind, device d, std::size_t count, std::size_t element_bytes);
// Sets the name for messages and reports.
void name_allocation(allocation& a, std::string text);
// Specialized for objects of other libraries that arrays are made from: a static function shape<Rank>(object).
template <class X>
struct foreign_elements {};
}  // namespace detail

/// An array that owns its elements: Rank dimensions of T in one kind of memory. Movable; copied only explicitly (clone,
/// copy). The destructor never blocks: the bytes are reused only after the work that still accesses them.
/// @tparam T trivially copyable element type
/// @tparam Rank number of dimensions, 0 to max_rank
/// @tparam Kind kind of memory; device_array, unified_array and host_array name the three kinds
template <class T, std::size_t Rank, memory_kind Kind>
class basic_array : public array_view<T, Rank, Kind> {
  using view = array_view<T, Rank, Kind>;

 public:
  basic_array() = default;
  /// Allocates an array with undefined contents. May block when the pool grows.
  /// @param e shape, in elements; {n} for one dimension
  /// @param d device of the memory; for unified and pinned memory the home device
  /// @throws out_of_memory if the pool cannot allocate the bytes
  /// @throws invalid_argument if there is no such device
  explicit basic_array(const extents<Rank>& e, ferry::device d = default_device())
      : view(detail::allocate_array(Kind, d, e.count(), sizeof(T)), nullptr, e, row_major(e)) {
    if (this->owner_) this->data_ = reinterpret_cast<T*>(this->owner_.get().begin);
    home_ = this->owner_ ? ferry::device(this->owner_.get().device) : d;  // a peer, if d is full and may spill
  }
  /// @overload
  // For {n}, which is otherwise ambiguous with a copy of an array made from n.
  template <std::integral Int>
  requires(Rank == 1) explicit basic_array(const Int (&n)[1], ferry::device d = default_device())
      : basic_array(ferry::extents<1>(n[0]), d) {}
  basic_array(basic_array&& o) noexcept { swap(o); }
  basic_array& operator=(basic_array&& o) noexcept {
    basic_array taken(std::move(o));
    swap(taken);
    return *this;
  }
  /// Allocates an array of the expression's shape on the device of its first array, and evaluates it (expression.hpp).
  template <class U>
  explicit basic_array(expression<U, Rank> e);
  /// Sets the elements to those of an expression; see array_view::operator=. Never allocates.
  template <class U, std::size_t R>
  basic_array& operator=(const expression<U, R>& e);
  /// Allocates an array for the result of a reduction on the device of its first array (reduce.hpp).
  template <class U>
  explicit basic_array(const reduced<U, Rank>& r);
  /// Sets the elements to the result of a reduction; see array_view::operator=. Never allocates.
  template <class U, std::size_t R>
  basic_array& operator=(const reduced<U, R>& r);
  template <class E>
  requires(E::expression_kind.is_spread)  //
      basic_array&
      operator=(const E&) = delete;  // elements of several devices: use a sharded array, then ferry::copy
  // Compilers quote the line of a deleted function, so it states the remedy.
  template <class N>
  requires std::is_arithmetic_v<N> basic_array& operator=(N) = delete;  // a number is set by ferry::assign(a, 0.0)
  basic_array(const basic_array&) = delete;             // arrays are copied only when asked: use b = a.clone()
  basic_array& operator=(const basic_array&) = delete;  // arrays are copied only when asked: use copy(a, b)

  /// Allocates an array and sets every element to a value, on the device's stream of this thread.
  basic_array(const extents<Rank>& e, T value, ferry::device d = default_device());
  /// Makes an array with elements from host memory, in row-major order.
  /// @param elements elements to copy
  /// @param e shape; without it, one dimension
  /// @param d device of the memory
  /// @return the array
  /// @throws invalid_argument if the numbers of elements differ
  static basic_array from(std::span<const T> elements, const extents<Rank>& e, ferry::device d = default_device());
  /// @overload
  static basic_array from(std::span<const T> elements, ferry::device d = default_device()) requires(Rank == 1) {
    return from(elements, extents<1>{elements.size()}, d);
  }
  /// @overload
  static basic_array from(const std::vector<T>& elements, ferry::device d = default_device()) requires(Rank == 1) {
    if constexpr (std::is_same_v<T, bool>)
      return from(elements, extents<1>{elements.size()}, d);
    else
      return from(std::span<const T>(elements), d);
  }
  /// @overload
  static basic_array from(const std::vector<bool>& elements, const extents<Rank>& e,
                          ferry::device d = default_device()) requires(std::is_same_v<T, bool>) {
    return from(std::span<const T>(detail::cpu_buffer<bool>(elements).span()), e, d);
  }
  /// @overload
  static basic_array from(std::initializer_list<T> elements, ferry::device d = default_device()) requires(Rank == 1) {
    return from(std::span<const T>(elements.begin(), elements.size()), d);
  }
  /// Makes an array with the elements of an object of another library: of Eigen, with <ferry/eigen.hpp>.
  /// @param x a dense object of the same rank; its numbers are converted
  /// @param d device of the memory
  template <class X>
  requires(requires(const X& x) { detail::foreign_elements<X>::template shape<Rank>(x); })  //
      static basic_array from(const X& x, ferry::device d = default_device()) {
    basic_array a(detail::foreign_elements<X>::template shape<Rank>(x), d);
    copy(x, a, source_line{});
    return a;
  }
  /// Takes ownership of bytes that were allocated elsewhere, at the start of their block (see adopt).
  static basic_array from_owner(detail::allocation_ref owner, const extents<Rank>& e) {
    basic_array a;
    if (owner) {
      a.data_ = reinterpret_cast<T*>(owner.get().begin);
      a.home_ = ferry::device(owner.get().device);
    }
    a.owner_ = std::move(owner);
    a.extents_ = e;
    a.strides_ = row_major(e);
    return a;
  }
  /// Returns a copy of the array, in memory of the same kind on the same device. Ordered on that device's stream of
  /// this thread.
  basic_array clone(source_line at = source_line::here()) const;

  /// Accesses one element from the CPU; see array_view::operator()().
  [[gnu::always_inline]] detail::element_access<T, Kind> operator[](detail::located_index i) requires(Rank == 1) {
    if constexpr (view::checks_indices) this->check_indices(i.at, i.value);
    return this->template element_at<T>(static_cast<std::ptrdiff_t>(i.value), i.at);
  }
  /// @overload
  [[gnu::always_inline]] detail::element_access<const T, Kind> operator[](detail::located_index i) const
      requires(Rank == 1) {
    if constexpr (view::checks_indices) this->check_indices(i.at, i.value);
    return this->template element_at<const T>(static_cast<std::ptrdiff_t>(i.value), i.at);
  }

  using view::name;
  /// Sets the name for messages, reports and explain(). An empty array has no name.
  basic_array& name(std::string text) & {
    if (this->owner_) detail::name_allocation(this->owner_.get(), std::move(text));
    return *this;
  }
  basic_array&& name(std::string text) && { return std::move(name(std::move(text))); }

  /// Device of the memory; for unified and pinned memory the home device.
  ferry::device device() const { return home_; }
  /// Releases the bytes now. Later use of the array or of a view of it throws use_after_free.
  void free() noexcept { this->owner_.free(); }
  /// Changes the shape. Elements with indices in both shapes are preserved; others are undefined.
  void resize(const extents<Rank>& e);
  void swap(basic_array& o) noexcept {
    std::swap(this->owner_, o.owner_);
    std::swap(this->data_, o.data_);
    std::swap(this->extents_, o.extents_);
    std::swap(this->strides_, o.strides_);
    std::swap(home_, o.home_);
    this->permission_.forget();
    o.permission_.forget();
  }
  friend void swap(basic_array& a, basic_array& b) noexcept { a.swap(b); }

 private:
  ferry::device home_;
};

/// Array in the memory of one device. The CPU cannot access it.
template <class T, std::size_t Rank = 1>
using device_array = basic_array<T, Rank, memory_kind::device>;
/// View of an array of device memory.
template <class T, std::size_t Rank = 1>
using device_view = array_view<T, Rank, memory_kind::device>;
/// Array that the CPU and every device access at one address.
template <class T, std::size_t Rank = 1>
using unified_array = basic_array<T, Rank, memory_kind::unified>;
/// Array in pinned memory of the CPU, accessible from every device.
template <class T, std::size_t Rank = 1>
using host_array = basic_array<T, Rank, memory_kind::host>;
/// Array of the default kind of memory (default_kind.hpp).
template <class T, std::size_t Rank = 1>
using array = basic_array<T, Rank, default_memory_kind<T>>;

/// Arrays and views.
template <class A>
concept array_like = requires {
  typename A::const_view;
  requires std::is_base_of_v<array_view<typename A::element_type, A::rank, A::kind>, A>;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
