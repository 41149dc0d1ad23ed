// expect: ferry::atomic_ref needs an arithmetic type of 4 or 8 bytes
// with: core
#include <ferry/core.hpp>

#ifdef FERRY_WRONG
using counter = short;
#else
using counter = int;
#endif

counter next(counter& c) { return ferry::atomic_ref<counter>(c).fetch_add(1); }
