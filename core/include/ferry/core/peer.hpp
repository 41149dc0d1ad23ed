// Which devices use each other's memory: granted on first use, after a test that bytes really arrive.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "ferry/core/backend.hpp"

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

// How memory was allocated: each sort is granted and tested by itself.
enum class peer_memory : std::uint8_t {
  plain,  // by backend::allocate
  pooled  // by a pool of the driver
};

// The grants of one machine, by device and owner of the memory.
class peer_grants {
 public:
  peer_grants(backend& verbs, int devices, peer_policy how);

  // Whether a grant was made, and its test passed. Never asks the driver.
  bool reaches(int device, int owner, peer_memory sort = peer_memory::plain) const {
    return device == owner || at(device, owner, sort).works.load(std::memory_order_acquire);
  }
  // The same, after asking for it on first use: the pair is tested both ways, by copies and by kernels, and a pair that
  // fails is said once on stderr and not used. May block. Throws peer_access_error when the driver refuses what it
  // offers, out_of_memory.
  bool grant(int device, int owner, peer_memory sort = peer_memory::plain);
  // Whether a grant can be expected to work.
  bool can_reach(int device, int owner) const;
  // Why `device` does not reach memory of `owner`, in words; "" if it does, or was never asked.
  std::string why_not(int device, int owner) const;

  peer_policy policy() const { return {use_, kernels_.load(std::memory_order_relaxed)}; }
  bool stages_kernels() const { return kernels_.load(std::memory_order_relaxed) == peer_kernels::stage; }
  void kernels(peer_kernels how) { kernels_.store(how, std::memory_order_relaxed); }

 private:
  struct entry {
    std::atomic<bool> works{false};
    bool asked = false;
    std::string why_not;
  };
  const entry& at(int device, int owner, peer_memory sort) const {
    return entries_[(static_cast<std::size_t>(sort) * devices_ + static_cast<std::size_t>(device)) * devices_ +
                    static_cast<std::size_t>(owner)];
  }
  entry& at(int device, int owner, peer_memory sort) {
    return const_cast<entry&>(static_cast<const peer_grants*>(this)->at(device, owner, sort));
  }
  backend& verbs_;
  const std::size_t devices_;
  const bool use_;
  std::atomic<peer_kernels> kernels_;
  std::vector<entry> entries_;
  mutable std::mutex mutex_;
};

// What went wrong when bytes were sent between two devices that have been granted each other's memory: by copy both ways,
// and by kernels of each that load from and store to the other's memory (of `second` only as kernels_of_both says).
// Empty if all arrived. Blocks for a few milliseconds.
std::string test_peers(backend& verbs, int first, int second, bool kernels_of_both);

}  // namespace ferry
