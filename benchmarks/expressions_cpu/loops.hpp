// What the expressions are compared with: plain loops, compiled with -O3.
#pragma once
#include <cstddef>

namespace loops {

void add(float* y, const float* a, const float* b, std::size_t n);
void add(double* y, const double* a, const double* b, std::size_t n);
void add(int* y, const int* a, const int* b, std::size_t n);
void scale_in_place(float* y, float by, std::size_t n);
void five_operands(float* y, const float* a, const float* b, const float* c, const float* d, const float* e,
                   std::size_t n);
void with_root(float* y, const float* a, const float* b, const float* c, std::size_t n);
void with_sine(float* y, const float* a, const float* b, std::size_t n);
void choose(float* y, const float* a, const float* b, std::size_t n);
void to_double(double* y, const float* a, std::size_t n);
// Matrices of rows x columns elements.
void add_row(float* y, const float* a, const float* row, std::size_t rows, std::size_t columns);
void scale_rows_add_row(float* y, const float* a, const float* column, const float* row, std::size_t rows,
                        std::size_t columns);
// a: columns x rows elements. By tiles of 16 x 16.
void transpose(float* y, const float* a, std::size_t rows, std::size_t columns);

}  // namespace loops
