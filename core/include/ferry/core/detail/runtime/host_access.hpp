// Access of the CPU to the bytes of an array.
#pragma once
#include <cstddef>

#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A host access: a range, or elements (the first at `first`, of `element_bytes`); and the source line of the call.
struct host_ask {
  host_reach reach = host_reach::range;
  const std::byte* first = nullptr;
  source_line at;
  std::size_t element_bytes = 0;
};
// Notifies the runtime's policy, then blocks until conflicting accesses are complete (wait_for_elements). Every host
// access calls this function. Returns the history's counters, or counters that never match if the policy requires a
// call for each element. Throws device_error if the contents are lost. Throws invalid_argument inside a capture, inside
// a submission, and for an array of another runtime.
host_access_state wait_for_host_access(allocation& what, byte_range where, access_mode mode, const host_ask& how);

}  // namespace ferry::inline FERRY_ABI::detail
