// The loops of reductions for processors with AVX2: the build compiles this source for them.
#include "interpreter/reduction_loops.hpp"

#if defined(__AVX2__)
#define FERRY_LOOPS avx2
#include "interpreter/reduction_loops_of.hpp"
#undef FERRY_LOOPS

namespace ferry::inline FERRY_ABI::detail {

const reduction_table* avx2_reduction_loops() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has ? &avx2::reductions : nullptr;
}

}  // namespace ferry::inline FERRY_ABI::detail
#else
namespace ferry::inline FERRY_ABI::detail {

const reduction_table* avx2_reduction_loops() { return nullptr; }

}  // namespace ferry::inline FERRY_ABI::detail
#endif
