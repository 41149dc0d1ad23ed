#include "ferry/core/detail/runtime/unified_pages.hpp"

#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ordering/capture.hpp"

namespace ferry::inline FERRY_ABI::detail {

bool unified_pages::migrate() const { return can_migrate_ && !runtime_.peers().loses_pages(); }

void unified_pages::test_links(int device) {
  if (!can_migrate_ || runtime_.peers().uses_pages(device)) return;
  if (this_thread_state.capture) return this_thread_state.capture->uses_pages(device);
  if (!this_thread_state.submitting) runtime_.peers().add_page_user(device);
}

void unified_pages::pin_to_host(timeline& on, std::span<const access> uses) {
  if (this_thread_state.capture || this_thread_state.submitting) return;
  lock_guard lock(mutex_);
  if (!is_at_rest_) {
    try {
      runtime_.streams().synchronize();
    } catch (const device_error&) {  // a failed device has no pending work
    }
    is_at_rest_ = true;
  }
  for (const access& use : uses) {
    allocation& a = *use.what;
    if (a.kind != memory_kind::unified) continue;
    pinned_range& k = pinned_[&a];
    const std::uint64_t generation = a.state.load(std::memory_order_relaxed) >> 32;
    const byte_range all = range_now(a);
    if (k.generation == generation && k.bytes.covers(all)) continue;
    if (runtime_.backend().attributes(all.begin).kind == memory_kind::unified)
      pin(on, a, all);  // otherwise the memory belongs to the program
    k = {generation, all};
  }
}

void unified_pages::pin(timeline& on, allocation& a, byte_range bytes) {
  {
    std::lock_guard lock(a.history);
    a.history.set_advised(true);  // the next owner of the bytes removes the advice
  }
  detail::backend& backend = runtime_.backend();
  void* const begin = const_cast<std::byte*>(bytes.begin);
  backend.advise(begin, bytes.size(), memory_advice::unset_read_mostly, {});
  backend.advise(begin, bytes.size(), memory_advice::preferred_location, {});
  access all{&a, bytes, true};
  access_guard guard(admission::unchecked(on, {&all, 1}));
  backend.prefetch(on.stream(), begin, bytes.size(), {});
}

}  // namespace ferry::inline FERRY_ABI::detail
