// Interface for observers of every allocation: logs, leak reports, snapshots, poison. Without observers it costs one
// load.
#pragma once
#include <cstddef>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct allocation;

// Registered with a runtime's memory_accounting. Thread-safe. Runs on the thread that allocates or frees, with no pool
// lock held, while only that thread can access the bytes. That is after the block is handed out, or before it is taken
// back. May inspect the allocation and submit work on its bytes, but must not allocate, free, or wait for a device. A
// block that a workspace reuses and retains counts as allocated and freed.
class allocation_observer {
 public:
  virtual ~allocation_observer() = default;
  virtual void on_allocate(allocation&) noexcept {}
  virtual void on_free(allocation&) noexcept {}
  // A pool has reserved bytes of the backend, or is about to release them.
  virtual void on_reserve(memory_kind, int /*device*/, const void* /*begin*/, std::size_t /*bytes*/) noexcept {}
  virtual void on_return(memory_kind, int /*device*/, const void* /*begin*/, std::size_t /*bytes*/) noexcept {}
};

}  // namespace ferry::inline FERRY_ABI::detail
