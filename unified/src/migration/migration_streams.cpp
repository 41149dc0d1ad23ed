#include "migration/migration_streams.hpp"

#include <algorithm>

#include "ferry/core/detail/ordering/timelines.hpp"

namespace ferry::inline FERRY_ABI::detail {

timeline& migration_streams::to_cpu(int device, bool migration_only) {
  lock_guard lock(mutex_);
  timeline*& t = to_cpu_[{device, migration_only}];
  if (t) return *t;
  t = &runtime_.streams().take(device, 0);
  if (migration_only) t->mark_migration_only();
  return *t;
}

timeline& migration_streams::out_of(int device) {
  lock_guard lock(mutex_);
  timeline*& t = out_of_[device];
  if (!t) t = &runtime_.streams().take(device, 0);
  return *t;
}

bool migration_streams::contain(const timeline* line) const {
  lock_guard lock(mutex_);
  const auto is_it = [&](const auto& known) { return known.second == line; };
  return std::any_of(to_cpu_.begin(), to_cpu_.end(), is_it) || std::any_of(out_of_.begin(), out_of_.end(), is_it);
}

}  // namespace ferry::inline FERRY_ABI::detail
