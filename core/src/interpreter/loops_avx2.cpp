// The loops for processors with AVX2 and F16C: the build compiles this source for them.
#include "interpreter/loop_table.hpp"

#if defined(__AVX2__) && defined(__F16C__)
#include <cpuid.h>

#define FERRY_LOOPS avx2
#include "interpreter/loops_of.hpp"
#undef FERRY_LOOPS

namespace ferry::inline FERRY_ABI::detail {

/// Whether the processor converts halves. Clang's __builtin_cpu_supports knows no "f16c" before version 15.
static bool has_f16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

const loop_table* avx2_loops() {
  static const bool has = __builtin_cpu_supports("avx2") && has_f16c();
  return has ? &avx2::table : nullptr;
}

}  // namespace ferry::inline FERRY_ABI::detail
#else
namespace ferry::inline FERRY_ABI::detail {

const loop_table* avx2_loops() { return nullptr; }

}  // namespace ferry::inline FERRY_ABI::detail
#endif
