// The records of all unified arrays of a runtime.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/runtime.hpp"
#include "migration/array_record.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A record with its lock held.
class locked_record {
 public:
  // Takes over the lock, which the caller holds.
  explicit locked_record(array_record& r) : record_(&r), lock_(r.lock, std::adopt_lock) {}
  array_record& operator*() const { return *record_; }
  array_record* operator->() const { return record_; }
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

 private:
  array_record* record_;
  std::unique_lock<spin_lock> lock_;
};

class array_records {
 public:
  explicit array_records(runtime& m) : runtime_(m) {}
  // Returns the record with its lock held. The first access to bytes with a new owner resets it. A later borrow may
  // have enlarged borrowed memory.
  locked_record lock(allocation& a) { return locked_record(find_and_lock(a)); }
  // Returns the record without its lock.
  array_record& find(allocation& a);
  std::vector<array_record*> all() const;
  // Records a use of the array, whose lock the caller holds. Approximates the order of arrays by their last use.
  // Concurrent threads may read the same number, and the counter may then fall back. An atomic addition would cost
  // every submission that alternates between arrays.
  void mark_used(array_record& r) {
    const std::uint64_t latest = uses_.load(std::memory_order_relaxed);
    if (r.used == latest) return;
    r.used = latest + 1;
    uses_.store(latest + 1, std::memory_order_relaxed);
  }

  bool is_managed(allocation& a) { return lock(a)->is_managed; }
  // Returns the page records of a range.
  std::vector<page_run> runs(allocation& a, byte_range where);
  // Records that the program has prefetched a range.
  void sent(allocation& a, byte_range where, memory_location to);
  // Records that the program has discarded a range.
  void forget(allocation& a, byte_range where);
  // For a tuner that tries policies on an array without other users: returns all page records, and restores them. The
  // caller restores the pages themselves. The advice that the driver has is not restored.
  page_map pages(allocation& a) { return lock(a)->pages; }
  void restore_pages(allocation& a, const page_map& before);

 private:
  array_record& find_and_lock(allocation& a);

  runtime& runtime_;
  mutable mutex mutex_;  // guards records_
  // one for each node, never removed
  std::unordered_map<const allocation*, std::unique_ptr<array_record>> records_ FERRY_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> uses_{1};  // counts changes of the most recently used array
};

}  // namespace ferry::inline FERRY_ABI::detail
