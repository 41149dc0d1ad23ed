#include "ferry/core/detail/ordering/idle_guard.hpp"

#include <algorithm>
#include <mutex>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ordering/capture.hpp"

namespace ferry::inline FERRY_ABI::detail {

idle_guard::idle_guard(timeline& on, const access& use, std::uint64_t access_epoch) : on_(on) {
  refuse_inside_submission("move unused bytes");
  refuse_inside_capture("moving unused bytes");
  if (on.is_special()) refuse_special(on);
  access_history& log = use.what->history;
  {
    std::lock_guard lock(log);
    if (log.access_epoch() != access_epoch) return;
    const auto& uses = log.uses();
    if (std::any_of(uses.begin(), uses.end(), [&](const access_record& u) {
          const bool is_over = u.by->finished(u.at) && !u.by->is_lost(u.at);  // lost uses stay in the history
          return u.by != &on && u.where.overlaps(use.where) && !is_over;
        }))
      return;
    log.reserve(1);
    at_ = on.reserve();
    log.add(on, at_, use.where, use.write);
    access_epoch_ = log.access_epoch();
  }
  on.begin(at_);
  this_thread_state.submitting = true;
}

idle_guard::~idle_guard() {
  if (!is_entered()) return;
  this_thread_state.submitting = false;
  on_.submitted(at_);
}

}  // namespace ferry::inline FERRY_ABI::detail
