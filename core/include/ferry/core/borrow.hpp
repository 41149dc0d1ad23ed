// Memory that ferry did not allocate, as arrays and views with a log of their own: borrowed, owned, or pinned.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "ferry/core/array.hpp"
#include "ferry/core/stream.hpp"

namespace ferry {

struct borrow_options {
  // The stream that used the memory last: work of ferry on other streams comes after what this one was given until now.
  // Without it, whatever touches the memory must be over.
  std::optional<stream_ref> stream{};
  std::string name{};
};

namespace detail {

// known: the backend must know the memory. pinned: pageable memory becomes pinned. in_place: pageable memory is used as it is.
enum class borrow_method : std::uint8_t { known, pinned, in_place };

// One borrow of some bytes. Borrows of the same bytes share one log, which goes with the last of them.
class borrow_handle {
 public:
  borrow_handle() = default;
  // Throws invalid_argument for memory of another kind, memory that the backend does not know, and memory that overlaps
  // several other borrows or an adopted array.
  static borrow_handle borrowed(byte_range bytes, memory_kind kind, const borrow_options& how);
  // Pageable memory of the CPU; pinned as long as somebody pins it. May block.
  static borrow_handle pinned(byte_range bytes, const borrow_options& how);
  // Memory of the CPU, however devices reach it best: as it is, or pinned.
  static borrow_handle reachable(byte_range bytes, const borrow_options& how);
  borrow_handle(borrow_handle&& o) noexcept { swap(o); }
  borrow_handle& operator=(borrow_handle o) noexcept {
    swap(o);
    return *this;
  }
  // Waits for the work that uses the bytes; a device that fails meanwhile is reported by the next call that uses it.
  ~borrow_handle();
  void end();                   // the same now, and throws device_error
  void end(stream_ref before);  // never blocks: later work of that stream comes after all uses
  const allocation_ref& owner() const { return owner_; }

 private:
  void end_by(freed_by how, const stream_ref* before);
  void swap(borrow_handle& o) noexcept {
    std::swap(owner_, o.owner_);
    std::swap(bytes_, o.bytes_);
    std::swap(pinned_, o.pinned_);
  }
  allocation_ref owner_;
  byte_range bytes_;
  bool pinned_ = false;
};

// The home of an adopted block and what runs when its array and all work on it are gone. Throws as borrowing does, and
// then nothing was adopted.
using block_deleter = std::function<void(void*, const stream_ref*)>;
allocation_ref adopt_block(byte_range bytes, memory_kind kind, const borrow_options& how, bool wants_stream,
                           block_deleter deleter);

template <class T, std::size_t Rank>
byte_range bytes_at(T* p, const extents<Rank>& e) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(e.count(), sizeof(T), &bytes))
    throw invalid_argument("memory of shape " + e.text() + " has more than 2^64 bytes");
  const auto* begin = reinterpret_cast<const std::byte*>(p);
  if (!begin && bytes > 0) throw invalid_argument("memory of shape " + e.text() + " was given by a null pointer");
  return {begin, begin + bytes};
}

}  // namespace detail

// A view of memory that somebody else owns. Giving it back waits for the work that uses the memory, and so does the
// destructor: the one destructor that blocks. Views of it throw use_after_free afterwards.
template <class T, std::size_t Rank, memory_kind Kind>
class borrowed : public array_view<T, Rank, Kind> {
  using view = array_view<T, Rank, Kind>;

 public:
  borrowed(T* p, const extents<Rank>& e, detail::borrow_handle l)
      : view(l.owner(), p, e, row_major(e)),
        borrow_(std::move(l)) {}
  borrowed(borrowed&& o) noexcept = default;
  borrowed& operator=(borrowed&& o) noexcept = default;
  borrowed(const borrowed&) = delete;
  borrowed& operator=(const borrowed&) = delete;

  // Blocks until all work on the memory is over. Throws device_error.
  void give_back() { borrow_.end(); }
  // The same without waiting: later work of s, and what waits for it, comes after all work on the memory.
  void give_back(stream_ref s) { borrow_.end(s); }
  template <class Never = T>
  void free() {
    static_assert(!std::is_same_v<Never, T>,
                  "a borrowed pointer belongs to its lender and cannot be freed: give_back() ends the borrow, or take "
                  "the memory over with ferry::adopt(pointer, extents, deleter)");
  }

 private:
  detail::borrow_handle borrow_;
};

// Memory of the CPU that copies reach without blocking and kernels directly, as long as this lives.
template <class T>
class pinned : public array_view<T, 1, memory_kind::host> {
  using view = array_view<T, 1, memory_kind::host>;

