#include "by_cub.hpp"

#if defined(__CUDACC__)
#include <algorithm>

#include <cuda_runtime.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

namespace benchmarks {
namespace {

cudaStream_t raw(void* s) { return static_cast<cudaStream_t>(s); }

}  // namespace

void sum_by_cub(const cub_memory& m, std::size_t n, const float* a, float* y) {
  std::size_t bytes = m.bytes;
  static_cast<void>(cub::DeviceReduce::Sum(m.scratch, bytes, a, y, n, raw(m.stream)));
}
void sum_by_cub(const cub_memory& m, std::size_t n, const double* a, double* y) {
  std::size_t bytes = m.bytes;
  static_cast<void>(cub::DeviceReduce::Sum(m.scratch, bytes, a, y, n, raw(m.stream)));
}
void argmax_by_cub(const cub_memory& m, std::size_t n, const float* a, float* y, long long* at) {
  std::size_t bytes = m.bytes;
  static_cast<void>(cub::DeviceReduce::ArgMax(m.scratch, bytes, a, y, at, static_cast<long long>(n), raw(m.stream)));
}
void scan_by_cub(const cub_memory& m, std::size_t n, const float* a, float* y) {
  std::size_t bytes = m.bytes;
  static_cast<void>(cub::DeviceScan::InclusiveSum(m.scratch, bytes, a, y, n, raw(m.stream)));
}
void scan_by_cub(const cub_memory& m, std::size_t n, const double* a, double* y) {
  std::size_t bytes = m.bytes;
  static_cast<void>(cub::DeviceScan::InclusiveSum(m.scratch, bytes, a, y, n, raw(m.stream)));
}
void histogram_by_cub(const cub_memory& m, std::size_t n, const int* a, unsigned* counts) {
  std::size_t bytes = m.bytes;
  static_cast<void>(cub::DeviceHistogram::HistogramEven(m.scratch, bytes, a, counts, 257, 0, 256,
                                                        static_cast<long long>(n), raw(m.stream)));
}

std::size_t cub_reduction_scratch(std::size_t n) {
  std::size_t most = 1 << 20;
  const auto take = [&](auto call) {
    std::size_t bytes = 0;
    static_cast<void>(call(bytes));
    most = std::max(most, bytes);
  };
  const float* a = nullptr;
  float* y = nullptr;
  take([&](std::size_t& b) { return cub::DeviceReduce::Sum(nullptr, b, a, y, n); });
  take([&](std::size_t& b) {
    return cub::DeviceReduce::ArgMax(nullptr, b, a, y, static_cast<long long*>(nullptr), static_cast<long long>(n));
  });
  take([&](std::size_t& b) {
    return cub::DeviceScan::InclusiveSum(nullptr, b, static_cast<const double*>(nullptr), static_cast<double*>(nullptr),
                                         n);
  });
  take([&](std::size_t& b) {
    return cub::DeviceHistogram::HistogramEven(nullptr, b, static_cast<const int*>(nullptr),
                                               static_cast<unsigned*>(nullptr), 257, 0, 256, static_cast<long long>(n));
  });
  return most;
}

}  // namespace benchmarks
#endif
