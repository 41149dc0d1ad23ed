// Locations of pages: those that they can move to or be advised about, and those where they are.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "ferry/core/runtime.hpp"
#include "migration/page_map.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Throws invalid_argument for a device or a NUMA node of the CPU that does not exist.
void check_place(runtime& m, memory_location where);
// Calls f(place, bytes) for parts of the runs, by address. The place comes from the page records, or else from the
// driver, which is asked once for each page of that size.
void each_place(runtime& m, std::size_t page, std::span<const page_run> runs,
                const std::function<void(int, byte_range)>& f);

}  // namespace ferry::inline FERRY_ABI::detail
