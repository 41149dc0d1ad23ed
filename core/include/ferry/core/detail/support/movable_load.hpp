// Loads of counters that each element access compares.
#pragma once
#include <atomic>

#include "ferry/core/detail/support/internal.hpp"

#if defined(__SANITIZE_THREAD__)
#define FERRY_DETAIL_SANITIZES_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FERRY_DETAIL_SANITIZES_THREADS 1
#endif
#endif

namespace ferry::inline FERRY_ABI::detail {

// As a.load(std::memory_order_acquire), each time, but the compiler keeps other values in registers across it. g++ 12
// and clang++ 14 load them again after each atomic operation, which makes a loop over elements several times slower.
template <class T>
inline T movable_load(const std::atomic<T>& a) {
#if defined(__x86_64__) && !defined(FERRY_DETAIL_SANITIZES_THREADS)
  static_assert(std::atomic<T>::is_always_lock_free && sizeof(std::atomic<T>) == sizeof(T));
  return *reinterpret_cast<const volatile T*>(&a);  // the processor orders loads
#else
  return a.load(std::memory_order_acquire);
#endif
}

}  // namespace ferry::inline FERRY_ABI::detail
