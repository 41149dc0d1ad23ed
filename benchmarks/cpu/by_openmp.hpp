// The loops of the benchmark, written by hand with OpenMP.
#pragma once
#include <cstddef>

#include "../../examples/flood/model.hpp"

namespace by_openmp {

int threads();

void copy(const double* a, double* c, std::size_t n);
void mul(double* b, const double* c, double scalar, std::size_t n);
void add(const double* a, const double* b, double* c, std::size_t n);
void triad(double* a, const double* b, const double* c, double scalar, std::size_t n);
double dot(const double* a, const double* b, std::size_t n);
double sum(const double* a, std::size_t n);

// v = mean of the four neighbours in u, but at the edges.
void stencil(const double* u, double* v, std::size_t rows, std::size_t columns);

// One step of the flood in two loops.
void accelerate(const model& m, const double* terrain, const double* water, outflow* flux, std::size_t rows,
                std::size_t columns);
void transport(const model& m, double rain, const outflow* flux, double* water, double* lost, std::size_t rows,
               std::size_t columns);

// y[i] = i.
void number(double* y, std::size_t n);

}  // namespace by_openmp
