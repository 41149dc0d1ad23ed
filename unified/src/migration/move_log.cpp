#include "migration/move_log.hpp"

#include <algorithm>
#include <string>

#include "counters/cpu_touches.hpp"
#include "counters/page_counters.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "migration/migration_thread_state.hpp"

namespace ferry::inline FERRY_ABI::detail {

migration_entry& move_log::row_of(allocation& a) {
  const std::size_t bytes = range_now(a).size();
  const std::string name = name_in_reports(a, bytes);
  migration_entry& e = rows_[{name, this_thread_migration().phase}];
  if (e.array.empty()) e.array = name, e.phase = this_thread_migration().phase;
  e.bytes = std::max(e.bytes, bytes);
  return e;
}

void move_log::add(const coming_access& a, const std::vector<planned>& plan, bool stays) {
  lock_guard lock(mutex_);
  migration_entry& e = row_of(a.what);
  e.stays = stays;
  if (!a.stream)
    note_touch(e.touches, a);
  else if (a.at.is_known())
    e.device_use = a.at;
  bool sent = false;
  for (const planned& p : plan) {
    const std::size_t bytes = p.pages.size(), used = p.used.size();
    moved_bytes& way = p.to == on_the_cpu ? e.to_cpu : p.from >= 0 ? e.between_devices : e.to_devices;
    e.bounces += p.went_back;
    e.migration_disabled = e.migration_disabled || p.migration_disabled;
    switch (p.what) {
      case page_step::move: way.by_prefetch += bytes, sent = true; break;
      case page_step::drop: e.dropped += bytes, sent = true; break;
      case page_step::fault:
        if (p.from != unknown_location) way.by_fault += used;
        break;
      case page_step::map:
      case page_step::remote: e.remote += used; break;
    }
  }
  e.prefetches += sent;
}

move_log::rows move_log::copy() const {
  lock_guard lock(mutex_);
  return rows_;
}

void move_log::reset() {
  lock_guard lock(mutex_);
  rows_.clear();
}

}  // namespace ferry::inline FERRY_ABI::detail
