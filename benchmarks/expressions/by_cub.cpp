#include "by_cub.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

namespace benchmarks {
namespace {

struct sum_of_two {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct sine_of_two {
  __device__ float operator()(float a, float b) const { return b + 2.f * sinf(a); }
  __device__ double operator()(double a, double b) const { return b + 2. * sin(a); }
};
struct five {
  __device__ float operator()(float a, float b, float c, float d, float e) const { return a * b + c * d - e; }
};

cudaStream_t raw(void* s) { return static_cast<cudaStream_t>(s); }

template <class T, class F>
void transform(void* stream, std::size_t n, const T* a, const T* b, T* y, F f) {
  static_cast<void>(cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b), y, n, f, raw(stream)));
}

template <bool IsRow>
__global__ void add_line(std::size_t vectors, std::size_t columns, const float* a, const float* line, float* y) {
  const std::size_t first = blockIdx.x * std::size_t{512} + threadIdx.x;
  float4 held[2], other[2];
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const std::size_t v = first + u * std::size_t{256};
    if (v >= vectors) continue;
    held[u] = reinterpret_cast<const float4*>(a)[v];
    const unsigned in_row = static_cast<unsigned>(columns / 4), row = static_cast<unsigned>(v) / in_row;
    if (IsRow) {
      other[u] = reinterpret_cast<const float4*>(line)[static_cast<unsigned>(v) - row * in_row];
    } else {
      const float x = line[row];
      other[u] = make_float4(x, x, x, x);
    }
  }
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const std::size_t v = first + u * std::size_t{256};
    if (v >= vectors) continue;
    reinterpret_cast<float4*>(y)[v] =
        make_float4(held[u].x + other[u].x, held[u].y + other[u].y, held[u].z + other[u].z, held[u].w + other[u].w);
  }
}

__global__ void add_elements(std::size_t n, const float* a, const float* b, float* y) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i < n) y[i] = a[i] + b[i];
}

unsigned blocks(std::size_t n, std::size_t each) { return static_cast<unsigned>((n + each - 1) / each); }

}  // namespace

void add_by_cub(void* s, std::size_t n, const float* a, const float* b, float* y) {
  transform(s, n, a, b, y, sum_of_two());
}
void add_by_cub(void* s, std::size_t n, const double* a, const double* b, double* y) {
  transform(s, n, a, b, y, sum_of_two());
}
void sine_by_cub(void* s, std::size_t n, const float* a, const float* b, float* y) {
  transform(s, n, a, b, y, sine_of_two());
}
void sine_by_cub(void* s, std::size_t n, const double* a, const double* b, double* y) {
  transform(s, n, a, b, y, sine_of_two());
}
void five_by_cub(void* s, std::size_t n, const float* const* a, float* y) {
  static_cast<void>(
      cub::DeviceTransform::Transform(cuda::std::make_tuple(a[0], a[1], a[2], a[3], a[4]), y, n, five(), raw(s)));
}
void add_row_by_hand(void* s, std::size_t rows, std::size_t columns, const float* a, const float* row, float* y) {
  const std::size_t vectors = rows * columns / 4;
  add_line<true><<<blocks(vectors, 512), 256, 0, raw(s)>>>(vectors, columns, a, row, y);
}
void add_column_by_hand(void* s, std::size_t rows, std::size_t columns, const float* a, const float* column, float* y) {
  const std::size_t vectors = rows * columns / 4;
  add_line<false><<<blocks(vectors, 512), 256, 0, raw(s)>>>(vectors, columns, a, column, y);
}
void add_by_hand(void* s, std::size_t n, const float* a, const float* b, float* y) {
  add_elements<<<blocks(n, 256), 256, 0, raw(s)>>>(n, a, b, y);
}
void copy_by_driver(void* s, std::size_t bytes, const void* from, void* to) {
  static_cast<void>(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, raw(s)));
}

}  // namespace benchmarks
#endif
