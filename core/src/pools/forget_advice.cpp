#include "pools/forget_advice.hpp"

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

void forget_advice(detail::backend& backend, allocation& a) {
  a.history.set_advised(false);
  const auto unset = [&](memory_advice what, memory_location where) {
    try {
      backend.advise(a.begin, a.bytes, what, where);
    } catch (const device_error&) {  // a failed device: hints about it do no harm
    }
  };
  unset(memory_advice::unset_read_mostly, {});
  unset(memory_advice::unset_preferred_location, {});
  unset(memory_advice::unset_accessed_by, {});
  for (int d = 0; d < backend.device_count(); ++d) unset(memory_advice::unset_accessed_by, {d});
}

}  // namespace ferry::inline FERRY_ABI::detail
