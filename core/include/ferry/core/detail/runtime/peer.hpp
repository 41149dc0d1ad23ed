// Which devices use each other's memory: granted on first use, after a test that bytes really arrive.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/backend/pool_backend.hpp"

namespace ferry {

// What a kernel does that is given memory which its device cannot reach.
enum class peer_kernels : std::uint8_t {
  error,  // throws peer_access_error before anything is submitted
  stage   // runs on mirrors of its declared arguments, which are copied in and back
};

struct peer_policy {
  bool use = true;  // false: as if no devices were peers; copies are staged
  peer_kernels kernels = peer_kernels::error;
  // FERRY_PEER=on|off and FERRY_PEER_KERNELS=error|stage. Throws parse_error.
  static peer_policy from_environment();
};

// The grants of one machine, by device, owner of the memory, and sort of memory: each is asked for, tested and said by itself.
// Pinned memory needs none: it goes over no link between devices.
class peer_grants {
 public:
  peer_grants(ferry::backend& backend, int devices, peer_policy how);

  // Whether a grant was made, and its test passed. Never asks the driver.
  bool reaches(int device, int owner, peer_memory sort = peer_memory::plain) const {
    return device == owner || at(device, owner, sort).works.load(std::memory_order_acquire);
  }
  // The same, after asking for it on first use: the pair is tested both ways, by copies and by kernels, and a pair that
  // fails is said once on stderr and not used for that sort of memory. May block. Throws peer_access_error when the driver
  // refuses what it offers, out_of_memory. A pool of the driver has to be granted by itself, in addition. Unified memory needs
  // no grant, only the test, with FERRY_PEER=off, too: the driver sends pages by any link that it finds.
  bool grant(int device, int owner, peer_memory sort = peer_memory::plain);
  // Whether a grant can be expected to work.
  bool can_reach(int device, int owner, peer_memory sort = peer_memory::plain) const;
  // Why `device` does not reach memory of `owner`, in words; "" if it does, or was never asked.
  std::string why_not(int device, int owner, peer_memory sort = peer_memory::plain) const;
  // Whether a device was added to those that use unified memory.
  bool uses_pages(int device) const { return (page_users_.load(std::memory_order_acquire) >> device & 1) != 0; }
  // Asks for its links to all of them. Throws out_of_memory, and may be called again then.
  void add_page_user(int device);
  // Whether a link that was asked for loses pages of unified memory.
  bool loses_pages() const { return loses_pages_.load(std::memory_order_relaxed); }

  peer_policy policy() const { return {use_, kernels_.load(std::memory_order_relaxed)}; }
  bool stages_kernels() const { return kernels_.load(std::memory_order_relaxed) == peer_kernels::stage; }
  void kernels(peer_kernels how) { kernels_.store(how, std::memory_order_relaxed); }

 private:
  struct entry {
    std::atomic<bool> works{false};
    bool asked = false;
    std::string why_not;
  };
  bool ask(int device, int owner, peer_memory sort);
  std::string test(int device, int owner, peer_memory sort, bool both);
  const entry& at(int device, int owner, peer_memory sort) const {
    return entries_[(static_cast<std::size_t>(sort) * devices_ + static_cast<std::size_t>(device)) * devices_ +
                    static_cast<std::size_t>(owner)];
  }
  entry& at(int device, int owner, peer_memory sort) {
    return const_cast<entry&>(static_cast<const peer_grants*>(this)->at(device, owner, sort));
  }
  ferry::backend& backend_;
  const std::size_t devices_;
  const bool use_;
  std::atomic<peer_kernels> kernels_;
  std::vector<entry> entries_;
  std::atomic<std::uint64_t> page_users_{0};  // bit d: device d has used unified memory
  std::atomic<bool> loses_pages_{false};
  std::vector<native_pool> probes_;  // by device: pools of the tests, as pools are never destroyed
  mutable std::mutex mutex_;
};

// What went wrong when bytes were sent between two devices that have been granted each other's memory: by copy both ways,
// and by kernels of each that load from and store to the other's memory (of `second` only as kernels_of_both says).
// Empty if all arrived. Blocks for a few milliseconds. pools: of each of them, if the bytes are to be theirs.
std::string test_peers(ferry::backend& backend, int first, int second, bool kernels_of_both,
                       std::optional<std::pair<native_pool, native_pool>> pools = {});
// The same for pages of unified memory, which are sent, and taken by kernels of either that load and store. Needs no memory of
// the devices but for these pages.
std::string test_pages(ferry::backend& backend, int first, int second);

}  // namespace ferry
