#include "ferry/core/detail/pools/memory_pool.hpp"

#include <mutex>
#include <utility>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

bool memory_pool::is_unused(allocation& a, release_depth how) {
  for (;;) {
    try {
      if (how == release_depth::finished) return are_uses_complete(a, a.range(), true);
      wait_for_uses(a.history, a.range(), true);
      return true;
    } catch (const device_error& e) {
      if (!e.is_sticky()) throw;  // that device is marked as failed: its work counts as complete next time
    }
  }
}

void memory_pool::take_from_owner(allocation& a) noexcept {
  accounting_.freed(a);
  if (kind_ == memory_kind::unified) {
    std::lock_guard lock(a.history);
    a.history.invalidate();
  } else {
    a.history.invalidate();
  }
  a.name.clear();
}

block_info memory_pool::info_of(const allocation& a) {
  // evaluated once: another thread may free the block meanwhile
  const bool kept = is_retained(a), is_free = !kept && !is_taken(a);
  const allocation_labels labels = is_free ? allocation_labels{} : labels_of(a);
  return {a.begin, a.bytes, is_free, !a.before, labels.tag, labels.name, kept, const_cast<allocation*>(&a)};
}

pool_options options_for(memory_kind kind, pool_options options, const driver_quirks& quirks) {
  const bool loses_bytes =
      kind == memory_kind::unified && options.kind == pool_kind::driver && quirks.managed_pools_lose_bytes;
  return loses_bytes ? instead(options, pool_kind::split) : options;
}

void memory_pool::rename(allocation& a, std::string text) { accounting_.arrays().name(a, std::move(text)); }

void memory_pool::retain(allocation& a) noexcept {
  accounting_.retain(a, retained_by::workspace);
  a.name.clear();
}

void memory_pool::reissue(allocation& a) { accounting_.reissue(a); }

}  // namespace ferry::inline FERRY_ABI::detail
