// Interface to CUPTI, which counts what the driver does with pages of managed memory. The library is loaded when
// counters are first requested.
#pragma once
#include <memory>
#include <string>

#include "ferry/core/detail/backend/page_events.hpp"

namespace ferry::inline FERRY_ABI::detail::cupti {

struct opened {
  std::unique_ptr<page_event_source> source;  // null: not available
  std::string why_not;
};

// Counts for all devices of the process, until the source is destroyed. There can be one source at a time. Call it
// after the driver is initialized.
opened open();

}  // namespace ferry::inline FERRY_ABI::detail::cupti
