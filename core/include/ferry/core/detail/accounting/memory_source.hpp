// A pool as reports, limits and the out-of-memory ladder see it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/memory_tag.hpp"

namespace ferry {

struct allocation;

// Bytes of one pool: in use by arrays, taken from the backend, and the largest block that is free.
struct source_state {
  std::size_t allocated_bytes = 0, reserved_bytes = 0, largest_free_bytes = 0;
};

// What one more request would take of a pool, by its rules: for budgets.
struct request_cost {
  std::size_t block_bytes = 0;        // of the block that it gets; SIZE_MAX: no pool has so much
  bool is_cached = false;             // a free block serves it, and nothing is asked of the backend
  std::size_t backend_bytes = 0;      // else what the backend must have, at least
  std::size_t most_bytes = SIZE_MAX;  // that the pool may still hand out, by options of its own
};

// What a pool would give back when it is trimmed, after the last uses, and what is free but stays.
struct trimmable_bytes {
  std::size_t backend = 0;  // bytes that the backend then has
  std::size_t limits = 0;   // bytes that count against limits no more
  std::size_t pieces = 0;   // free bytes of segments that are in use in part
};

// Bytes of a pool, for pictures and reports.
struct block_info {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool is_free = false;
  bool starts_segment = false;  // what the backend gave begins here; the blocks up to the next start belong to it
  memory_label tag = 0, name = 0;
  bool is_kept = false;  // not free, and no array's: a workspace has it for its next one, or it is in quarantine
  allocation* what = nullptr;
};

// How far giving back unused bytes may go.
enum class release_depth {
  finished,  // only bytes whose last uses are over; never waits for a device
  unused     // all that no array holds, after waiting for their last uses
};

// Enrolled with the machine's memory_accounting from construction to destruction. Every member may be called from any thread.
class memory_source {
 public:
  virtual memory_kind kind() const = 0;
  virtual int device() const = 0;
  virtual source_state state() const = 0;
  // Gives cached bytes back to the backend. Returns how many.
  virtual std::size_t release_cached(release_depth how) = 0;
  // The same until `enough` went back, where a pool can stop there: for short pauses.
  virtual std::size_t release_some(release_depth how, std::size_t /*enough*/) { return release_cached(how); }
  // What a request of so many bytes would take now. Looks through all blocks.
  virtual request_cost cost_of(std::size_t bytes) const = 0;
  virtual trimmable_bytes trimmable() const = 0;
  // Calls f with every block that there is, free or not, by address within each segment, with the pool locked: f may not
  // call ferry. Pools that do not know their free blocks show those in use; the default is none at all.
  virtual void each_block(const std::function<void(const block_info&)>& /*f*/) const {}

 protected:
  ~memory_source() = default;
};

}  // namespace ferry
