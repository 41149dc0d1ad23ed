// Waits of the CPU for accesses of bytes.
#pragma once
#include <cstdint>
#include <optional>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Counters of a history at the time of a host access. While they are unchanged, the access needs no further wait.
struct host_access_state {
  std::uint64_t access_epoch = 0, writes = 0;
};
// Blocks until conflicting accesses are complete: a read waits for the last writes, a write for all accesses. Work of a
// failed device counts as complete. for_bytes: the storage is about to be reclaimed, so also wait for migration
// streams.
host_access_state wait_for_uses(access_history& log, byte_range where, bool write, bool for_bytes = true);
// True if that wait would return at once. Never blocks. An unbounded access of an escaped pointer stays unbounded, and
// counts as incomplete. access_epoch: for callers that hold no reference to the allocation. Returns false if the
// history's epoch differs.
bool are_uses_complete(allocation& what, byte_range where, bool write, std::optional<std::uint64_t> access_epoch = {});

// Waits as wait_for_uses without for_bytes, for an access that needs the contents. Throws device_error if they are lost
// (R19). access_epoch: the history's epoch when no access was in flight.
struct host_wait {
  host_access_state seen;
  std::uint64_t access_epoch = 0;
};
host_wait wait_for_elements(allocation& what, byte_range where, bool write, source_line at);

}  // namespace ferry::inline FERRY_ABI::detail
