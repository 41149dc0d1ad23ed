// The gate to CUPTI, which counts what the driver does with pages of managed memory. The library is loaded when counters
// are first asked for.
#pragma once
#include <memory>
#include <string>

#include "ferry/core/detail/backend/page_events.hpp"

namespace ferry::cupti {

struct opened {
  std::unique_ptr<page_event_source> source;  // null: it cannot be had
  std::string why_not;
};

// Counts of all devices of the process from now on, until the source goes. One at a time. Call after the driver's start.
opened open();

}  // namespace ferry::cupti
