#include "ferry/core/detail/runtime/host_access.hpp"

#include <mutex>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/runtime.hpp"
#include "ordering/capture.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Reports the bytes that the CPU may now access to a backend that checks for races. For elements: only the requested
// one. Skipped if another thread has recorded a use after the wait: its submission may be pending, and is not ordered
// with this access.
void tell_host_access(allocation& what, byte_range where, access_mode mode, const host_ask& how,
                      std::uint64_t access_epoch) {
  if (!what.resource->backend().finds_races()) [[likely]]
    return;
  if (how.reach == host_reach::elements) where = {how.first, how.first + how.element_bytes};
  const kernel_use use{where.begin,
                       where.size(),
                       mode != access_mode::out,
                       mode != access_mode::in,
                       array_label(what.name.get().c_str()),
                       how.at};
  std::lock_guard lock(what.history);
  if (what.history.access_epoch() == access_epoch) what.resource->backend().host_access(use);
}

}  // namespace

host_access_state wait_for_host_access(allocation& what, byte_range where, access_mode mode, const host_ask& how) {
  refuse_inside_submission("touch an array from the CPU");
  need_current(what);
  const bool write = mode != access_mode::in;
  access use{&what, where, write, false, how.at};
  if (this_thread_state.capture) this_thread_state.capture->refuse("access from the CPU", {&use, 1});
  access_policy* const policy = what.kind == memory_kind::unified ? runtime::current().policy() : nullptr;
  if (policy) policy->before_access({what, where, {}, mode, nullptr, how.reach, how.first, how.at});
  const host_wait over = wait_for_elements(what, where, write, how.at);
  if (const timelines& streams = runtime::current().streams(); streams.task_failures()->any()) [[unlikely]]
    streams.raise_task_failures(use_text(use));
  const host_access_state state = over.seen;
  tell_host_access(what, where, mode, how, over.access_epoch);
  runtime::current().memory().pressure().at_synchronization();
  const bool for_all = !policy || policy->permits_at_large();
  // never equal to counters of a history: the next access checks again
  if (!for_all || capture_session::is_any_under_way()) return {};
  // Stale views must still reach this slow path, to throw use_after_free. A policy must see the access to each page.
  if (!what.history.is_host_clean() && !what.may_have_stale_references()) {
    std::lock_guard lock(what.history);
    if (!policy || where.covers(what.range())) what.history.mark_host_clean(state.writes);
  }
  return state;
}

}  // namespace ferry::inline FERRY_ABI::detail
