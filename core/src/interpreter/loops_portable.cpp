// The loops for any processor.
#define FERRY_LOOPS portable
#define FERRY_LOOPS_ALL
#include "interpreter/loops_of.hpp"
#undef FERRY_LOOPS_ALL
#undef FERRY_LOOPS

namespace ferry::inline FERRY_ABI::detail {

const loop_table& portable_loops() { return portable::table; }

}  // namespace ferry::inline FERRY_ABI::detail
