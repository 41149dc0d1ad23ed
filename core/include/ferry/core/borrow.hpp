/// @file
/// Memory that ferry did not allocate, as arrays and views with their own access history: borrowed, adopted, or pinned.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "ferry/core/array.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup foreign_memory
/// @{

/// Options of borrow(), adopt(), as_unified() and pin().
struct borrow_options {
  /// The stream that used the memory last. Work of ferry on other streams waits for what this stream has enqueued so
  /// far. If it is empty, all earlier work on the memory must be complete.
  std::optional<stream_ref> stream{};
  std::string name{};
};

namespace detail {

// known: the memory must be registered with the backend. pinned: pin pageable memory. in_place: use pageable memory as
// it is.
enum class borrow_method : std::uint8_t { known, pinned, in_place };

// One borrow of a byte range. Borrows of the same bytes share one access history, which is destroyed with the last of
// them.
class borrow_handle {
 public:
  borrow_handle() = default;
  // Throws invalid_argument for memory of another kind or unknown to the backend. Also throws it for memory that
  // overlaps several other borrows or an adopted array.
  static borrow_handle borrowed(byte_range bytes, memory_kind kind, const borrow_options& how);
  // Borrows pageable host memory and pins it until its last pinned borrow ends. May block.
  static borrow_handle pinned(byte_range bytes, const borrow_options& how);
  // Borrows host memory as devices reach it best: in place, or pinned.
  static borrow_handle reachable(byte_range bytes, const borrow_options& how);
  borrow_handle(borrow_handle&& o) noexcept { swap(o); }
  borrow_handle& operator=(borrow_handle o) noexcept {
    swap(o);
    return *this;
  }
  // Blocks until the work that uses the bytes is complete. If a device fails meanwhile, the next call that uses that
  // device reports it.
  ~borrow_handle();
  void end();                   // as the destructor, but throws device_error
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

// Creates the owner of an adopted block. The deleter runs when the array is destroyed and all work on it is complete.
// Throws as borrow does; then nothing is adopted.
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

/// View of memory that the caller owns. give_back() and the destructor end the borrow; both block until the work that
/// uses the memory is complete. Destructors of arrays, in contrast, never block. Later uses of other views of the
/// memory throw use_after_free.
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
  /// Sets the elements to those of an expression; see array_view::operator=.
  template <class U, std::size_t R>
  borrowed& operator=(const expression<U, R>& e) {
    view::operator=(e);
    return *this;
  }
  /// Sets the elements to the result of a reduction; see array_view::operator=.
  template <class U, std::size_t R>
  borrowed& operator=(const reduced<U, R>& r) {
    view::operator=(r);
    return *this;
  }

  /// Ends the borrow. Blocks until all work on the memory is complete.
  /// @throws device_error if a device failed
  void give_back() { borrow_.end(); }
  /// Ends the borrow without blocking: later work of s, and of streams that wait for it, comes after all work on the
  /// memory.
  void give_back(stream_ref s) { borrow_.end(s); }
  /// Not available: ferry does not own the memory.
  template <class Never = T>
  void free() {
    static_assert(!std::is_same_v<Never, T>,
                  "a borrowed pointer belongs to its lender and cannot be freed: give_back() ends the borrow, or take "
                  "the memory over with ferry::adopt(pointer, extents, deleter)");
  }

 private:
  detail::borrow_handle borrow_;
};

/// Pinned host memory for the life of this object. Copies reach it without blocking, and kernels access it directly.
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
  /// Sets the elements to those of an expression; see array_view::operator=.
  template <class U, std::size_t R>
  pinned& operator=(const expression<U, R>& e) {
    view::operator=(e);
    return *this;
  }
  /// Sets the elements to the result of a reduction; see array_view::operator=.
  template <class U, std::size_t R>
  pinned& operator=(const reduced<U, R>& r) {
    view::operator=(r);
    return *this;
  }
  /// Ends the borrow. Blocks until all work on the memory is complete, then unpins it unless other borrows pin it too.
  /// @throws device_error if a device failed
  void give_back() { borrow_.end(); }

