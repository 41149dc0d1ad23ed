// Peer access between devices: enabled on first use, after a test of the link with real transfers.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/backend/pool_backend.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Behavior of a kernel whose arguments include memory that its device cannot access.
enum class peer_kernels : std::uint8_t {
  error,  // throws peer_access_error before anything is submitted
  stage   // runs on staging copies of its declared arguments, which are copied in and back
};

struct peer_policy {
  bool use = true;  // false: as if no devices were peers; copies are staged
  peer_kernels kernels = peer_kernels::error;
  // Policy of the environment: FERRY_PEER=on|off and FERRY_PEER_KERNELS=error|stage. Throws parse_error.
  static peer_policy from_environment();
};

// Peer access of one runtime, by device, owner of the memory, and memory class. Each combination is enabled, tested and
// reported separately. Pinned memory needs no peer access: it uses no link between devices.
class peer_grants {
 public:
  peer_grants(detail::backend& backend, int devices, peer_policy how);

  // True if access is enabled and its test passed. Never calls the driver.
  bool reaches(int device, int owner, peer_memory sort = peer_memory::plain) const {
    return device == owner || at(device, owner, sort).works.load(std::memory_order_acquire);
  }
  // As reaches(), but enables access on first use, which may block. Tests the pair in both directions, by copies and by
  // kernels. A pair that fails is reported once on stderr and not used for this memory class. Throws peer_access_error
  // if the driver denies access that it reports as available; out_of_memory. A driver pool needs access enabled
  // separately, in addition. Unified memory needs only the test, also with FERRY_PEER=off, because the driver moves
  // pages over any link.
  bool grant(int device, int owner, peer_memory sort = peer_memory::plain);
  // As grant(), but throws peer_access_error, which names the remedies, if there is no access.
  void need(int device, int owner, peer_memory sort = peer_memory::plain) {
    if (!reaches(device, owner, sort)) grant_or_throw(device, owner, sort);
  }
  // True if access is enabled, or expected to work when it is.
  bool can_reach(int device, int owner, peer_memory sort = peer_memory::plain) const;
  // Why `device` cannot access memory of `owner`, as text; "" if it can, or if access was never requested.
  std::string why_not(int device, int owner, peer_memory sort = peer_memory::plain) const;
  // True if add_page_user() has added the device.
  bool uses_pages(int device) const { return (page_users_.load(std::memory_order_acquire) >> device & 1) != 0; }
  // Adds a device to the users of unified memory, and tests its links to all others. Throws out_of_memory; then it may
  // be called again.
  void add_page_user(int device);
  // True if a tested link loses pages of unified memory.
  bool loses_pages() const { return loses_pages_.load(std::memory_order_relaxed); }

  peer_policy policy() const { return {use_, kernels_.load(std::memory_order_relaxed)}; }
  bool stages_kernels() const { return kernels_.load(std::memory_order_relaxed) == peer_kernels::stage; }
  void kernels(peer_kernels how) { kernels_.store(how, std::memory_order_relaxed); }

 private:
  struct entry {
    std::atomic<bool> works{false};
    bool asked = false;  // guarded by mutex_, as is why_not
    std::string why_not;
  };
  void grant_or_throw(int device, int owner, peer_memory sort);
  bool ask(int device, int owner, peer_memory sort) FERRY_LOCKED(mutex_);
  std::string test(int device, int owner, peer_memory sort, bool both) FERRY_LOCKED(mutex_);
  native_pool probe_of(int device) FERRY_LOCKED(mutex_);
  const entry& at(int device, int owner, peer_memory sort) const {
    return entries_[(static_cast<std::size_t>(sort) * devices_ + static_cast<std::size_t>(device)) * devices_ +
                    static_cast<std::size_t>(owner)];
  }
  entry& at(int device, int owner, peer_memory sort) {
    return const_cast<entry&>(static_cast<const peer_grants*>(this)->at(device, owner, sort));
  }
  detail::backend& backend_;
  const std::size_t devices_;
  const bool use_;
  std::atomic<peer_kernels> kernels_;
  std::vector<entry> entries_;
  std::atomic<std::uint64_t> page_users_{0};  // bit d: device d has used unified memory
  std::atomic<bool> loses_pages_{false};
  mutable mutex mutex_;
  // by device: pools of the tests, reused because driver pools are never destroyed
  std::vector<native_pool> probes_ FERRY_GUARDED_BY(mutex_);
};

// Tests transfers between two devices with peer access. Copies in both directions, and runs kernels on each that load
// from and store to the other's memory. Kernels of `second` do so only if kernels_of_both is true. Returns the error as
// text; empty if all data arrived. Blocks for a few milliseconds. pools: one for each device, if their memory is to be
// tested.
std::string test_peers(detail::backend& backend, int first, int second, bool kernels_of_both,
                       std::optional<std::pair<native_pool, native_pool>> pools = {});
// As test_peers, for pages of unified memory: moves them, and runs kernels of both devices that load and store.
// Allocates no device memory other than these pages.
std::string test_pages(detail::backend& backend, int first, int second);

}  // namespace ferry::inline FERRY_ABI::detail
