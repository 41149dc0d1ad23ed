// The uses in a log: a vector in two words, so that what submissions touch of an allocation fits in a cache line.
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "ferry/core/detail/ordering/timeline.hpp"

namespace ferry {

// Bytes [begin, end).
struct byte_range {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  bool overlaps(byte_range o) const { return begin < o.end && o.begin < end; }
  bool covers(byte_range o) const { return begin <= o.begin && o.end <= end; }
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// Point `at` on timeline `by` touches `where`. Half a cache line, never across two.
struct alignas(32) logged_use {
  logged_use(timeline* who, ticket t, bool writes, byte_range bytes)
      : by(who),
        at(t & open_ticket),
        write(writes),
        where(bytes) {}
  timeline* by;
  ticket at : 63;
  ticket write : 1;
  byte_range where;
};
static_assert(sizeof(logged_use) == 32 && std::is_trivially_copyable_v<logged_use>);

// Grows when told to, never by itself.
class use_list {
 public:
  use_list() = default;
  ~use_list() { release(); }
  use_list(const use_list&) = delete;
  use_list& operator=(const use_list&) = delete;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  bool has_room_for(std::size_t more) const { return room_ - size_ >= more; }
  // Room for so many in all; throws std::bad_alloc.
  void reserve(std::size_t count);
  // There must be room.
  void push_back(const logged_use& u) noexcept {
    assert(size_ < room_);
    std::construct_at(first_ + size_++, u);
  }
  void keep_first(std::size_t count) noexcept { size_ = static_cast<std::uint32_t>(count); }

  logged_use* begin() { return first_; }
  logged_use* end() { return first_ + size_; }
  const logged_use* begin() const { return first_; }
  const logged_use* end() const { return first_ + size_; }
  logged_use& operator[](std::size_t i) { return first_[i]; }
  const logged_use& operator[](std::size_t i) const { return first_[i]; }
  logged_use& front() { return *first_; }
  const logged_use& front() const { return *first_; }
  const logged_use& back() const { return first_[size_ - 1]; }

 private:
  void release() noexcept;
  logged_use* first_ = nullptr;
  std::uint32_t size_ = 0, room_ = 0;
};

}  // namespace ferry
