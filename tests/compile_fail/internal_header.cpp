// expect: headers in detail/ are internal
// with: multigpu
#ifdef FERRY_WRONG
#include <ferry/core/detail/runtime/submission.hpp>
#endif
#include <ferry/ferry.hpp>

void call(ferry::device_array<float>& x) { ferry::fill(x, 1.0f); }
