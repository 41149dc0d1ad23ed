// The same operations by CUB and by hand, for comparison.
#pragma once
#include <cstddef>

namespace benchmarks {

// By cub::DeviceTransform, on a native stream.
void add_by_cub(void* stream, std::size_t n, const float* a, const float* b, float* y);
void add_by_cub(void* stream, std::size_t n, const double* a, const double* b, double* y);
void sine_by_cub(void* stream, std::size_t n, const float* a, const float* b, float* y);
void sine_by_cub(void* stream, std::size_t n, const double* a, const double* b, double* y);
void five_by_cub(void* stream, std::size_t n, const float* const* a, float* y);
// By a kernel of vectors of 16 bytes: y[i, j] = a[i, j] + row[j], and + column[i]. Requires columns % 4 == 0.
void add_row_by_hand(void* stream, std::size_t rows, std::size_t columns, const float* a, const float* row, float* y);
void add_column_by_hand(void* stream, std::size_t rows, std::size_t columns, const float* a, const float* column,
                        float* y);
// One launch of a kernel without work beyond y[i] = a[i] + b[i].
void add_by_hand(void* stream, std::size_t n, const float* a, const float* b, float* y);
void copy_by_driver(void* stream, std::size_t bytes, const void* from, void* to);

}  // namespace benchmarks
