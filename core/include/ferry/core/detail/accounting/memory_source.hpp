// Interface of a pool for reports, limits and the out-of-memory handlers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/memory_label.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct allocation;

// Bytes of one pool: in use by arrays, reserved from the backend, and the largest free block.
struct source_state {
  std::size_t allocated_bytes = 0, reserved_bytes = 0, largest_free_bytes = 0;
};

// What one more request would cost a pool, by its rules. For budgets.
struct request_cost {
  std::size_t block_bytes = 0;        // size of its block; SIZE_MAX: the pool never serves this size
  bool is_cached = false;             // a free block serves it without the backend
  std::size_t backend_bytes = 0;      // otherwise the bytes that the backend must have, at least
  std::size_t most_bytes = SIZE_MAX;  // that the pool may still hand out, by its options
};

// Result of trimming a pool: bytes that it would release after the last uses, and free bytes that stay.
struct trimmable_bytes {
  std::size_t backend = 0;  // bytes that return to the backend
  std::size_t limits = 0;   // bytes that no longer count against limits
  std::size_t pieces = 0;   // free bytes in segments that are partly in use
};

// A block of a pool, for pictures and reports.
struct block_info {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool is_free = false;
  bool starts_segment = false;  // first block of a backend segment, which ends before the next such block
  memory_label tag = 0, name = 0;
  bool is_retained = false;  // not free, but in no array: retained by a workspace, or in quarantine
  allocation* what = nullptr;
};

// Which unused bytes may be released.
enum class release_depth {
  finished,  // only bytes whose last uses are complete; never waits for a device
  unused     // all bytes that no array uses, after waiting for their last uses
};

// Registered with the runtime's memory_accounting from construction to destruction. Thread-safe.
class memory_source {
 public:
  virtual memory_kind kind() const = 0;
  virtual int device() const = 0;
  virtual source_state state() const = 0;
  // Releases cached bytes to the backend. Returns the number of bytes.
  virtual std::size_t release_cached(release_depth how) = 0;
  // As release_cached(), but stops after `enough` bytes where the pool can. For short pauses.
  virtual std::size_t release_some(release_depth how, std::size_t /*enough*/) { return release_cached(how); }
  // Cost of a request of this size now. Searches all blocks.
  virtual request_cost cost_of(std::size_t bytes) const = 0;
  virtual trimmable_bytes trimmable() const = 0;
  // Calls f with every block, free or not, by address within each segment. The pool is locked: f must not call ferry.
  // Pools that do not track free blocks report those in use; the default reports none.
  virtual void each_block(const std::function<void(const block_info&)>& /*f*/) const {}

 protected:
  ~memory_source() = default;
};

}  // namespace ferry::inline FERRY_ABI::detail
