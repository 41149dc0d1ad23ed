// Pools that a program chooses: one for a part of it, for a scope, or the driver's that other libraries use, too.
#pragma once
#include <memory>

#include "ferry/core/allocation.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/memory_pool.hpp"
#include "ferry/core/pool_options.hpp"

namespace ferry {

class machine;

// The pools of one device with the same options, one for each kind of memory; they are made when they are first used. Arrays
// may outlive the object: then their bytes go back to the machine, which keeps pools for whoever asks for the same next.
class pool {
 public:
  // options.kind automatic: by FERRY_POOL. Throws invalid_argument for options that make no sense, or that the kind lacks.
  explicit pool(ferry::device d = default_device(), const pool_options& options = {});
  // The driver's default pool of the device, which other libraries of the process (PyTorch, CuPy, Thrust) may use, too: what
  // one of them frees, the others can have. So are its settings: this sets those of pool_options for all of them. Device
  // memory; pinned memory comes from a driver pool of ferry's own, and unified memory from a split pool. Throws
  // not_supported where the driver has no pools.
  static pool default_of(ferry::device d);
  pool(pool&& o) noexcept;
  pool& operator=(pool&& o) noexcept;
  ~pool();

  ferry::device where() const { return where_; }
  pool_kind kind() const { return options_.kind; }
  // Bytes without a type: at least so many (0 counts as 1). May block when the pool grows. Throws out_of_memory.
  allocation_ref allocate(std::size_t bytes, memory_kind kind = memory_kind::device) {
    return of(kind).allocate(bytes);
  }
  // Gives bytes that are not in use back to the system, after waiting for their last uses. Returns how many.
  std::size_t trim();
  // Of all kinds of memory together.
  pool_statistics statistics() const;
  // The pool of one kind of memory.
  memory_pool& of(memory_kind kind);

 private:
  struct made_pools;
  machine& home() const;  // throws invalid_argument when that is not the current one
  ferry::device where_;
  pool_options options_;
  std::uint64_t serial_;
  std::unique_ptr<made_pools> made_;
};

// New arrays of this thread on the pool's device come from it until the scope ends. Scopes nest; those of different
// devices hold at the same time.
class pool_scope {
 public:
  explicit pool_scope(pool& p) : named_{&p, p.where().index(), innermost_} { innermost_ = &named_; }
  ~pool_scope() { innermost_ = named_.outer; }
  pool_scope(const pool_scope&) = delete;
  pool_scope& operator=(const pool_scope&) = delete;

  // The pool that the calling thread's scopes name for a device, or null.
  static pool* of(int device) {
    for (const named* n = innermost_; n; n = n->outer)
      if (n->device == device) return n->what;
    return nullptr;
  }

 private:
  friend class thread_scopes;
  struct named {
    pool* what;
    int device;
    const named* outer;
  };
  static inline thread_local constinit const named* innermost_ = nullptr;
  const named named_;
};

}  // namespace ferry
