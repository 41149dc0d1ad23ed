// How the CPU gets at the bytes of an array.
#pragma once
#include <cstddef>

#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"

namespace ferry {

// What the CPU requests: a range, or elements (the first at `first`, of `element_bytes`); and the line of the call.
struct host_ask {
  host_reach reach = host_reach::range;
  const std::byte* first = nullptr;
  source_line at;
  std::size_t element_bytes = 0;
};
// Notifies the machine's policy, then waits for conflicting uses (wait_for_elements). Every CPU access passes here.
// Returns the log's counters, or counters that never match where the policy requires a call for each element.
// Throws device_error when the contents are lost; invalid_argument inside a capture, inside a submission, and for an array
// of another machine.
host_access_state wait_for_host_access(allocation& what, byte_range where, access_mode mode, const host_ask& how);

}  // namespace ferry
