#include "ferry/core/detail/pools/memory_pool.hpp"

#include <mutex>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "pools/caching_pool.hpp"
#include "pools/direct_pool.hpp"
#include "pools/driver_pool.hpp"

namespace ferry {

bool memory_pool::is_unused(allocation& a, release_depth how) {
  for (;;) {
    try {
      if (how == release_depth::finished) return uses_are_over(a, a.range(), true);
      wait_for_uses(a.log, a.range(), true);
      return true;
    } catch (const device_error& e) {
      if (!e.is_sticky()) throw;  // that device was given up: what it was doing counts as over next time
    }
  }
}

void memory_pool::take_from_owner(allocation& a) noexcept {
  ledger_.freed(a);
  if (kind_ == memory_kind::unified) {
    std::lock_guard lock(a.log);
    a.log.invalidate();
  } else {
    a.log.invalidate();
  }
  a.name.clear();
}

block_info memory_pool::info_of(const allocation& a) {
  const bool kept = is_set_aside(a), is_free = !kept && !is_taken(a);  // one answer: others free it meanwhile
  const allocation_labels labels = is_free ? allocation_labels{} : labels_of(a);
  return {a.begin, a.bytes, is_free, !a.before, labels.tag, labels.name, kept, const_cast<allocation*>(&a)};
}

pool_options options_for(memory_kind kind, pool_options options) {
  return kind == memory_kind::unified && options.kind == pool_kind::driver ? instead(options, pool_kind::split)
                                                                           : options;
}

std::unique_ptr<memory_pool> make_pool(memory_ledger& ledger, timelines& streams, memory_kind kind, int device,
                                       const pool_options& options) {
  check(options);
  switch (options.kind) {
    case pool_kind::none: return std::make_unique<direct_pool>(ledger, kind, device, options);
    case pool_kind::driver: {
      pool_backend* const driver = ledger.verbs().pools();
      if (!driver || !driver->has_pools(kind, device))
        throw not_supported(std::string("the driver has no pools of ") + kind_name(kind) + " memory of device " +
                            std::to_string(device) + ": choose pool_kind::split");
      return std::make_unique<driver_pool>(ledger, streams, kind, device, options);
    }
    default: return std::make_unique<caching_pool>(ledger, kind, device, options);
  }
}

}  // namespace ferry
