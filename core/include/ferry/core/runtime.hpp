// One computer with its devices: the backend, the timelines, the pools and the peer grants.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ferry/core/checks.hpp"
#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/device.hpp"

namespace ferry {

class copy_engine;
class foreign_memory;
class host_pinned_pages;
class memory_checker;
struct access;

class runtime {
 public:
  explicit runtime(std::unique_ptr<ferry::backend> backend, pool_options pools = {});
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // The machine that this process uses. The first call chooses the backend (FERRY_BACKEND; see docs/configuration.md).
  // Throws device_error when a driver is there but broken, parse_error for a configuration that does not parse.
  static runtime& current();

  // Different for each machine of this process.
  std::uint64_t serial() const { return serial_; }
  ferry::backend& backend() { return *backend_; }
  bool is_simulated() const { return simulated_; }
  timelines& streams() { return streams_; }
  std::span<const device> devices() const { return devices_; }
  // Throws invalid_argument for a device that is not there.
  const device_properties& properties(int device) const;
  // The pool that arrays come from where no pool_scope says otherwise.
  memory_pool& pool(memory_kind kind, int device) {
    if (device < 0 || static_cast<std::size_t>(device) >= devices_.size()) (void)properties(device);
    return *pools_[static_cast<std::size_t>(kind) * devices_.size() + static_cast<std::size_t>(device)];
  }
  // What pool_kind::automatic stands for.
  pool_kind default_pool_kind() const { return default_kind_; }
  // A pool of its own, or one that was given back and has the same options. They live as long as the machine.
  memory_pool& take_pool(memory_kind kind, int device, const pool_options& options);
  void give_back_pool(memory_pool& p) noexcept;
  // The books of all pools: observers, limits, what is tried when memory runs out.
  memory_accounting& memory() { return memory_; }
  // Whether unified memory moves between the CPU and devices. Where a device lacks concurrent managed access it is pinned
  // memory that devices map, and where links between devices lose pages the CPU keeps them all: it stays where it is.
  bool migrates_unified() const { return migrates_ && !peers_.loses_pages(); }
  // For a device that is about to use unified memory: tests its links to all devices that have used some, on first use (may
  // block). Not in a capture. Throws out_of_memory.
  void test_pages(int device) {
    if (migrates_ && !peers_.uses_pages(device)) [[unlikely]]
      test_links_of_pages(device);
  }
  // Where a link has failed that test (peers().loses_pages()): pages of the arrays go to the CPU, ordered on a stream, and stay
  // there.
  void pin_pages_to_host(timeline& on, std::span<const access> uses);
  // Whether all devices use pageable memory of the CPU as it is.
  bool reaches_pageable() const { return reaches_pageable_; }
  // What arrays use and others allocated (see borrow.hpp).
  foreign_memory& foreign() { return *foreign_; }
  // Red zones, poison, quarantine (see memory_checks.hpp), and whether arrays get them.
  memory_checker& checker() { return *checker_; }
  std::atomic<bool> checks_arrays{false};
  // Which checks calls make.
  check_set checks;
  // How much FERRY_CHECK or the backend's options ask to check. FERRY_CHECK=on goes before the options; off replaces only
  // what they do not ask for.
  check_level level() const { return level_; }
  // For whoever has waited for devices: what waited for their work is seen to. Never blocks; one load if there is nothing.
  void synchronized() noexcept;
  // Who is told of accesses before they are ordered; null: nobody. Set when the machine is made.
  access_policy* policy() const { return policy_.load(std::memory_order_relaxed); }
  // Arrays that are alive, and arrays made so far.
  std::size_t allocations() const;
  std::uint64_t made_allocations() const { return all_pools().made; }

  // Lets kernels of `device` reach memory of `owner` of that sort, asking the driver and testing the link on first use (may block).
  // Throws peer_access_error where it is impossible.
  void need_peer(int device, int owner, peer_memory sort = peer_memory::plain) {
    if (!peers_.reaches(device, owner, sort)) grant_peer(device, owner, sort);
  }
  peer_grants& peers() { return peers_; }
  // Whether kernels of a device can use memory of another: as peers, or through mirrors (FERRY_PEER_KERNELS=stage).
  bool can_reach(int device, int owner) const {
    return peers_.stages_kernels() || peers_.can_reach(device, owner, peer_class_of_arrays(owner));
  }
  // Of device arrays that come from the machine's own pools.
  peer_memory peer_class_of_arrays(int device) const;
  // Lanes, threads and options of copies.
  copy_engine& copies() { return *copies_; }
  // Gives back what lanes of copies hold and do not use. Returns the bytes.
  std::size_t trim_lanes(memory_kind kind, int device);

  // Bytes that copies were given so far.
  std::atomic<std::uint64_t> copied_bytes{0};

 private:
  void grant_peer(int device, int owner, peer_memory sort);
  void test_links_of_pages(int device);
  pool_statistics all_pools() const;
  const std::uint64_t serial_;
  std::unique_ptr<ferry::backend> backend_;
  const bool simulated_;
  const check_level level_;
  std::vector<device> devices_;
  std::vector<device_properties> properties_;
  bool migrates_ = true, reaches_pageable_ = true;
  timelines streams_;
  memory_accounting memory_;
  pool_kind default_kind_;
  std::vector<std::unique_ptr<memory_pool>> pools_;  // by kind and device
  mutable std::mutex extra_mutex_;
  std::vector<std::unique_ptr<memory_pool>> extra_;  // those of programs
  std::vector<memory_pool*> stock_;                  // of these, the ones that nobody has
  std::unique_ptr<foreign_memory> foreign_;
  std::unique_ptr<memory_checker> checker_;
  peer_grants peers_;
  std::unique_ptr<host_pinned_pages> kept_;
  std::unique_ptr<copy_engine> copies_;
  std::unique_ptr<access_policy> owned_policy_;
  std::atomic<access_policy*> policy_{nullptr};
};

// Replaces the current machine for a scope: simulated machines in tests, backends that count or fail. Leaving waits for
// all its work. Arrays of the machine must be gone or freed by then; if some are not, the machine stays in memory, and
// stderr says how many.
class runtime_scope {
 public:
  explicit runtime_scope(std::unique_ptr<ferry::backend> backend, pool_options pools = {});
  ~runtime_scope();
  runtime_scope(const runtime_scope&) = delete;
  runtime_scope& operator=(const runtime_scope&) = delete;
  runtime& get() { return *runtime_; }

 private:
  std::shared_ptr<runtime> runtime_;
  std::shared_ptr<runtime> before_;
};

// A simulated machine for a scope, by the text form of FERRY_SIM: "devices=3;schedule=random:42".
class simulation : public runtime_scope {
 public:
  explicit simulation(std::string_view options = {}, pool_options pools = {});
};

}  // namespace ferry
