// The seam for the driver's pools: what ferry needs of cudaMallocAsync and its family. backend::pools() has it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/pool_options.hpp"

namespace ferry {

// A pool of the driver (cudaMemPool_t, or the simulator's). Pools are never destroyed: a handle that is used again may
// inherit what the driver knew of the old one.
struct native_pool {
  void* handle = nullptr;
  bool operator==(const native_pool&) const = default;
};

// Bytes of a pool: in use, and taken from the system; now, and the most so far.
struct native_pool_usage {
  std::size_t used_bytes = 0, reserved_bytes = 0;
  std::size_t most_used_bytes = 0, most_reserved_bytes = 0;
};

// What another process needs to find an allocation in a pool that it imported, and an event: plain bytes to send.
using shared_pointer_key = std::array<std::byte, 64>;
using shared_event_key = std::array<std::byte, 64>;

// Every verb may be called from any thread, leaves the current device as it was, and throws a ferry::error.
class pool_backend {
 public:
  virtual ~pool_backend() = default;

  // Whether there are such pools for this kind of memory. Not for unified memory: docs/decisions/0024.
  virtual bool has_pools(memory_kind kind, int device) const = 0;
  // Uses of the options: release_threshold, max_bytes, reuse, shareable. Only its own device can reach its memory at first.
  virtual native_pool create_pool(memory_kind kind, int device, const pool_options& options) = 0;
  // The pool that cudaMallocAsync uses when nobody says otherwise; options other than max_bytes and shareable are set.
  virtual native_pool default_pool(int device, const pool_options& options) = 0;
  virtual native_pool_usage usage(native_pool p) = 0;
  // Gives back what is free and known to be, down to `keep` bytes. May block.
  virtual void trim(native_pool p, std::size_t keep) = 0;
  // Lets kernels of `device`, which is not the owner, reach all that the pool hands out, now and later. Throws
  // peer_access_error where it is impossible.
  virtual void grant(native_pool p, int device) = 0;

  // In the order of the stream. Throws out_of_memory; may block when the pool grows.
  virtual void* allocate(native_pool p, std::size_t bytes, native_stream s) = 0;
  virtual void free(void* p, native_stream s) = 0;

  // Between processes, for pools made shareable. Exporting gives a file descriptor that the caller closes, importing takes a
  // copy of it. An imported pool hands out nothing; its allocations are freed here before they are freed there.
  virtual int export_pool(native_pool p) = 0;
  virtual native_pool import_pool(int device, int descriptor) = 0;
  virtual shared_pointer_key export_pointer(void* p) = 0;
  virtual void* import_pointer(native_pool p, const shared_pointer_key& key) = 0;
  virtual native_event create_shared_event(int device) = 0;
  virtual shared_event_key export_event(native_event e) = 0;
  virtual native_event import_event(const shared_event_key& key) = 0;
};

}  // namespace ferry
