// A vector that stores usual lengths inside of the object.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// True for types whose objects can be moved as bytes, without constructors and destructors.
template <class T>
inline constexpr bool is_relocatable = std::is_trivially_copyable_v<T>;

// A copy copies only the elements in use. More than Most elements are on the heap.
template <class T, std::size_t Most>
class small_vector {
 public:
  small_vector() noexcept {}
  small_vector(const small_vector& o) : small_vector() { append(o.get()); }
  small_vector(small_vector&& o) noexcept { take(std::move(o)); }
  small_vector& operator=(const small_vector& o) {
    if (this == &o) return *this;
    clear();
    append(o.get());
    return *this;
  }
  small_vector& operator=(small_vector&& o) noexcept {
    if (this == &o) return *this;
    release();
    take(std::move(o));
    return *this;
  }
  ~small_vector() { release(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::span<const T> get() const { return {data_, size_}; }
  std::span<T> get() { return {data_, size_}; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  // The arguments must not refer to elements of this vector.
  template <class... A>
  T& emplace_back(A&&... arguments) {
    make_room();
    T* const one = std::construct_at(data_ + size_, std::forward<A>(arguments)...);
    ++size_;
    return *one;
  }
  void push_back(T one) { emplace_back(std::move(one)); }
  // Appends an element, which the caller fills in place. Copying an object right after small writes to it would stall
  // the processor (failed store forwarding).
  T& add() {
    make_room();
    T* const one = ::new (data_ + size_) T;  // T() would clear it first
    ++size_;
    return *one;
  }
  void pop_back() noexcept { std::destroy_at(data_ + --size_); }
  void append(std::span<const T> all) {
    if (size_ + all.size() > room_) [[unlikely]]
      grow(size_ + all.size());
    std::uninitialized_copy(all.begin(), all.end(), data_ + size_);
    size_ += all.size();
  }
  void keep_first(std::size_t count) noexcept {
    std::destroy_n(data_ + count, size_ - count);
    size_ = count;
  }
  void clear() noexcept { keep_first(0); }

 private:
  T* inside() { return reinterpret_cast<T*>(inside_); }
  // Moves n elements to memory without objects, and destroys them where they were.
  static void relocate(T* from, std::size_t n, T* to) noexcept {
    if constexpr (is_relocatable<T>) {
      for (std::size_t i = 0; i != n; ++i)  // each copy has a fixed size, and needs no call
        std::memcpy(static_cast<void*>(to + i), static_cast<const void*>(from + i), sizeof(T));
    } else {
      std::uninitialized_move_n(from, n, to);
      std::destroy_n(from, n);
    }
  }
  void make_room() {
    if (size_ == room_) [[unlikely]]
      grow(size_ + 1);
  }
  void grow(std::size_t least) {
    std::size_t room = room_;
    while (room < least) room *= 2;
    T* const fresh = std::allocator<T>().allocate(room);
    relocate(data_, size_, fresh);
    if (data_ != inside()) std::allocator<T>().deallocate(data_, room_);
    data_ = fresh, room_ = room;
  }
  void release() noexcept {
    clear();
    if (data_ == inside()) return;
    std::allocator<T>().deallocate(data_, room_);
    data_ = inside(), room_ = Most;
  }
  // Requires that this vector is empty, and has no memory.
  void take(small_vector&& o) noexcept {
    if (o.data_ != o.inside()) [[unlikely]] {
      data_ = std::exchange(o.data_, o.inside());
      room_ = std::exchange(o.room_, Most);
    } else {
      relocate(o.data_, o.size_, data_);
    }
    size_ = std::exchange(o.size_, 0);
  }
  T* data_ = inside();
  std::size_t size_ = 0, room_ = Most;
  alignas(T) std::byte inside_[Most * sizeof(T)];
};

}  // namespace ferry::inline FERRY_ABI::detail
