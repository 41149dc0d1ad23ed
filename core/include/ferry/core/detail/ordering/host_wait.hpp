// How a thread of the CPU waits for uses of bytes.
#pragma once
#include <cstdint>
#include <optional>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry {

// Counters of a log at the time of an access; while they stand still the CPU need not ask again.
struct host_access_state {
  std::uint64_t touches = 0, writes = 0;
};
// Blocks until the bytes are not in use any more: reading waits for the last writes, writing for all uses. What a device
// did that is known to be broken counts as over. With for_bytes they may be taken away: then for the uses of timelines that
// serve, too.
host_access_state wait_for_uses(access_log& log, byte_range where, bool write, bool for_bytes = true);
// Whether that wait would return at once. Never blocks; a raw pointer that is out stays out, and counts as unfinished.
// touches, for who may not own the bytes: also false when the log has counted anything since that was read with it locked.
bool uses_are_over(allocation& what, byte_range where, bool write, std::optional<std::uint64_t> touches = {});

// The same for an array whose elements matter: throws device_error when they are lost (R19). Also gives how often the log had
// been used when its uses were found to be over.
struct host_wait {
  host_access_state seen;
  std::uint64_t touches = 0;
};
host_wait wait_for_elements(allocation& what, byte_range where, bool write, source_line at);

}  // namespace ferry
