/// @file
/// Pools that a program chooses: for a part of it, for a scope, or the driver's pool that other libraries use too.
#pragma once
#include <memory>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/scope_stack.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/pool_options.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

namespace detail {
class memory_pool;
class thread_scopes;
}  // namespace detail

/// @addtogroup memory
/// @{

class runtime;

/// The pools of one device with the same options, one for each kind of memory. Each is created on first use. Arrays and
/// scopes may outlive the object. Then its pools return to the runtime when the last scope ends, and later objects with
/// the same options reuse them.
/// @note Every call on a moved-from object throws invalid_argument.
class pool {
 public:
  /// @param d device of the pools
  /// @param options kind automatic means the kind of FERRY_POOL
  /// @throws invalid_argument for invalid options, or options that the kind lacks
  explicit pool(ferry::device d = default_device(), const pool_options& options = {});
  /// The driver's default pool of the device, which other libraries of the process (PyTorch, CuPy, Thrust) may use too.
  ///
  /// Memory that one library frees is available to the others. The settings are shared too: this call sets those of
  /// pool_options for all of them. It serves device memory. Pinned memory comes from a separate driver pool, and
  /// unified memory from a split pool.
  /// @throws not_supported if the driver has no pools
  static pool default_of(ferry::device d);
  pool(pool&& o) noexcept = default;
  pool& operator=(pool&& o) noexcept = default;

  /// The device of the pools.
  ferry::device where() const;
  /// The kind of the pools, never automatic.
  pool_kind kind() const;
  /// Allocates untyped memory. May block when the pool grows.
  /// @param bytes at least this many (0 counts as 1)
  /// @param kind kind of memory
  /// @throws out_of_memory if the pool cannot grow
  detail::allocation_ref allocate(std::size_t bytes, memory_kind kind = memory_kind::device);
  /// Releases unused bytes to the system. Blocks until their last uses are complete.
  /// @return released bytes
  std::size_t trim();
  /// Statistics of all kinds of memory together.
  pool_statistics statistics() const;
  /// The pool of one kind of memory.
  detail::memory_pool& of(memory_kind kind);

 private:
  friend class pool_scope;
  friend class detail::thread_scopes;
  struct state;
  // A second reference to the same pools, for a scope.
  static pool named(const pool& p);
  state& held() const;     // throws invalid_argument for a moved-from pool
  state& at_home() const;  // also throws if its runtime is not the current one
  explicit pool(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

/// Within the scope, new arrays of this thread on the pool's device come from the pool. Scopes nest; scopes of
/// different devices apply at the same time. They may end in any order, and on other threads. The pool object may be
/// moved or destroyed before the scope ends, because the scope shares its pools.
class pool_scope {
 public:
  /// @throws invalid_argument for a moved-from pool
  explicit pool_scope(pool& p) : scope_({pool::named(p), p.where().index()}) {}

  /// The pool that the calling thread's scopes select for a device, or null.
  static pool* of(int device) {
    for (auto* n = scopes::innermost(); n; n = n->outer)
      if (n->value.device == device && !n->ended.load(std::memory_order_relaxed)) return &n->value.what;
    return nullptr;
  }

 private:
  friend class detail::thread_scopes;
  struct named {
    pool what;
    int device;
  };
  using scopes = detail::stacked_scope<named>;
  scopes scope_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
