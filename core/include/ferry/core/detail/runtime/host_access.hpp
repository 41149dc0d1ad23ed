// How the CPU gets at the bytes of an array.
#pragma once
#include <cstddef>

#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"

namespace ferry {

// How the CPU asks: for a range or for elements (the first is at `first`, of so many bytes), and in which line of the
// program.
struct host_ask {
  host_reach reach = host_reach::range;
  const std::byte* first = nullptr;
  source_line at;
  std::size_t element_bytes = 0;
};
// wait_for_uses for bytes of an array, whose elements matter, after telling the machine's policy. Throws device_error each
// time when a broken device wrote them last; invalid_argument inside a capture, inside a submission, and for an array of
// another machine: this is the gate of the CPU. Gives counters that
// are stale at once where the policy wants to be asked for each element.
host_access_state wait_for_host_access(allocation& what, byte_range where, access_mode mode, const host_ask& how);

}  // namespace ferry
