// Backend interface of the driver's pools: cudaMallocAsync and related functions. backend::pools() returns it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/pool_options.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A pool of the driver (cudaMemPool_t, or the simulator's). Pools are never destroyed, because a reused handle may
// inherit the driver's state of the old pool.
struct native_pool {
  void* handle = nullptr;
  bool operator==(const native_pool&) const = default;
};

// Bytes of a pool: in use, and reserved from the system; now, and at most.
struct native_pool_usage {
  std::size_t used_bytes = 0, reserved_bytes = 0;
  std::size_t most_used_bytes = 0, most_reserved_bytes = 0;
};

// Key of an allocation in an imported pool, or of an event, for another process; trivially copyable.
using shared_pointer_key = std::array<std::byte, 64>;
using shared_event_key = std::array<std::byte, 64>;

// All functions are thread-safe, leave the current device unchanged, and throw ferry::error.
class pool_backend {
 public:
  virtual ~pool_backend() = default;

  // True if the backend has such pools for this kind of memory. Not for unified memory (driver_quirks).
  virtual bool has_pools(memory_kind kind, int device) const = 0;
  // Uses the options release_threshold, max_bytes, reuse and shareable. At first, only its own device can access its
  // memory.
  virtual native_pool create_pool(memory_kind kind, int device, const pool_options& options) = 0;
  // The pool that cudaMallocAsync uses by default. Sets its options, except max_bytes and shareable.
  virtual native_pool default_pool(int device, const pool_options& options) = 0;
  virtual native_pool_usage usage(native_pool p) = 0;
  // Releases free memory whose completion is known, down to `keep` bytes. May block.
  virtual void trim(native_pool p, std::size_t keep) = 0;
  // Lets kernels of `device`, which is not the owner, access all allocations of the pool, now and later. Throws
  // peer_access_error if that is impossible.
  virtual void grant(native_pool p, int device) = 0;

  // Allocates in stream order. Throws out_of_memory; may block when the pool grows.
  virtual void* allocate(native_pool p, std::size_t bytes, native_stream s) = 0;
  virtual void free(void* p, native_stream s) = 0;

  // Sharing between processes, for pools created with shareable. Exporting returns a file descriptor that the caller
  // closes; importing duplicates it. An imported pool cannot allocate; its allocations must be freed here before they
  // are freed by the owner.
  virtual int export_pool(native_pool p) = 0;
  virtual native_pool import_pool(int device, int descriptor) = 0;
  virtual shared_pointer_key export_pointer(void* p) = 0;
  virtual void* import_pointer(native_pool p, const shared_pointer_key& key) = 0;
  virtual native_event create_shared_event(int device) = 0;
  virtual shared_event_key export_event(native_event e) = 0;
  virtual native_event import_event(const shared_event_key& key) = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
