#include "generator/scan_functions.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

// Lanes of a warp exchange cells in words, because cells may have any type. Blocks exchange cells through memory, where
// each 8 bytes have a flag, which is a number other than 0. That memory is cleared before the kernel starts.
constexpr std::string_view scan_function_text = R"(template <class T, class Word>
union words {
  T v;
  Word w[(sizeof(T) + sizeof(Word) - 1) / sizeof(Word)];
  __device__ words() : w() {}
};
template <class T>
__device__ inline T of_lane_before(T v, unsigned by, unsigned lanes) {
  words<T, unsigned> x;
  x.v = v;
#pragma unroll
  for (unsigned k = 0; k < sizeof(x.w) / 4; ++k) x.w[k] = __shfl_up_sync(0xffffffffu, x.w[k], by, lanes);
  return x.v;
}
template <class T>
__device__ inline T of_lane_across(T v, unsigned mask) {
  words<T, unsigned> x;
  x.v = v;
#pragma unroll
  for (unsigned k = 0; k < sizeof(x.w) / 4; ++k) x.w[k] = __shfl_xor_sync(0xffffffffu, x.w[k], mask);
  return x.v;
}
template <class T>
struct packet {
  static constexpr unsigned parts = (sizeof(T) + 7) / 8;
  unsigned long long part[parts], flag[parts];
  __device__ packet() {
#pragma unroll
    for (unsigned k = 0; k < parts; ++k) flag[k] = 0;
  }
  __device__ inline void read(const packet* from) {
#pragma unroll
    for (unsigned k = 0; k < parts; ++k)
      asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(part[k]), "=l"(flag[k])
                   : "l"((const unsigned long long*)from + 2 * k)
                   : "memory");
  }
  __device__ inline bool has(unsigned long long number) const {
    bool all = true;
#pragma unroll
    for (unsigned k = 0; k < parts; ++k) all = all && flag[k] == number;
    return all;
  }
  // After read().
  __device__ inline T wait(const packet* from, unsigned long long number) {
    while (!has(number)) read(from);
    words<T, unsigned long long> x;
#pragma unroll
    for (unsigned k = 0; k < parts; ++k) x.w[k] = part[k];
    return x.v;
  }
  __device__ static inline void publish(packet* to, T v, unsigned long long number) {
    words<T, unsigned long long> x;
    x.v = v;
#pragma unroll
    for (unsigned k = 0; k < parts; ++k)
      asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
                   :
                   : "l"((unsigned long long*)to + 2 * k), "l"(x.w[k]), "l"(number)
                   : "memory");
  }
};
)";

}  // namespace

std::string_view scan_functions() { return scan_function_text; }

}  // namespace ferry::inline FERRY_ABI::detail::generator