 private:
  detail::borrow_handle borrow_;
};

/// Borrows elements in row-major order until the result is destroyed. Borrows of the same bytes are ordered against
/// each other. Kind must be what the memory is: device (cudaMalloc, cudaMallocAsync), unified (cudaMallocManaged) or
/// host (cudaMallocHost, cudaHostRegister).
/// @param p first element
/// @param e shape, in elements
/// @param how last stream and name of the memory
/// @throws invalid_argument for other memory
template <memory_kind Kind = memory_kind::device, class T, std::size_t Rank>
borrowed<T, Rank, Kind> borrow(T* p, const extents<Rank>& e, const borrow_options& how = {}) {
  return {p, e, detail::borrow_handle::borrowed(detail::bytes_at(p, e), Kind, how)};
}
/// @overload
template <memory_kind Kind = memory_kind::device, class T, std::integral Int>
borrowed<T, 1, Kind> borrow(T* p, Int n, const borrow_options& how = {}) {
  return borrow<Kind>(p, extents<1>(n), how);
}

/// Makes an array that owns existing memory.
///
/// A deleter(p) runs when the array is destroyed and the work on it is complete. If work is still running then, a later
/// synchronization or the next adopted array calls it. A deleter(p, stream) runs at once, with a stream of ferry that
/// comes after that work. Neither form blocks.
/// @param p first element, in row-major order
/// @param e shape, in elements
/// @param deleter called as deleter(p) or deleter(p, ferry::stream_ref)
/// @param how last stream and name of the memory
/// @throws invalid_argument as borrow(); then p still belongs to the caller
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
/// @overload
template <memory_kind Kind = memory_kind::device, class T, std::integral Int, class Deleter>
basic_array<T, 1, Kind> adopt(T* p, Int n, Deleter deleter, const borrow_options& how = {}) {
  return adopt<Kind>(p, extents<1>(n), std::move(deleter), how);
}

/// Borrows host memory (std::vector, malloc, a mapped file) for use in place of a unified array.
///
/// Nothing is copied: the program continues to use its vector, and every device can use the view. Where devices access
/// pageable memory (HMM, ATS), pages stay or migrate as in unified arrays. Elsewhere the memory is pinned until the
/// result is destroyed.
/// @param p first element, in row-major order
/// @param e shape, in elements
/// @param how last stream and name of the memory
/// @throws invalid_argument for device memory
/// @throws not_supported if the memory can be neither used in place nor pinned
/// @throws out_of_memory if the system cannot pin it
/// @note While the view lives, access the elements through the view, or call give_back() first. The vector's own
///   iterators do not wait for device work.
template <class T, std::size_t Rank>
borrowed<T, Rank, memory_kind::unified> as_unified(T* p, const extents<Rank>& e, const borrow_options& how = {}) {
  return {p, e, detail::borrow_handle::reachable(detail::bytes_at(p, e), how)};
}
/// @overload
template <class Container>
requires requires(Container& c) { std::span(c); }
auto as_unified(Container& memory, const borrow_options& how = {}) {
  const std::span all(memory);
  return as_unified(all.data(), extents<1>(all.size()), how);
}

/// Pins host memory (std::vector, malloc, a mapped file) until the result is destroyed, as a view of pinned memory.
/// Overlapping spans are pinned together, with a reference count. May block. Pinning costs about as much as touching
/// the pages.
/// @throws invalid_argument for device memory
/// @throws not_supported if the backend cannot pin memory
/// @throws out_of_memory if the system cannot pin more
template <class T>
pinned<T> pin(std::span<T> memory, const borrow_options& how = {}) {
  const auto bytes = detail::bytes_at(memory.data(), extents<1>(memory.size()));
  return {memory, detail::borrow_handle::pinned(bytes, how)};
}
/// @overload
template <class Container>
requires requires(Container& c) { std::span(c); }
auto pin(Container& memory, const borrow_options& how = {}) { return pin(std::span(memory), how); }

/// @}

}  // namespace ferry::inline FERRY_ABI
