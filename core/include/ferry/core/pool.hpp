// Pools that a program chooses: one for a part of it, for a scope, or the driver's that other libraries use, too.
#pragma once
#include <memory>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/support/scope_stack.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/pool_options.hpp"

namespace ferry {

class runtime;

// The pools of one device with the same options, one for each kind of memory; they are made when they are first used. Arrays
// and scopes may outlive the object: then the pools go back to the machine when the last scope ends, and serve the next
// object with the same options. An object that was moved from throws invalid_argument in each call.
class pool {
 public:
  // options.kind automatic: by FERRY_POOL. Throws invalid_argument for options that make no sense, or that the kind lacks.
  explicit pool(ferry::device d = default_device(), const pool_options& options = {});
  // The driver's default pool of the device, which other libraries of the process (PyTorch, CuPy, Thrust) may use, too: what
  // one of them frees, the others can have. So are its settings: this sets those of pool_options for all of them. Device
  // memory; pinned memory comes from a driver pool of ferry's own, and unified memory from a split pool. Throws
  // not_supported where the driver has no pools.
  static pool default_of(ferry::device d);
  pool(pool&& o) noexcept = default;
  pool& operator=(pool&& o) noexcept = default;

  ferry::device where() const;
  pool_kind kind() const;
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
  friend class pool_scope;
  friend class thread_scopes;
  struct state;
  // Another name of the same pools, for a scope.
  static pool named(const pool& p);
  state& held() const;     // throws invalid_argument for a pool that was moved from
  state& at_home() const;  // and when its machine is not the current one
  explicit pool(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

// New arrays of this thread on the pool's device come from it until the scope ends. Scopes nest; those of different
// devices hold at the same time. They may end in any order, and on other threads. The pool object may be moved or destroyed
// meanwhile: the scope holds what it names.
class pool_scope {
 public:
  explicit pool_scope(pool& p) : scope_({pool::named(p), p.where().index()}) {}

  // The pool that the calling thread's scopes name for a device, or null.
  static pool* of(int device) {
    for (auto* n = scopes::innermost(); n; n = n->outer)
      if (n->value.device == device && !n->ended.load(std::memory_order_relaxed)) return &n->value.what;
    return nullptr;
  }

 private:
  friend class thread_scopes;
  struct named {
    pool what;
    int device;
  };
  using scopes = detail::stacked_scope<named>;
  scopes scope_;
};

}  // namespace ferry
