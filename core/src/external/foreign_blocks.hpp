// Blocks of foreign memory that arrays use, each with an access history.
#pragma once
#include <functional>
#include <list>
#include <mutex>
#include <span>

#include "ferry/core/borrow.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "pools/allocation_nodes.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct foreign_block {
  allocation* what;
  byte_range bytes;
  std::size_t borrows = 0;        // 0: adopted
  bool is_ending = false;         // no references remain; uses may still be pending
  bool wants_stream = false;      // the deleter takes a stream
  bool is_being_deleted = false;  // a thread runs its deleter
  block_deleter deleter{};        // of adopted blocks
};

// Few blocks: searched linearly. The caller holds the lock for each call.
class foreign_blocks {
 public:
  using iterator = std::list<foreign_block>::iterator;
  using const_iterator = std::list<foreign_block>::const_iterator;

  explicit foreign_blocks(memory_resource& home) : nodes_(home) {}
  // The lock may be held while the driver pins memory, or during waits for devices.
  void lock() const { mutex_.lock(); }
  bool try_lock() const { return mutex_.try_lock(); }
  void unlock() const { mutex_.unlock(); }

  // Returns the block of bytes that are about to be borrowed or adopted: a new one, or that of a borrow which overlaps
  // them. Throws invalid_argument if the bytes overlap several borrows or an adopted block.
  iterator enter(byte_range bytes, memory_kind kind, int device, const borrow_options& how);
  iterator find(const allocation& a);
  void erase(iterator e) noexcept;
  // Calls change() while no device uses any of these ranges. Blocks until then.
  void while_unused(std::span<const byte_range> ranges, const std::function<void()>& change);

  iterator begin() { return all_.begin(); }
  iterator end() { return all_.end(); }
  const_iterator begin() const { return all_.begin(); }
  const_iterator end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }

 private:
  iterator add(byte_range bytes, memory_kind kind, int device, const std::string& name);
  void widen(foreign_block& shared, byte_range bytes);
  void take_over_uses(allocation& a, byte_range bytes);

  mutable std::mutex mutex_;  // guards the members below
  std::list<foreign_block> all_;
  allocation_nodes nodes_;
};

}  // namespace ferry::inline FERRY_ABI::detail
