// Arrays that own their memory.
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

namespace ferry {

// Allocates memory of an array; returns null for 0 bytes. Throws out_of_memory; invalid_argument if there is no such
// device.
allocation_ref allocate_array(memory_kind kind, device d, std::size_t count, std::size_t element_bytes);
// Sets the name for messages and reports.
void name_allocation(allocation& a, std::string text);

// Rank dimensions of T in one kind of memory. Movable; copied only explicitly (clone, copy). The destructor never
// blocks: the bytes are reused only after the work that still accesses them.
template <class T, std::size_t Rank, memory_kind Kind>
class basic_array : public array_view<T, Rank, Kind> {
  using view = array_view<T, Rank, Kind>;

 public:
  basic_array() = default;
  // Contents are undefined. May block when the pool grows.
  explicit basic_array(const extents<Rank>& e, ferry::device d = default_device())
      : view(allocate_array(Kind, d, e.count(), sizeof(T)), nullptr, e, row_major(e)) {
    if (this->owner_) this->data_ = reinterpret_cast<T*>(this->owner_.get().begin);
    home_ = this->owner_ ? ferry::device(this->owner_.get().device) : d;  // a peer, if d is full and may spill
  }
  // The same for {n}, which is otherwise ambiguous with a copy of an array made from n.
  template <std::integral Int>
  requires(Rank == 1) explicit basic_array(const Int (&n)[1], ferry::device d = default_device())
      : basic_array(ferry::extents<1>(n[0]), d) {}
  basic_array(basic_array&& o) noexcept { swap(o); }
  basic_array& operator=(basic_array&& o) noexcept {
    basic_array taken(std::move(o));
    swap(taken);
    return *this;
  }
  // Compilers quote the line of a deleted function, so it states the remedy.
  basic_array(const basic_array&) = delete;             // arrays are copied only when asked: use b = a.clone()
  basic_array& operator=(const basic_array&) = delete;  // arrays are copied only when asked: use copy(a, b)

  // Sets every element to a value, on the device's stream of this thread.
  basic_array(const extents<Rank>& e, T value, ferry::device d = default_device());
  // Copies elements from host memory, in row-major order. Throws invalid_argument if the numbers of elements differ.
  static basic_array from(std::span<const T> elements, const extents<Rank>& e, ferry::device d = default_device());
  static basic_array from(std::span<const T> elements, ferry::device d = default_device()) requires(Rank == 1) {
    return from(elements, extents<1>{elements.size()}, d);
  }
  static basic_array from(const std::vector<T>& elements, ferry::device d = default_device()) requires(Rank == 1) {
    if constexpr (std::is_same_v<T, bool>)
      return from(elements, extents<1>{elements.size()}, d);
    else
      return from(std::span<const T>(elements), d);
  }
  static basic_array from(const std::vector<bool>& elements, const extents<Rank>& e,
                          ferry::device d = default_device()) requires(std::is_same_v<T, bool>) {
    return from(std::span<const T>(detail::cpu_buffer<bool>(elements).span()), e, d);
  }
  static basic_array from(std::initializer_list<T> elements, ferry::device d = default_device()) requires(Rank == 1) {
    return from(std::span<const T>(elements.begin(), elements.size()), d);
  }
  // Takes ownership of bytes that were allocated elsewhere, at the start of their block (see adopt).
  static basic_array from_owner(allocation_ref owner, const extents<Rank>& e) {
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
  // Copies the array in memory of the same kind on the same device, ordered on that device's stream of this thread.
  basic_array clone(source_line at = source_line::here()) const;

  // As in a view, but contiguous.
  T& operator[](located_index i) requires(Rank == 1) {
    this->check_indices(i.at, i.value);
    return *this->template granted<T>(this->data_ + i.value, i.at);
  }
  const T& operator[](located_index i) const requires(Rank == 1) {
    this->check_indices(i.at, i.value);
    return *this->template granted<const T>(this->data_ + i.value, i.at);
  }

  using view::name;
  // Sets the name for messages, reports and explain(). An empty array has no name.
  basic_array& name(std::string text) & {
    if (this->owner_) name_allocation(this->owner_.get(), std::move(text));
    return *this;
  }
  basic_array&& name(std::string text) && { return std::move(name(std::move(text))); }

  ferry::device device() const { return home_; }
  // Releases the bytes now. Later use of the array or of a view of it throws use_after_free.
  void free() noexcept { this->owner_.free(); }
  // Changes the shape. Elements with indices in both shapes are preserved; others are undefined.
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

template <class T, std::size_t Rank = 1>
using device_array = basic_array<T, Rank, memory_kind::device>;
template <class T, std::size_t Rank = 1>
using unified_array = basic_array<T, Rank, memory_kind::unified>;
template <class T, std::size_t Rank = 1>
using host_array = basic_array<T, Rank, memory_kind::host>;
template <class T, std::size_t Rank = 1>
using array = basic_array<T, Rank, default_memory_kind<T>>;

// Arrays and views.
template <class A>
concept array_like = requires {
  typename A::const_view;
  requires std::is_base_of_v<array_view<typename A::element_type, A::rank, A::kind>, A>;
};

}  // namespace ferry
