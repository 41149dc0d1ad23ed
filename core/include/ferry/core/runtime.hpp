/// @file
/// The runtime: the backend, stream timelines, pools and peer access of one set of devices.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ferry/core/checks.hpp"
#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/pool_options.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup configuration
/// @{

namespace detail {
class copy_engine;
class foreign_memory;
class memory_accounting;
class memory_checker;
class memory_pool;
class peer_grants;
class runtime_pools;
class timeline;
class timelines;
class unified_pages;
}  // namespace detail

/// State of one set of devices, real or simulated. Most programs use it only through other headers.
class runtime {
 public:
  /// @param backend real or simulated devices
  /// @param pools options of the pools of arrays
  explicit runtime(std::unique_ptr<detail::backend> backend, pool_options pools = {});
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// The runtime that this process uses. The first call selects the backend (FERRY_BACKEND; see docs/configuration.md).
  /// @throws device_error if a driver is present but broken
  /// @throws parse_error for a configuration that does not parse
  static runtime& current();

  /// Unique for each runtime of this process.
  std::uint64_t serial() const { return serial_; }
  detail::backend& backend() { return *backend_; }
  /// True if the devices are simulated.
  bool is_simulated() const { return simulated_; }
  /// Timelines of all streams.
  detail::timelines& streams() { return *streams_; }
  /// All devices; never empty.
  std::span<const device> devices() const { return {devices_.data(), devices_.size()}; }
  /// Properties of a device.
  /// @throws invalid_argument if there is no such device
  const detail::device_properties& properties(int device) const;
  /// The pool of new arrays where no pool_scope applies.
  /// @throws invalid_argument if there is no such device
  detail::memory_pool& pool(memory_kind kind, int device);
  /// All pools.
  detail::runtime_pools& pools() { return *pools_; }
  /// Accounting of all pools: observers, limits, out-of-memory handlers.
  detail::memory_accounting& memory() { return *memory_; }
  /// True if unified memory migrates between the CPU and devices. False if a device lacks concurrent managed access:
  /// then it is pinned memory that devices map. Also false if links between devices lose pages: then all pages stay
  /// pinned to the CPU.
  bool migrates_unified() const;
  /// Whether pages of unified memory migrate: tests links, and pins pages to the CPU if one loses some.
  detail::unified_pages& pages() { return *pages_; }
  /// True if all devices can access pageable host memory in place.
  bool reaches_pageable() const { return reaches_pageable_; }
  /// Memory that arrays use and ferry did not allocate (see borrow.hpp).
  detail::foreign_memory& foreign() { return *foreign_; }
  /// Red zones, poison and quarantine (see memory_checks.hpp).
  detail::memory_checker& checker() { return *checker_; }
  /// Checks that calls perform.
  check_set checks;
  /// Level of checks that FERRY_CHECK or the backend's options request. FERRY_CHECK=on overrides the options; off
  /// replaces only what they do not request.
  check_level level() const { return level_; }
  /// Call after a device synchronization: runs deferred deleters and completed memory checks. Never blocks; costs one
  /// load if nothing is pending.
  void synchronized() noexcept;
  /// Policy to notify of accesses before they are ordered; null for none. Set when the runtime is created.
  detail::access_policy* policy() const { return policy_.load(std::memory_order_relaxed); }
  /// Number of live arrays.
  std::size_t allocations() const;

  /// Peer access between devices.
  detail::peer_grants& peers() { return *peers_; }
  /// True if kernels of a device can use memory of another: as peers, or by staging copies (FERRY_PEER_KERNELS=stage).
  bool can_reach(int device, int owner) const;
  /// Staging streams, threads and options of copies.
  detail::copy_engine& copies() { return *copies_; }
  /// Releases unused staging memory of copies.
  /// @return released bytes
  std::size_t trim_lanes(memory_kind kind, int device);

 private:
  const std::uint64_t serial_;
  detail::owning_ptr<detail::backend> backend_;
  const bool simulated_;
  const check_level level_;
  std::vector<device> devices_;
  std::vector<detail::device_properties> properties_;
  bool reaches_pageable_ = true;
  // Each has a header of its own, which programs do not need.
  detail::owning_ptr<detail::timelines> streams_;
  detail::owning_ptr<detail::memory_accounting> memory_;
  detail::owning_ptr<detail::runtime_pools> pools_;
  detail::owning_ptr<detail::foreign_memory> foreign_;
  detail::owning_ptr<detail::memory_checker> checker_;
  detail::owning_ptr<detail::peer_grants> peers_;
  detail::owning_ptr<detail::unified_pages> pages_;  // before a policy exists, which asks it
  detail::owning_ptr<detail::copy_engine> copies_;
  detail::owning_ptr<detail::access_policy> owned_policy_;
  std::atomic<detail::access_policy*> policy_{nullptr};
};

/// Replaces the current runtime for a scope: simulated devices in tests, backends that count or fail. The destructor
/// blocks until all its work is complete. Arrays of the runtime must be destroyed or freed before that. If some are
/// not, the runtime stays in memory, and stderr reports their number.
class runtime_scope {
 public:
  /// @param backend real or simulated devices
  /// @param pools options of the pools of arrays
  explicit runtime_scope(std::unique_ptr<detail::backend> backend, pool_options pools = {});
  ~runtime_scope();
  runtime_scope(const runtime_scope&) = delete;
  runtime_scope& operator=(const runtime_scope&) = delete;
  /// The runtime of the scope.
  runtime& get() { return *runtime_; }

 private:
  std::shared_ptr<runtime> runtime_;
  std::shared_ptr<runtime> before_;
};

/// A simulated computer for a scope. Options are those of FERRY_SIM: "devices=3;schedule=random:42".
class simulation : public runtime_scope {
 public:
  explicit simulation(std::string_view options = {}, pool_options pools = {});
};

/// @}

}  // namespace ferry::inline FERRY_ABI
