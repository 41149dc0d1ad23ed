/// @file
/// Atomic operations on elements from inside functors, on devices and on the CPU.
#pragma once
#include <type_traits>

#include "ferry/core/detail/kernels/device_atomics.hpp"
#include "ferry/core/macros.hpp"
#include "ferry/version.hpp"
#if !FERRY_IN_DEVICE_CODE
#include <atomic>
#endif

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// Relaxed atomic operations on an object, among all threads of all devices and the CPU.
/// @tparam T arithmetic type of 4 or 8 bytes
/// @note In pinned host memory they are atomic only on GPUs with native atomics over their bus
///   (cudaDevAttrHostNativeAtomicSupported), which excludes PCIe. Use device or unified arrays instead.
template <class T>
class atomic_ref {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "ferry::atomic_ref needs an arithmetic type of 4 or 8 bytes");

 public:
  FERRY_HOST_DEVICE explicit atomic_ref(T& object) : object_(&object) {}
  /// Current value.
  FERRY_HOST_DEVICE T load() const { return object().load(relaxed); }
  /// Replaces the value by v.
  FERRY_HOST_DEVICE void store(T v) const { object().store(v, relaxed); }
  /// Replaces the value by v and returns the previous one.
  FERRY_HOST_DEVICE T exchange(T v) const { return object().exchange(v, relaxed); }
  /// Adds v. This and the following functions return the value before the operation.
  FERRY_HOST_DEVICE T fetch_add(T v) const { return object().fetch_add(v, relaxed); }
  /// Subtracts v.
  FERRY_HOST_DEVICE T fetch_sub(T v) const { return object().fetch_sub(v, relaxed); }
  /// Replaces the value by v if v is less.
  FERRY_HOST_DEVICE T fetch_min(T v) const {
    return update([&](T now) { return v < now ? v : now; });
  }
  /// Replaces the value by v if v is greater.
  FERRY_HOST_DEVICE T fetch_max(T v) const {
    return update([&](T now) { return now < v ? v : now; });
  }
  /// Replaces the value by v if it equals `expected`; otherwise stores the value in `expected`.
  /// @return true if the value was replaced
  FERRY_HOST_DEVICE bool compare_exchange(T& expected, T v) const {
    return object().compare_exchange_strong(expected, v, relaxed, relaxed);
  }

 private:
#if FERRY_IN_DEVICE_CODE
  static constexpr detail::relaxed_order relaxed{};
  __host__ __device__ auto object() const { return detail::device_atomic<T>(object_); }
#else
  static constexpr auto relaxed = std::memory_order_relaxed;
  FERRY_HOST_DEVICE auto object() const { return std::atomic_ref<T>(*object_); }
#endif
  template <class Next>
  FERRY_HOST_DEVICE T update(Next next) const {
    T now = load();
    while (!compare_exchange(now, next(now))) {
    }
    return now;
  }
  T* object_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
