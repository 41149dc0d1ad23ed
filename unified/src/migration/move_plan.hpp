// Plans the steps for an access to pages that are elsewhere: the rules of automatic migration, without executing them.
#pragma once
#include <functional>
#include <vector>

#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/unified/automatic.hpp"
#include "migration/page_map.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class page_step : std::uint8_t {
  move,   // prefetch with contents
  drop,   // prefetch without contents
  map,    // leave in place, and map it for the device
  fault,  // leave to page faults
  remote  // access in place; mapped before
};

struct planned {
  page_step what;
  byte_range pages;  // pages that move or are mapped
  byte_range used;   // the part of them that the access uses
  int from = unknown_location, to = on_the_cpu;
  bool went_back = false;           // to the device that they had left
  bool migration_disabled = false;  // this access reached the ping-pong limit
};

// Properties of the runtime that the rules depend on.
struct surroundings {
  migration_options options;
  bool may_move = true;
  std::function<bool(int device, int owner)> can_reach;
  // True if a device other than `who` (on_the_cpu: any device) has incomplete reads of the range.
  std::function<bool(byte_range, int who)> is_read_by_others;
  // True if a sample of the pages shows that the CPU has mapped many of them.
  std::function<bool(byte_range)> many_on_cpu;
  // True if a guard of the CPU overlaps the range.
  std::function<bool(byte_range)> is_held_by_cpu;
  // True if faults should move a small range, because many others of its page move to the same device. Called once for
  // each access to a page.
  std::function<bool(byte_range, int device)> is_crowded;
};

// Updates the page records for the access, and appends the necessary steps to `plan`, in the order of addresses.
void plan_device_access(page_map& pages, const coming_access& a, const surroundings& s, std::vector<planned>& plan);
void plan_host_access(page_map& pages, const coming_access& a, const surroundings& s, std::vector<planned>& plan);

}  // namespace ferry::inline FERRY_ABI::detail
