// Relaxed atomic operations of device code on objects of 4 or 8 bytes, among all devices and the CPU. Compiled by nvcc
// and by NVRTC.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"
#if FERRY_IN_DEVICE_CODE
#include <type_traits>

namespace ferry::inline FERRY_ABI::detail {

struct relaxed_order {};

// With the interface of std::atomic_ref, as far as ferry::atomic_ref needs it.
template <class T>
class device_atomic {
  using word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;

 public:
  __device__ explicit device_atomic(T* object) : object_(object) {}
  // PTX orders volatile accesses as relaxed ones of the system's scope.
  __device__ T load(relaxed_order) const { return value_of(*const_cast<volatile word*>(words())); }
  __device__ void store(T v, relaxed_order) const { *const_cast<volatile word*>(words()) = word_of(v); }
  __device__ T exchange(T v, relaxed_order) const { return value_of(atomicExch_system(words(), word_of(v))); }
  __device__ T fetch_add(T v, relaxed_order) const {
    if constexpr (std::is_floating_point_v<T>)
      return atomicAdd_system(object_, v);
    else
      return value_of(atomicAdd_system(words(), word_of(v)));
  }
  __device__ T fetch_sub(T v, relaxed_order o) const {
    if constexpr (std::is_floating_point_v<T>)
      return fetch_add(-v, o);
    else
      return value_of(atomicAdd_system(words(), word{0} - word_of(v)));
  }
  __device__ bool compare_exchange_strong(T& expected, T v, relaxed_order, relaxed_order) const {
    const word compared = word_of(expected), found = atomicCAS_system(words(), compared, word_of(v));
    if (found == compared) return true;
    expected = value_of(found);
    return false;
  }

 private:
  __device__ static word word_of(T v) { return __builtin_bit_cast(word, v); }
  __device__ static T value_of(word w) { return __builtin_bit_cast(T, w); }
  __device__ word* words() const { return reinterpret_cast<word*>(object_); }
  T* object_;
};

}  // namespace ferry::inline FERRY_ABI::detail
#endif
