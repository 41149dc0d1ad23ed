// Which addresses are memory of this process that it may write.
#pragma once

namespace ferry {

// True if the page is mapped and writable: stack, heap, static data. False for mappings of 1 TiB and more, which are the
// shadow memory of sanitizers. Costs one system call for an address that is not mapped, and reads /proc/self/maps for one that is.
bool is_writable_page(const void* p);

}  // namespace ferry
