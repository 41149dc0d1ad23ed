// What is told of every allocation: logs, leak reports, snapshots, poison. When nobody observes, that costs one load.
#pragma once
#include <cstddef>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

struct allocation;

// Registered with a machine's memory_accounting. Called by the thread that allocates or frees, with no lock of a pool held,
// while the bytes belong to that thread alone: after they were handed out, before they are taken back. May look at the
// allocation and submit work on its bytes, but not allocate, free, or wait for a device. Called by many threads at once.
// A block that a workspace hands out again, and takes back, counts as allocated and freed.
class allocation_observer {
 public:
  virtual ~allocation_observer() = default;
  virtual void on_allocate(allocation&) noexcept {}
  virtual void on_free(allocation&) noexcept {}
  // A pool took bytes from the backend, or is about to give them back.
  virtual void on_reserve(memory_kind, int /*device*/, const void* /*begin*/, std::size_t /*bytes*/) noexcept {}
  virtual void on_return(memory_kind, int /*device*/, const void* /*begin*/, std::size_t /*bytes*/) noexcept {}
};

}  // namespace ferry
