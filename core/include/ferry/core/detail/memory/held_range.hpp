// Lifetime of a span or view through which the CPU uses an array: tracked if a policy checks it, else empty.
#pragma once
#include <memory>

#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Ends with its last copy. Null: not checked.
using held_range = std::shared_ptr<const void>;
// as: the kind of memory in the program's view.
held_range hold_for_host(const allocation_ref& owner, byte_range where, memory_kind as, bool writes, source_line at,
                         const char* through);

// For unified arrays; device accesses of other memory are outside the policy.
template <class View>
held_range hold(const View& v, bool writes, source_line at, const char* through) {
  if (access_policy::checking.load(std::memory_order_relaxed) == 0) [[likely]]
    return nullptr;
  return hold_for_host(v.owner(), v.bytes(), View::kind, writes, at, through);
}

}  // namespace ferry::inline FERRY_ABI::detail
