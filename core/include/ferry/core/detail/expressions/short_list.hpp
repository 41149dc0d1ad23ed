// A list with room for usual lengths inside of the object.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Copies only the elements that it has. Above Most elements they are on the heap.
template <class T, std::size_t Most>
class short_list {
 public:
  short_list() noexcept {}
  short_list(const short_list& o) { append(o.get()); }
  short_list(short_list&& o) noexcept { take(std::move(o)); }
  short_list& operator=(const short_list& o) {
    if (this == &o) return *this;
    clear();
    append(o.get());
    return *this;
  }
  short_list& operator=(short_list&& o) noexcept {
    if (this == &o) return *this;
    release();
    take(std::move(o));
    return *this;
  }
  ~short_list() { release(); }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::span<const T> get() const { return {data(), size_}; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  void push_back(T one) {
    if (size_ == room_) grow(size_ + 1);
    std::construct_at(data() + size_, std::move(one));
    ++size_;
  }
  void append(std::span<const T> all) {
    if (size_ + all.size() > room_) grow(size_ + all.size());
    std::uninitialized_copy(all.begin(), all.end(), data() + size_);
    size_ += all.size();
  }
  void clear() noexcept {
    std::destroy_n(data(), size_);
    size_ = 0;
  }

 private:
  T* data() { return heap_ ? heap_ : reinterpret_cast<T*>(inside_); }
  const T* data() const { return heap_ ? heap_ : reinterpret_cast<const T*>(inside_); }
  void grow(std::size_t least) {
    std::size_t room = room_;
    while (room < least) room *= 2;
    std::allocator<T> memory;
    T* const fresh = memory.allocate(room);
    std::uninitialized_move_n(data(), size_, fresh);
    const std::size_t had = size_;
    release();
    heap_ = fresh, room_ = room, size_ = had;
  }
  void release() noexcept {
    clear();
    if (heap_) std::allocator<T>().deallocate(heap_, room_);
    heap_ = nullptr, room_ = Most;
  }
  // Requires that this list is empty, and has no memory.
  void take(short_list&& o) noexcept {
    if (o.heap_) {
      heap_ = std::exchange(o.heap_, nullptr);
      room_ = std::exchange(o.room_, Most);
    } else {
      std::uninitialized_move_n(o.data(), o.size_, data());
      std::destroy_n(o.data(), o.size_);
    }
    size_ = std::exchange(o.size_, 0);
  }
  T* heap_ = nullptr;
  std::size_t size_ = 0, room_ = Most;
  alignas(T) std::byte inside_[Most * sizeof(T)];
};

}  // namespace ferry::inline FERRY_ABI::detail
