// Refuses a program that includes a header of detail/. Every such header includes this one. No include guard: the check
// applies at each of these includes. At level 2, the header of detail/ is included by the source itself.
#if !defined(FERRY_INTERNAL) && __INCLUDE_LEVEL__ == 2
#error "ferry: headers in detail/ are internal: include <ferry/ferry.hpp>, or a header outside of detail/"
#endif
#include "ferry/version.hpp"
