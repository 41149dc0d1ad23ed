#include "by_cub.hpp"

#if defined(__CUDACC__)
#include <algorithm>

#include <cuda_runtime.h>
#include <cub/device/device_radix_sort.cuh>

namespace benchmarks {
namespace {

cudaStream_t raw(void* s) { return static_cast<cudaStream_t>(s); }
unsigned count(std::size_t n) { return static_cast<unsigned>(n); }

}  // namespace

std::size_t cub_sorting_scratch(std::size_t n) {
  std::size_t keys = 0, pairs = 0;
  const float* from = nullptr;
  const unsigned* positions = nullptr;
  static_cast<void>(cub::DeviceRadixSort::SortKeys(nullptr, keys, from, static_cast<float*>(nullptr), count(n)));
  static_cast<void>(cub::DeviceRadixSort::SortPairs(nullptr, pairs, from, static_cast<float*>(nullptr), positions,
                                                    static_cast<unsigned*>(nullptr), count(n)));
  return std::max(keys, pairs);
}
void sort_by_cub(void* s, std::size_t n, void* scratch, std::size_t bytes, const int* from, int* to) {
  static_cast<void>(cub::DeviceRadixSort::SortKeys(scratch, bytes, from, to, count(n), 0, 32, raw(s)));
}
void sort_by_cub(void* s, std::size_t n, void* scratch, std::size_t bytes, const float* from, float* to) {
  static_cast<void>(cub::DeviceRadixSort::SortKeys(scratch, bytes, from, to, count(n), 0, 32, raw(s)));
}
void sort_pairs_by_cub(void* s, std::size_t n, void* scratch, std::size_t bytes, const float* from, float* to,
                       const unsigned* positions_from, unsigned* positions) {
  static_cast<void>(
      cub::DeviceRadixSort::SortPairs(scratch, bytes, from, to, positions_from, positions, count(n), 0, 32, raw(s)));
}

}  // namespace benchmarks
#endif
