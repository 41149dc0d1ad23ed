// A vector that is usually short.
#pragma once
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Stores up to `Few` elements without an allocation; more elements are in a std::vector.
template <class T, std::size_t Few>
class small_vector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  small_vector() = default;
  small_vector(const small_vector& o) { *this = o; }
  small_vector& operator=(const small_vector& o) {
    keep_first(0);
    for (const T& one : o.get()) push_back(one);
    return *this;
  }

  void push_back(const T& one) { add() = one; }
  // Appends an element, which the caller fills in place. Copying an object right after small writes to it would stall
  // the processor (failed store forwarding).
  T& add() {
    if (many_.empty() && size_ < Few) [[likely]]
      return *::new (room_ + sizeof(T) * size_++) T;  // T() would clear it first
    return add_to_many();
  }
  void keep_first(std::size_t count) {
    if (!many_.empty()) many_.erase(many_.begin() + static_cast<std::ptrdiff_t>(count), many_.end());
    size_ = count;
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const T> get() const { return {many_.empty() ? reinterpret_cast<const T*>(room_) : many_.data(), size_}; }
  std::span<T> get() { return {many_.empty() ? reinterpret_cast<T*>(room_) : many_.data(), size_}; }
  const T& operator[](std::size_t i) const { return get()[i]; }

 private:
  [[gnu::noinline]] T& add_to_many() {
    if (many_.empty()) many_.assign(get().begin(), get().end());
    T& one = many_.emplace_back();
    ++size_;  // last: the lines above may throw
    return one;
  }
  alignas(T) std::byte room_[Few * sizeof(T)];  // not initialized: unused elements cost nothing
  std::vector<T> many_;                         // all elements, if there are more than `Few`
  std::size_t size_ = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
