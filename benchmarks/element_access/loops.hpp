// The compared loops, each over raw addresses and over a unified array. They are separate functions, so that a loop is
// compiled the same for every caller.
#pragma once
#include <cstddef>
#include <numeric>

#include <ferry/core.hpp>

// Not specialized for its caller, and with aligned loops: otherwise the code address of a loop changes its speed by
// about 5 %.
#if defined(__clang__)
#define BENCHMARK_LOOP __attribute__((noinline))
#else
#define BENCHMARK_LOOP __attribute__((noipa, optimize("align-loops=64")))
#endif

namespace benchmarks {

BENCHMARK_LOOP inline float sum_raw(const float* x, std::size_t n) {
  float s = 0;
  for (std::size_t i = 0; i < n; ++i) s += x[i];
  return s;
}
BENCHMARK_LOOP inline float sum_range_for(const ferry::unified_array<float>& x) {
  float s = 0;
  for (const float e : x) s += e;
  return s;
}
BENCHMARK_LOOP inline float sum_accumulate(const ferry::unified_array<float>& x) {
  return std::accumulate(x.begin(), x.end(), 0.f);
}
BENCHMARK_LOOP inline float sum_host(const ferry::unified_array<float>& x, std::size_t n) {
  const auto h = ferry::host(x);
  float s = 0;
  for (std::size_t i = 0; i < n; ++i) s += h(i);
  return s;
}
BENCHMARK_LOOP inline float sum_subscript(const ferry::unified_array<float>& x, std::size_t n) {
  float s = 0;
  for (std::size_t i = 0; i < n; ++i) s += x[i];
  return s;
}

BENCHMARK_LOOP inline float sum_calls(const ferry::unified_array<float, 2>& x, std::size_t rows, std::size_t columns) {
  float s = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) s += x(i, j);
  return s;
}

BENCHMARK_LOOP inline void axpy_raw(float a, const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}
BENCHMARK_LOOP inline void axpy_span(float a, const ferry::unified_array<float>& x, ferry::unified_array<float>& y,
                                     std::size_t n) {
  const float* hx = ferry::host_span(x).data();
  float* hy = ferry::host_span(y).data();
  for (std::size_t i = 0; i < n; ++i) hy[i] += a * hx[i];
}
BENCHMARK_LOOP inline void axpy_range_for(float a, const ferry::unified_array<float>& x,
                                          ferry::unified_array<float>& y) {
  const float* from = x.begin();
  for (float& e : y) e += a * *from++;
}
BENCHMARK_LOOP inline void axpy_host(float a, const ferry::unified_array<float>& x, ferry::unified_array<float>& y,
                                     std::size_t n) {
  const auto hx = ferry::host(x);
  const auto hy = ferry::host(y);
  for (std::size_t i = 0; i < n; ++i) hy(i) += a * hx(i);
}

BENCHMARK_LOOP inline void stencil_raw(const float* u, float* v, std::size_t rows, std::size_t columns) {
  for (std::size_t i = 1; i + 1 < rows; ++i)
    for (std::size_t j = 1; j + 1 < columns; ++j) {
      const std::size_t at = i * columns + j;
      v[at] = 0.25f * (u[at - columns] + u[at - 1] + u[at + 1] + u[at + columns]);
    }
}
BENCHMARK_LOOP inline void stencil_span(const ferry::unified_array<float, 2>& u, ferry::unified_array<float, 2>& v) {
  const std::size_t rows = u.extent(0), columns = u.extent(1);
  const float* hu = ferry::host_span(u).data();
  float* hv = ferry::host_span(v).data();
  for (std::size_t i = 1; i + 1 < rows; ++i)
    for (std::size_t j = 1; j + 1 < columns; ++j) {
      const std::size_t at = i * columns + j;
      hv[at] = 0.25f * (hu[at - columns] + hu[at - 1] + hu[at + 1] + hu[at + columns]);
    }
}
BENCHMARK_LOOP inline void stencil_host(const ferry::unified_array<float, 2>& u, ferry::unified_array<float, 2>& v) {
  const auto h = ferry::host(u);
  const auto to = ferry::host(v);
  for (std::size_t i = 1; i + 1 < u.extent(0); ++i)
    for (std::size_t j = 1; j + 1 < u.extent(1); ++j)
      to(i, j) = 0.25f * (h(i - 1, j) + h(i, j - 1) + h(i, j + 1) + h(i + 1, j));
}
BENCHMARK_LOOP inline void stencil_calls(const ferry::unified_array<float, 2>& u, ferry::unified_array<float, 2>& v) {
  for (std::size_t i = 1; i + 1 < u.extent(0); ++i)
    for (std::size_t j = 1; j + 1 < u.extent(1); ++j)
      v(i, j) = 0.25f * (u(i - 1, j) + u(i, j - 1) + u(i, j + 1) + u(i + 1, j));
}

}  // namespace benchmarks
