// FERRY_ASSERT(condition, text): for functors. A failure on a simulated device becomes a device_error with the text; on
// CUDA (debug builds) it is printed and traps, which makes every later call on the device a device_error.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/macros.hpp"
#if FERRY_IN_DEVICE_CODE
#include <cstdio>
#endif

namespace ferry::detail {
[[noreturn]] void assertion_failed(const char* condition, const char* text, const char* file, int line);
[[noreturn]] void index_failed(const char* array, int dimension, std::size_t index, std::size_t extent);
}  // namespace ferry::detail

#if !FERRY_CHECKS
#define FERRY_ASSERT(condition, text) ((void)0)
#elif FERRY_IN_DEVICE_CODE
#define FERRY_ASSERT(condition, text)                                                              \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      ::printf("ferry: %s:%d: assertion failed: %s (%s)\n", __FILE__, __LINE__, #condition, text); \
      __trap();                                                                                    \
    }                                                                                              \
  } while (false)
#else
#define FERRY_ASSERT(condition, text) \
  ((condition) ? (void)0 : ::ferry::detail::assertion_failed(#condition, text, __FILE__, __LINE__))
#endif
