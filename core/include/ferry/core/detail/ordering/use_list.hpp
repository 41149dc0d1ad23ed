// The records of an access history: a vector in two words, so that an allocation's hot data fits in one cache line.
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Bytes [begin, end).
struct byte_range {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  bool overlaps(byte_range o) const { return begin < o.end && o.begin < end; }
  bool covers(byte_range o) const { return begin <= o.begin && o.end <= end; }
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// Ticket `at` of timeline `by` accesses `where`. Half a cache line, never across two.
struct alignas(32) access_record {
  access_record(timeline* who, ticket t, bool writes, byte_range bytes)
      : by(who),
        at(t & open_ticket),
        write(writes),
        where(bytes) {}
  timeline* by;
  ticket at : 63;
  ticket write : 1;
  byte_range where;
};
static_assert(sizeof(access_record) == 32 && std::is_trivially_copyable_v<access_record>);

// Grows only by reserve().
class use_list {
 public:
  use_list() = default;
  ~use_list() { release(); }
  use_list(const use_list&) = delete;
  use_list& operator=(const use_list&) = delete;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  bool has_room_for(std::size_t more) const { return room_ - size_ >= more; }
  // Makes room for `count` records in total; throws std::bad_alloc.
  void reserve(std::size_t count);
  // Requires room.
  void push_back(const access_record& u) noexcept {
    assert(size_ < room_);
    std::construct_at(first_ + size_++, u);
  }
  void keep_first(std::size_t count) noexcept { size_ = static_cast<std::uint32_t>(count); }

  access_record* begin() { return first_; }
  access_record* end() { return first_ + size_; }
  const access_record* begin() const { return first_; }
  const access_record* end() const { return first_ + size_; }
  access_record& operator[](std::size_t i) { return first_[i]; }
  const access_record& operator[](std::size_t i) const { return first_[i]; }
  access_record& front() { return *first_; }
  const access_record& front() const { return *first_; }
  const access_record& back() const { return first_[size_ - 1]; }

 private:
  void release() noexcept;
  access_record* first_ = nullptr;
  std::uint32_t size_ = 0, room_ = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
