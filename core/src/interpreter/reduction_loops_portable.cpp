// The loops of reductions for any processor.
#define FERRY_LOOPS portable
#include "interpreter/reduction_loops_of.hpp"
#undef FERRY_LOOPS

namespace ferry::inline FERRY_ABI::detail {

const reduction_table& portable_reduction_loops() { return portable::reductions; }

}  // namespace ferry::inline FERRY_ABI::detail
