// Counters of allocations by kind and device. Each thread has its own counters, without atomic read-modify-writes. Sums
// are exact whenever no thread is between an allocation and its count.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct memory_counts {
  std::uint64_t allocations = 0, frees = 0;
  std::uint64_t allocated_bytes = 0, freed_bytes = 0;  // total so far
  // Bytes in use now. Negative for a thread that frees what others allocated.
  std::int64_t current_bytes() const { return static_cast<std::int64_t>(allocated_bytes - freed_bytes); }
  std::int64_t current_allocations() const { return static_cast<std::int64_t>(allocations - frees); }
  memory_counts& operator+=(const memory_counts& o) {
    allocations += o.allocations, frees += o.frees, allocated_bytes += o.allocated_bytes, freed_bytes += o.freed_bytes;
    return *this;
  }
};

class memory_counters {
 public:
  // A thread publishes its bytes in use when they have changed by this much. The error of a peak of several threads is
  // at most this value for each thread. With one thread, peaks are exact.
  static constexpr std::int64_t step = std::int64_t{4} << 20;

  explicit memory_counters(std::size_t cells);
  ~memory_counters();
  memory_counters(const memory_counters&) = delete;
  memory_counters& operator=(const memory_counters&) = delete;

  void add(std::size_t index, std::size_t bytes) noexcept {
    cell* mine = this_threads();
    if (!mine) [[unlikely]]
      return add_late(index, bytes, true);
    cell& c = mine[index];
    bump(c.allocations, 1);
    bump(c.allocated_bytes, bytes);
    const std::int64_t pending = c.pending.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
    c.pending.store(pending, std::memory_order_relaxed);
    if (pending > c.high.load(std::memory_order_relaxed)) c.high.store(pending, std::memory_order_relaxed);
    if (pending > step) [[unlikely]]
      settle(c, index);
  }
  void remove(std::size_t index, std::size_t bytes) noexcept {
    cell* mine = this_threads();
    if (!mine) [[unlikely]]
      return add_late(index, bytes, false);
    cell& c = mine[index];
    bump(c.frees, 1);
    bump(c.freed_bytes, bytes);
    const std::int64_t pending = c.pending.load(std::memory_order_relaxed) - static_cast<std::int64_t>(bytes);
    c.pending.store(pending, std::memory_order_relaxed);
    if (pending < -step) [[unlikely]]
      settle(c, index);
  }

  memory_counts sum(std::size_t index) const;
  std::size_t peak(std::size_t index) const;
  // Counts of the calling thread.
  memory_counts of_this_thread(std::size_t index) const;

 private:
  struct alignas(64) cell {  // written by one thread, read by all
    std::atomic<std::uint64_t> allocations{0}, frees{0}, allocated_bytes{0}, freed_bytes{0};
    std::atomic<std::int64_t> pending{0}, high{0};  // not published yet: now, and at most
    memory_counts counts() const {
      return {allocations.load(std::memory_order_relaxed), frees.load(std::memory_order_relaxed),
              allocated_bytes.load(std::memory_order_relaxed), freed_bytes.load(std::memory_order_relaxed)};
    }
  };
  struct table;          // of one thread
  struct thread_tables;  // all counters of one thread
  struct quick_book {    // the counters that the thread used last
    std::uint64_t serial = 0;
    cell* cells = nullptr;
  };
  static thread_local constinit quick_book quick_;
  static void bump(std::atomic<std::uint64_t>& a, std::uint64_t by) {
    a.store(a.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  cell* this_threads() noexcept { return quick_.serial == serial_ ? quick_.cells : find_this_threads(); }
  cell* find_this_threads() noexcept;
  void settle(cell& c, std::size_t index) noexcept;
  void add_late(std::size_t index, std::size_t bytes, bool allocation) noexcept;

  const std::uint64_t serial_;
  const std::size_t cells_;
  struct settled_cell {
    std::atomic<std::int64_t> bytes{0}, peak{0};
  };
  std::vector<settled_cell> settled_;
  mutable mutex mutex_;
  std::vector<std::shared_ptr<table>> tables_;  // includes those of ended threads, which the next thread reuses
};

}  // namespace ferry::inline FERRY_ABI::detail
