/// @file
/// FERRY_ASSERT(condition, text): assertion for functors.
///
/// On a simulated device, a failure becomes a device_error with the text and the index of the functor's call. In debug
/// builds for CUDA, a failure prints the text with the thread's index and traps. The trap makes every later call on the
/// device a device_error.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/macros.hpp"
#include "ferry/version.hpp"
#if FERRY_IN_DEVICE_CODE
#include <cstdio>
#endif

namespace ferry::inline FERRY_ABI::detail {
#if defined(__CUDACC_RTC__)
// The text of a FERRY_FUNCTOR contains FERRY_ASSERT as the compiler of the program expanded it.
inline void assertion_failed([[maybe_unused]] const char* condition, [[maybe_unused]] const char* text,
                             [[maybe_unused]] const char* file, [[maybe_unused]] int line) {
#ifndef NDEBUG
  ::printf("ferry: %s:%d: assertion failed: %s (%s), thread (%u, %u, %u) of block (%u, %u, %u)\n", file, line,
           condition, text, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z);
  __trap();
#endif
}
#else
[[noreturn]] void assertion_failed(const char* condition, const char* text, const char* file, int line);
#endif
// index: slowest first.
[[noreturn]] void failed_at(const char* why, const std::size_t* index, std::size_t count);
[[noreturn]] void index_failed(const char* array, int dimension, std::size_t index, std::size_t extent);
}  // namespace ferry::inline FERRY_ABI::detail

/// @addtogroup diagnostics
/// @{

/// Checks a condition in a functor, with a text for the error. Removed on devices in release builds.
#if !FERRY_CHECKS
#define FERRY_ASSERT(condition, text) ((void)0)
#elif FERRY_IN_DEVICE_CODE
#define FERRY_ASSERT(condition, text)                                                                                  \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      ::printf("ferry: %s:%d: assertion failed: %s (%s), thread (%u, %u, %u) of block (%u, %u, %u)\n", __FILE__,       \
               __LINE__, #condition, text, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z); \
      __trap();                                                                                                        \
    }                                                                                                                  \
  } while (false)
#else
#define FERRY_ASSERT(condition, text) \
  ((condition) ? (void)0 : ::ferry::detail::assertion_failed(#condition, text, __FILE__, __LINE__))
#endif

/// @}
