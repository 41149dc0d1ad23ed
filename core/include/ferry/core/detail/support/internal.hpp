// Refuses a program that includes a header of detail/. Every such header includes this one first. No include guard: the
// check applies at each of these includes. At level 2, the header of detail/ is included by the source itself.
#if !defined(FERRY_INTERNAL) && __INCLUDE_LEVEL__ == 2
#error \
    "ferry: headers in detail/ are internal, and change in every version. Include <ferry/ferry.hpp>, or a header that lies directly in <ferry/core/>, <ferry/unified/> or <ferry/multigpu/>"
#endif
#include "ferry/version.hpp"
