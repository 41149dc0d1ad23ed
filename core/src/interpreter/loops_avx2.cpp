// The loops for processors with AVX2 and F16C: the build compiles this source for them.
#include "interpreter/loop_table.hpp"

#if defined(__AVX2__) && defined(__F16C__)
#define FERRY_LOOPS avx2
#include "interpreter/loops_of.hpp"
#undef FERRY_LOOPS

namespace ferry::inline FERRY_ABI::detail {

const loop_table* avx2_loops() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return has ? &avx2::table : nullptr;
}

}  // namespace ferry::inline FERRY_ABI::detail
#else
namespace ferry::inline FERRY_ABI::detail {

const loop_table* avx2_loops() { return nullptr; }

}  // namespace ferry::inline FERRY_ABI::detail
#endif
