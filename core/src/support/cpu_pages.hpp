// Detects addresses of memory that this process has written.
#pragma once
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// True if the page is in memory and writable: stack, heap, static data. False for a page without any access so far, and
// for mappings of 1 TiB and more, which are the shadow memory of sanitizers. Costs one system call for an address that
// is not in memory, and reads /proc/self/maps for one that is.
bool is_written_page(const void* p);

}  // namespace ferry::inline FERRY_ABI::detail
