#include "ferry/core/peer.hpp"

#include <cstdio>

#include "environment.hpp"
#include "ferry/core/error.hpp"

namespace ferry {

peer_policy peer_policy::from_environment() {
  peer_policy p;
  p.use = environment_choice("FERRY_PEER", {"on", "off"}) == 0;
  p.kernels = static_cast<peer_kernels>(environment_choice("FERRY_PEER_KERNELS", {"error", "stage"}));
  return p;
}

peer_grants::peer_grants(backend& verbs, int devices, peer_policy how)
    : verbs_(verbs),
      devices_(static_cast<std::size_t>(devices)),
      use_(how.use),
      kernels_(how.kernels),
      entries_(2 * devices_ * devices_) {}

bool peer_grants::grant(int device, int owner, peer_memory sort) {
  if (device == owner) return true;
  std::lock_guard lock(mutex_);
  entry& there = at(device, owner, sort);
  if (there.asked) return there.works.load(std::memory_order_relaxed);
  entry& back = at(owner, device, sort);
  if (!use_ || !verbs_.can_access_peer(device, owner)) {
    there.why_not = use_ ? "the two cannot be peers" : "FERRY_PEER=off";
    there.asked = true;
    return false;
  }
  const bool both = verbs_.can_access_peer(owner, device);
  verbs_.enable_peer_access(device, owner);
  if (both) verbs_.enable_peer_access(owner, device);
  const std::string wrong = test_peers(verbs_, device, owner, both);
  if (!wrong.empty()) {
    verbs_.disable_peer_access(device, owner);
    if (both) verbs_.disable_peer_access(owner, device);
    std::fprintf(
        stderr,
        "ferry: devices %d and %d say that they are peers, but %s: copies between them go through the CPU, and "
        "kernels may not use each other's memory\n",
        device, owner, wrong.c_str());
  }
  for (entry* e : {&there, &back}) {
    if (e == &back && !both) continue;
    e->asked = true;
    if (!wrong.empty()) e->why_not = "the test of the link failed (" + wrong + ")";
    e->works.store(wrong.empty(), std::memory_order_release);
  }
  return wrong.empty();
}

bool peer_grants::can_reach(int device, int owner) const {
  if (device == owner) return true;
  if (!use_ || !verbs_.can_access_peer(device, owner)) return false;
  std::lock_guard lock(mutex_);
  const entry& e = at(device, owner, peer_memory::plain);
  return !e.asked || e.works.load(std::memory_order_relaxed);
}

std::string peer_grants::why_not(int device, int owner) const {
  std::lock_guard lock(mutex_);
  return at(device, owner, peer_memory::plain).why_not;
}

}  // namespace ferry