 public:
  pinned(std::span<T> memory, detail::borrow_handle l)
      : view(l.owner(), memory.data(), extents<1>(memory.size()), {1}),
        borrow_(std::move(l)) {}
  pinned(pinned&& o) noexcept = default;
  pinned& operator=(pinned&& o) noexcept = default;
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  // Blocks until all work on the memory is over, and unpins it unless others pin it too. Throws device_error.
  void give_back() { borrow_.end(); }

 private:
  detail::borrow_handle borrow_;
};

// Elements at p, in row-major order, for as long as the result lives. Kind must be what the memory is: device
// (cudaMalloc, cudaMallocAsync), unified (cudaMallocManaged) or host (cudaMallocHost, cudaHostRegister). Borrows of the
// same bytes are ordered against each other. Throws invalid_argument for other memory.
template <memory_kind Kind = memory_kind::device, class T, std::size_t Rank>
borrowed<T, Rank, Kind> borrow(T* p, const extents<Rank>& e, const borrow_options& how = {}) {
  return {p, e, detail::borrow_handle::borrowed(detail::bytes_at(p, e), Kind, how)};
}
template <memory_kind Kind = memory_kind::device, class T, std::integral Int>
borrowed<T, 1, Kind> borrow(T* p, Int n, const borrow_options& how = {}) {
  return borrow<Kind>(p, extents<1>(n), how);
}

// An array that owns what is at p. When it and the work on it are gone, deleter(p) is called by whoever destroys it, or
// later by a synchronisation or another adopted array if work is still running; deleter(p, stream) is called at once, with
// a stream of ferry that comes after that work. Neither blocks. Throws as borrow does; then p remains the caller's.
template <memory_kind Kind = memory_kind::device, class T, std::size_t Rank, class Deleter>
basic_array<T, Rank, Kind> adopt(T* p, const extents<Rank>& e, Deleter deleter, const borrow_options& how = {}) {
  static_assert(!std::is_const_v<T>, "an array of const elements cannot be owned: cast the pointer, or borrow it");
  constexpr bool wants_stream = std::is_invocable_v<Deleter&, T*, stream_ref>;
  static_assert(wants_stream || std::is_invocable_v<Deleter&, T*>,
                "the deleter of an adopted array is called as deleter(pointer) or deleter(pointer, ferry::stream_ref)");
  auto owner = detail::adopt_block(detail::bytes_at(p, e), Kind, how, wants_stream,
                                   [deleter](void* q, [[maybe_unused]] const stream_ref* s) mutable {
                                     if constexpr (wants_stream)
                                       deleter(static_cast<T*>(q), *s);
                                     else
                                       deleter(static_cast<T*>(q));
                                   });
  return basic_array<T, Rank, Kind>::from_owner(std::move(owner), e);
}
template <memory_kind Kind = memory_kind::device, class T, std::integral Int, class Deleter>
basic_array<T, 1, Kind> adopt(T* p, Int n, Deleter deleter, const borrow_options& how = {}) {
  return adopt<Kind>(p, extents<1>(n), std::move(deleter), how);
}

// Memory of the CPU (std::vector, malloc, a mapped file) in the place of a unified array, for as long as the result lives:
// nothing is copied, the program goes on using its vector, and every device can use the view. Where devices read pageable
// memory (HMM, ATS) pages stay or migrate as in unified arrays; elsewhere the memory is pinned meanwhile. While the view
// lives, touch the elements through it, or after give_back(): the vector's own iterators wait for nobody.
// Throws invalid_argument for device memory, not_supported where the memory can be neither; out_of_memory.
template <class T, std::size_t Rank>
borrowed<T, Rank, memory_kind::unified> as_unified(T* p, const extents<Rank>& e, const borrow_options& how = {}) {
  return {p, e, detail::borrow_handle::reachable(detail::bytes_at(p, e), how)};
}
template <class Container>
requires requires(Container& c) { std::span(c); }
auto as_unified(Container& memory, const borrow_options& how = {}) {
  const std::span all(memory);
  return as_unified(all.data(), extents<1>(all.size()), how);
}

// Pins memory of the CPU (std::vector, malloc, a mapped file) as long as the result lives: a view of it as pinned memory.
// Pinning costs about as much as touching the pages; may block. Spans that overlap are pinned together and counted. Throws
// invalid_argument, not_supported; out_of_memory when the system pins no more.
template <class T>
pinned<T> pin(std::span<T> memory, const borrow_options& how = {}) {
  const auto bytes = detail::bytes_at(memory.data(), extents<1>(memory.size()));
  return {memory, detail::borrow_handle::pinned(bytes, how)};
}
template <class Container>
requires requires(Container& c) { std::span(c); }
auto pin(Container& memory, const borrow_options& how = {}) { return pin(std::span(memory), how); }

}  // namespace ferry
