#include "ferry/core/detail/runtime/submission.hpp"

#include <algorithm>
#include <string>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/runtime/unified_pages.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "runtime/other_runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

namespace {

// Enables peer access on first use. Throws peer_access_error, which names the array.
void need_reach(runtime& m, int device, const access& a) {
  try {
    if (a.what->kind == memory_kind::device) m.peers().need(device, a.what->device, a.what->peer_class());
    a.what->resource->need_peer(*a.what, device);
  } catch (const peer_access_error& e) {
    throw peer_access_error(concat(use_text(a), ": ", e.text()));
  }
}

// Tests the links on which pages may travel for the work, if it uses unified memory.
void test_pages(runtime& m, stream_ref s, std::span<const access> uses) {
  const auto is_unified = [](const access& a) { return a.what->kind == memory_kind::unified; };
  if (std::none_of(uses.begin(), uses.end(), is_unified)) return;
  m.pages().test_links(s.timeline().device());
  for (const access& a : uses)  // copies run kernels on these devices, too
    if (a.what->kind == memory_kind::device) m.pages().test_links(a.what->device);
}

// True if the policy must see accesses to this pinned memory: only while tracked host guards or spans of such memory
// exist.
bool is_held_somewhere(const allocation& a) {
  return a.kind == memory_kind::host && access_policy::held_beside_unified.load(std::memory_order_relaxed) != 0;
}

void need_own(runtime& m, timeline& on) {
  if (&on.registry() != &m.streams()) throw_other_runtime("the stream");
}
void need_own(runtime& m, const allocation& a, source_line at = {}) {
  if (&a.resource->backend() == &m.backend()) [[likely]]
    return;
  throw_other_runtime(array_text(a) + in_line(at));
}

// Notifies the policy of the accesses. Captured work is reported when its graph is launched. The guard refuses
// submissions inside a submission.
void tell(access_policy& p, timeline& on, std::span<const access> uses, bool as_copy) {
  if (this_thread_state.capture || this_thread_state.submitting) return;
  for (const access& a : uses) {
    const bool is_unified = a.what->kind == memory_kind::unified;
    if (!is_unified && !is_held_somewhere(*a.what)) continue;
    // Not a full overwrite if the same call also reads the bytes.
    const bool is_read = a.whole && std::any_of(uses.begin(), uses.end(), [&](const access& b) {
                           return b.what == a.what && !b.whole && b.where.overlaps(a.where);
                         });
    const access_mode mode = !a.write                          ? access_mode::in
                             : a.whole && !is_read && !as_copy ? access_mode::out
                                                               : access_mode::inout;
    const coming_access coming{*a.what, a.where, {on.device()}, mode, &on, host_reach::range, nullptr, a.at};
    if (is_unified && !as_copy)
      p.before_access(coming);
    else
      p.before_copy(coming);
  }
}

}  // namespace

void need_current(stream_ref s) { need_own(runtime::current(), s.timeline()); }
void need_current(const allocation& a) { need_own(runtime::current(), a); }
void need_current(stream_ref s, std::span<const access> uses) {
  runtime& m = runtime::current();
  need_own(m, s.timeline());
  for (const access& a : uses) need_own(m, *a.what, a.at);
}

admission admit(stream_ref s, std::span<access> uses, reach how) {
  runtime& m = runtime::current();
  timeline& on = s.timeline();
  need_own(m, on);
  for (const access& a : uses) {
    need_own(m, *a.what, a.at);
    if (how == reach::by_kernel) need_reach(m, on.device(), a);
  }
  test_pages(m, s, uses);
  if (m.peers().loses_pages()) [[unlikely]]
    m.pages().pin_to_host(on, uses);
  if (access_policy* const p = m.policy(); p && how != reach::of_pages) [[unlikely]]
    tell(*p, on, uses, how == reach::by_copy);
  return {on, uses};
}

}  // namespace ferry::inline FERRY_ABI::detail
