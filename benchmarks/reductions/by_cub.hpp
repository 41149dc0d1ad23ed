// Reductions, scans and histograms by CUB, for comparison.
#pragma once
#include <cstddef>

namespace benchmarks {

// Bytes of scratch memory for any of these, for n elements.
std::size_t cub_reduction_scratch(std::size_t n);
struct cub_memory {
  void* stream;  // native
  void* scratch;
  std::size_t bytes;
};
void sum_by_cub(const cub_memory& m, std::size_t n, const float* a, float* y);
void sum_by_cub(const cub_memory& m, std::size_t n, const double* a, double* y);
// Position and value of the first greatest element.
void argmax_by_cub(const cub_memory& m, std::size_t n, const float* a, float* y, long long* at);
void scan_by_cub(const cub_memory& m, std::size_t n, const float* a, float* y);
void scan_by_cub(const cub_memory& m, std::size_t n, const double* a, double* y);
// 256 bins of [0, 256).
void histogram_by_cub(const cub_memory& m, std::size_t n, const int* a, unsigned* counts);

}  // namespace benchmarks
