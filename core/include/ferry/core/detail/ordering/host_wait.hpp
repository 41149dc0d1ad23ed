// Waits of the CPU for uses of bytes.
#pragma once
#include <cstdint>
#include <optional>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry {

// Counters of a log at the time of an access. While the log still has the same ones, the access needs no further wait.
struct host_access_state {
  std::uint64_t access_epoch = 0, writes = 0;
};
// Blocks until conflicting uses are complete: a read waits for the last writes, a write for all uses. Work of a failed
// device counts as complete. for_bytes: the storage is about to be reclaimed, so also wait for migration streams.
host_access_state wait_for_uses(access_history& log, byte_range where, bool write, bool for_bytes = true);
// True if that wait would return at once. Never blocks. An escaped raw pointer stays open, and counts as incomplete.
// touches: for callers that hold no reference to the allocation. Also false when the log's counter is another one.
bool are_uses_complete(allocation& what, byte_range where, bool write, std::optional<std::uint64_t> access_epoch = {});

// Waits as wait_for_uses without for_bytes, for an access that needs the contents. Throws device_error when they are lost
// (R19). touches: the log's counter when no use was in flight.
struct host_wait {
  host_access_state seen;
  std::uint64_t access_epoch = 0;
};
host_wait wait_for_elements(allocation& what, byte_range where, bool write, source_line at);

}  // namespace ferry
