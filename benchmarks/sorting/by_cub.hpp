// Sorting by CUB, for comparison.
#pragma once
#include <cstddef>
#include <cstdint>

namespace benchmarks {

// Bytes of scratch memory for sorting n keys, or n keys with positions of 4 bytes.
std::size_t cub_sorting_scratch(std::size_t n);
// By cub::DeviceRadixSort, on a native stream.
void sort_by_cub(void* stream, std::size_t n, void* scratch, std::size_t bytes, const int* from, int* to);
void sort_by_cub(void* stream, std::size_t n, void* scratch, std::size_t bytes, const float* from, float* to);
void sort_pairs_by_cub(void* stream, std::size_t n, void* scratch, std::size_t bytes, const float* from, float* to,
                       const unsigned* positions_from, unsigned* positions);

}  // namespace benchmarks
