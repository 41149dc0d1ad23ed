// What to do about an access to pages that are elsewhere: the rules of automatic migration, without doing anything.
#pragma once
#include <functional>
#include <vector>

#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/unified/automatic.hpp"
#include "migration/page_map.hpp"

namespace ferry {

enum class page_step : std::uint8_t {
  move,   // prefetch: the contents travel
  drop,   // prefetch without the contents
  map,    // leave it, and let the device reach it where it is
  fault,  // whoever touches it takes it
  remote  // is reached where it is, mapped before
};

struct planned {
  page_step what;
  byte_range pages;  // what moves or is mapped
  byte_range used;   // the part of it that the access touches
  int from = unknown_location, to = on_the_cpu;
  bool went_back = false;           // to the device that it came from last
  bool migration_disabled = false;  // from now on: it bounced
};

// What the rules need to know of the machine.
struct surroundings {
  migration_options options;
  bool may_move = true;
  std::function<bool(int device, int owner)> can_reach;
  // Whether a device other than `who` (on_the_cpu: any device) still reads the range.
  std::function<bool(byte_range, int who)> is_read_by_others;
  // Whether a sample of the pages says that the CPU has taken many of them.
  std::function<bool(byte_range)> many_on_cpu;
  // Whether the CPU works on a part of the range now.
  std::function<bool(byte_range)> is_held_by_cpu;
  // Whether faults should fetch a small range, as many others of its page go to the device, too. Asked once an access.
  std::function<bool(byte_range, int device)> is_crowded;
};

// Enters the access in the ledger and appends to `plan` what is to be done, in the order of addresses.
void plan_device_access(page_map& pages, const coming_access& a, const surroundings& s, std::vector<planned>& plan);
void plan_host_access(page_map& pages, const coming_access& a, const surroundings& s, std::vector<planned>& plan);

}  // namespace ferry
