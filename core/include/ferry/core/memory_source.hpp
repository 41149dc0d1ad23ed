// A pool as reports, limits and the out-of-memory ladder see it.
#pragma once
#include <cstddef>

#include "ferry/core/backend.hpp"

namespace ferry {

// Bytes of one pool: in use by arrays, taken from the backend, and the largest block that is free.
struct source_state {
  std::size_t allocated_bytes = 0, reserved_bytes = 0, largest_free_bytes = 0;
};

// How far giving back unused bytes may go.
enum class release_depth {
  finished,  // only bytes whose last uses are over; never waits for a device
  unused     // all that no array holds, after waiting for their last uses
};

// Enrolled with the machine's memory_ledger from construction to destruction. Every member may be called from any thread.
class memory_source {
 public:
  virtual memory_kind kind() const = 0;
  virtual int device() const = 0;
  virtual source_state state() const = 0;
  // Gives cached bytes back to the backend. Returns how many.
  virtual std::size_t release_cached(release_depth how) = 0;

 protected:
  ~memory_source() = default;
};

}  // namespace ferry
