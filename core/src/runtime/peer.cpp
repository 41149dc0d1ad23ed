#include "ferry/core/detail/runtime/peer.hpp"

#include <cstdio>

#include "ferry/core/detail/ordering/host_tasks.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

peer_policy peer_policy::from_environment() {
  peer_policy p;
  p.use = environment_switch("FERRY_PEER").value_or(p.use);
  p.kernels = environment_choice<peer_kernels>("FERRY_PEER_KERNELS", {"error", "stage"}).value_or(p.kernels);
  return p;
}

namespace {

// Parts of the message for a pair whose test failed: the kind of memory, and what ferry does instead.
struct failure_text {
  const char* of;
  const char* instead;
};
failure_text text_of(peer_memory sort) {
  switch (sort) {
    case peer_memory::plain:
      return {"", "copies between them go through the CPU, and kernels may not use each other's memory"};
    case peer_memory::pooled:
      return {" in pools of the driver",
              "copies of such memory between them go through the CPU, and kernels may not use each other's"};
    case peer_memory::unified: return {" in pages of unified memory", "all unified memory stays in memory of the CPU"};
  }
  return {"", ""};
}

}  // namespace

peer_grants::peer_grants(detail::backend& backend, int devices, peer_policy how)
    : backend_(backend),
      devices_(static_cast<std::size_t>(devices)),
      use_(how.use),
      kernels_(how.kernels),
      entries_(3 * devices_ * devices_),
      probes_(devices_) {}

bool peer_grants::grant(int device, int owner, peer_memory sort) {
  if (device == owner) return true;
  refuse_inside_host_task("enable peer access");
  lock_guard lock(mutex_);
  // plain memory first: copies of pooled memory may be captured then
  if (sort == peer_memory::pooled) (void)ask(device, owner, peer_memory::plain);
  return ask(device, owner, sort);
}

void peer_grants::grant_or_throw(int device, int owner, peer_memory sort) {
  if (grant(device, owner, sort)) return;
  const auto name = [&](int d) { return concat(d, " (", backend_.properties(d).name, ")"); };
  throw peer_access_error(concat("a kernel on device ", name(device), " uses memory of device ", name(owner),
                                 ", which it does not reach: ", why_not(device, owner, sort),
                                 ". Copy the array to device ", device,
                                 " first (ferry::clone_on), run the kernel on device ", owner,
                                 ", use a unified array, or set FERRY_PEER_KERNELS=stage"));
}

bool peer_grants::ask(int device, int owner, peer_memory sort) {
  entry& there = at(device, owner, sort);
  if (there.asked) return there.works.load(std::memory_order_relaxed);
  entry& back = at(owner, device, sort);
  if ((!use_ && sort != peer_memory::unified) || !backend_.can_access_peer(device, owner)) {
    there.asked = true;
    there.works.store(sort == peer_memory::unified, std::memory_order_release);
    if (sort != peer_memory::unified) there.why_not = use_ ? "the two cannot be peers" : "FERRY_PEER=off";
    return sort == peer_memory::unified;
  }
  const bool both = backend_.can_access_peer(owner, device);
  const std::string wrong = test(device, owner, sort, both);
  if (!wrong.empty())
    std::fprintf(stderr, "ferry: the driver reports devices %d and %d as peers, but %s%s: %s\n", device, owner,
                 wrong.c_str(), text_of(sort).of, text_of(sort).instead);
  for (entry* e : {&there, &back}) {
    if (e == &back && !both) continue;
    e->asked = true;
    if (!wrong.empty()) e->why_not = "the test of the link failed (" + wrong + text_of(sort).of + ")";
    e->works.store(wrong.empty(), std::memory_order_release);
  }
  if (!wrong.empty() && sort == peer_memory::unified) loses_pages_.store(true);
  return wrong.empty();
}

void peer_grants::add_page_user(int device) {
  lock_guard lock(mutex_);
  const std::uint64_t others = page_users_.load(std::memory_order_relaxed);
  for (int d = 0; d < static_cast<int>(devices_); ++d) {
    if (d == device || (others >> d & 1) == 0) continue;
    try {
      (void)ask(device, d, peer_memory::unified);
    } catch (const device_error&) {  // one of the two devices has failed: its pages are lost anyway
    }
  }
  page_users_.fetch_or(std::uint64_t{1} << device, std::memory_order_release);
}

// Returns the pool that a test uses; none if the device has no pools.
native_pool peer_grants::probe_of(int device) {
  native_pool& p = probes_[static_cast<std::size_t>(device)];
  if (!p.handle && backend_.pools()->has_pools(memory_kind::device, device)) {
    pool_options o;
    o.kind = pool_kind::driver;
    o.release_threshold = 0;
    p = backend_.pools()->create_pool(memory_kind::device, device, o);
  }
  return p;
}

// Returns what went wrong, or an empty text. After a failure no new grant remains.
std::string peer_grants::test(int device, int owner, peer_memory sort, bool both) {
  const bool trusts = !backend_.quirks().links_may_lose_bytes;
  if (sort == peer_memory::unified) return trusts ? std::string() : test_pages(backend_, device, owner);
  if (sort == peer_memory::plain) {
    backend_.enable_peer_access(device, owner);
    if (both) backend_.enable_peer_access(owner, device);
    if (trusts) return {};
    std::string wrong = test_peers(backend_, device, owner, both);
    if (wrong.empty()) return wrong;
    backend_.disable_peer_access(device, owner);
    if (both) backend_.disable_peer_access(owner, device);
    return wrong;
  }
  pool_backend& pools = *backend_.pools();
  // on a side without pools, plain memory is tested
  const native_pool user = probe_of(device), lender = probe_of(owner);
  if (lender.handle) pools.grant(lender, device);
  if (both && user.handle) pools.grant(user, owner);
  if (trusts) return {};
  const std::string wrong = test_peers(backend_, device, owner, both, std::pair(user, lender));
  for (const native_pool p : {user, lender})
    if (p.handle) pools.trim(p, 0);
  return wrong;
}

bool peer_grants::can_reach(int device, int owner, peer_memory sort) const {
  if (device == owner) return true;
  if (!use_ || !backend_.can_access_peer(device, owner)) return false;
  lock_guard lock(mutex_);
  const entry& e = at(device, owner, sort);
  return !e.asked || e.works.load(std::memory_order_relaxed);
}

std::string peer_grants::why_not(int device, int owner, peer_memory sort) const {
  lock_guard lock(mutex_);
  return at(device, owner, sort).why_not;
}

}  // namespace ferry::inline FERRY_ABI::detail
