// Faults and costs of drivers that ferry works around.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
namespace ferry::inline FERRY_ABI::detail {

// backend::quirks() returns them; they are constant. A member is true if the backend's driver has the quirk, or if the
// simulator imitates it. Each workaround asks its member, so that it can be turned off to test a newer driver.
// "Condition" says when CUDA's backend sets it. Faults were seen with driver 580, and are assumed for all drivers.
struct driver_quirks {
  // Decision 24. Pools of managed memory lose bytes when they are trimmed, and refuse advice. Unified memory comes from
  // ferry's pools instead. Condition: always. The simulator imitates it: its driver has no such pools.
  bool managed_pools_lose_bytes = true;
  // Decision 25. Managed memory is physically contiguous within a page of 2 MiB. Arrays that begin at page boundaries
  // delay loads of the CPU behind stores, and arrays that share a page move together. Large unified arrays begin at
  // different offsets, in pages of their own. Condition: always. The simulator imitates it: addresses are the same.
  bool aligned_arrays_delay_loads = true;
  // Decision 27. A page that becomes read-mostly while it is on a device keeps mappings of other devices, which then
  // read stale bytes. Such pages leave all devices first. Condition: several devices. The simulator does not imitate
  // it: its pages have no mappings.
  bool read_mostly_keeps_old_mappings = true;
  // Decision 30. Links between devices that report peer access may lose bytes, for each class of memory by itself. The
  // first use tests them. Condition: several devices. The simulator imitates it: the option broken= names the links.
  bool links_may_lose_bytes = true;
  // Decision 33. Pages that are discarded in place lose later writes. A discard also prefetches them to the stream's
  // device. Condition: CUDA 13; CUDA 12 has no discards. The simulator does not imitate it: its discards stay in place.
  bool discarded_pages_lose_writes = true;
  // Decision 34. A fault fetches neighbours within the page, so that prefetches of many small arrays of one page cost
  // more than faults. Such arrays are not prefetched. Condition: always. The simulator imitates it: its migration takes
  // the same decisions.
  bool faults_fetch_neighbours = true;
};

}  // namespace ferry::inline FERRY_ABI::detail
