// The loops, compiled with -O3.
//
// as: host
#include "loops.hpp"

#include <algorithm>
#include <cmath>

namespace loops {
namespace {

template <class T>
void add_all(T* __restrict y, const T* a, const T* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

}  // namespace

void add(float* y, const float* a, const float* b, std::size_t n) { add_all(y, a, b, n); }
void add(double* y, const double* a, const double* b, std::size_t n) { add_all(y, a, b, n); }
void add(int* y, const int* a, const int* b, std::size_t n) { add_all(y, a, b, n); }

void scale_in_place(float* y, float by, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] *= by;
}
void five_operands(float* __restrict y, const float* a, const float* b, const float* c, const float* d, const float* e,
                   std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] * b[i] + c[i] * d[i] - e[i];
}
void with_root(float* __restrict y, const float* a, const float* b, const float* c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] * b[i] + c[i] * std::sqrt(a[i]) - 3 * b[i];
}
void with_sine(float* __restrict y, const float* a, const float* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = b[i] + 2 * std::sin(a[i]);
}
void choose(float* __restrict y, const float* a, const float* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] > b[i] ? a[i] : -b[i];
}
void to_double(double* __restrict y, const float* a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = 2 * static_cast<double>(a[i]);
}
void add_row(float* __restrict y, const float* a, const float* row, std::size_t rows, std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) y[i * columns + j] = a[i * columns + j] + row[j];
}
void scale_rows_add_row(float* __restrict y, const float* a, const float* column, const float* row, std::size_t rows,
                        std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) y[i * columns + j] = a[i * columns + j] * column[i] + row[j];
}
void transpose(float* __restrict y, const float* a, std::size_t rows, std::size_t columns) {
  constexpr std::size_t tile = 16;
  for (std::size_t i = 0; i < rows; i += tile)
    for (std::size_t j = 0; j < columns; j += tile)
      for (std::size_t k = i; k < std::min(i + tile, rows); ++k)
        for (std::size_t l = j; l < std::min(j + tile, columns); ++l) y[k * columns + l] = a[l * rows + k];
}

}  // namespace loops
