#include "ferry/core/detail/pools/memory_pool.hpp"

#include <mutex>
#include <utility>

#include "pools/block_uses.hpp"

namespace ferry::inline FERRY_ABI::detail {

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
