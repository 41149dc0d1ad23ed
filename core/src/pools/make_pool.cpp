// Makes the kind of pool that the options select.
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "pools/caching_pool.hpp"
#include "pools/direct_pool.hpp"
#include "pools/driver_pool.hpp"

namespace ferry::inline FERRY_ABI::detail {

owning_ptr<memory_pool> make_pool(memory_accounting& accounting, timelines& streams, memory_kind kind, int device,
                                  const pool_options& options) {
  check_pool_options(options);
  switch (options.kind) {
    case pool_kind::none: return owning_ptr<memory_pool>(new direct_pool(accounting, kind, device, options));
    case pool_kind::driver: {
      pool_backend* const driver = accounting.backend().pools();
      if (!driver || !driver->has_pools(kind, device))
        throw not_supported(concat("the driver has no pools of ", kind_name(kind), " memory of device ", device,
                                   ": choose pool_kind::split"));
      return owning_ptr<memory_pool>(new driver_pool(accounting, streams, kind, device, options));
    }
    default: return owning_ptr<memory_pool>(new caching_pool(accounting, kind, device, options));
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
