// Converts CUPTI's records of unified memory, field by field, to page events. Needs neither the library nor its
// headers.
#pragma once
#include <cstdint>
#include <optional>

#include "ferry/core/detail/backend/page_events.hpp"

namespace ferry::inline FERRY_ABI::detail::cupti {

struct raw_counter {
  std::uint32_t kind = 0;  // of CUpti_ActivityUnifiedMemoryCounterKind
  std::uint64_t value = 0, start = 0, end = 0, address = 0;
  std::uint32_t flags = 0;  // of moves: CUpti_ActivityUnifiedMemoryMigrationCause
};

// Returns nothing for kinds that ferry does not request.
std::optional<page_event> decode(const raw_counter& r);

}  // namespace ferry::inline FERRY_ABI::detail::cupti
