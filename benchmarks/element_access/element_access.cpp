// Do CPU loops over unified arrays run as fast as over raw pointers to the same bytes, and as over vectors?
//
// as: host
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include <ferry/core.hpp>

#include "../support/suite.hpp"
#include "lattice.hpp"
#include "loops.hpp"

namespace bm = benchmarks;

namespace {

constexpr std::size_t n = 1 << 15, rows = 256, columns = 256;
constexpr double inner = double(rows - 2) * (columns - 2);

// Unified arrays, and a raw pointer to each one's bytes, independent of ferry.
struct data {
  ferry::unified_array<float> x{{n}}, y{{n}};
  ferry::unified_array<float, 2> u{{rows, columns}}, v{{rows, columns}};
  float *rx = ferry::host_span(x).data(), *ry = ferry::host_span(y).data();
  float *ru = ferry::host_span(u).data(), *rv = ferry::host_span(v).data();
  data() {
    for (std::size_t i = 0; i < n; ++i) rx[i] = std::sin(0.1f * static_cast<float>(i)), ry[i] = 1;
    for (std::size_t i = 0; i < rows * columns; ++i) ru[i] = std::cos(0.1f * static_cast<float>(i)), rv[i] = 0;
  }
};

// True if a loop leaves the same contents in v as the raw one.
template <class F>
bool same_stencil(data& d, F loop) {
  bm::stencil_raw(d.ru, d.rv, rows, columns);
  const std::vector<float> plain(d.rv, d.rv + rows * columns);
  std::fill(d.rv, d.rv + rows * columns, 0.f);
  loop(d.u, d.v);
  return std::equal(plain.begin(), plain.end(), d.rv);
}
template <class F>
bool same_axpy(data& d, F loop) {
  std::vector<float> plain(d.ry, d.ry + n);
  bm::axpy_raw(2, d.rx, plain.data(), n);
  loop(2, d.x, d.y);
  return std::equal(plain.begin(), plain.end(), d.ry);
}

bool right(data& d) {
  const float sum = bm::sum_raw(d.rx, n);
  return bm::sum_range_for(d.x) == sum && bm::sum_accumulate(d.x) == sum && bm::sum_host(d.x, n) == sum &&
         bm::sum_subscript(d.x, n) == sum && same_stencil(d, bm::stencil_span) && same_stencil(d, bm::stencil_host) &&
         same_stencil(d, bm::stencil_calls) && same_axpy(d, bm::axpy_range_for) &&
         same_axpy(d, [](float a, auto& x, auto& y) { bm::axpy_host(a, x, y, n); });
}

// A loop whose result the compiler must not discard.
template <class F>
bm::timed summing(F f) {
  return bm::on_cpu([f] { benchmark::DoNotOptimize(f()); });
}
template <class F>
bm::timed writing(F f) {
  return bm::on_cpu([f] {
    f();
    benchmark::ClobberMemory();
  });
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {});
  data d;
  if (!right(d)) {
    std::puts("wrong results: nothing was timed");
    return 1;
  }
  const auto raw_sum = summing([&] { return bm::sum_raw(d.rx, n); });
  const auto raw_axpy = writing([&] { bm::axpy_raw(1e-6f, d.rx, d.ry, n); });
  const auto raw_stencil = writing([&] { bm::stencil_raw(d.ru, d.rv, rows, columns); });
  const auto compare = [&](const char* name, bm::timed ours, const bm::timed& raw, double limit, double elements = n) {
    s.add({name, "ns", std::move(ours), "raw pointer", raw,
           limit > 0 ? bm::bound::ratio_at_most(limit) : bm::bound::none(), 0, elements});
  };
  compare("sum, range-for", summing([&] { return bm::sum_range_for(d.x); }), raw_sum, 1.02);
  compare("sum, std::accumulate", summing([&] { return bm::sum_accumulate(d.x); }), raw_sum, 1.02);
  compare("sum, host(u)", summing([&] { return bm::sum_host(d.x, n); }), raw_sum, 1.02);
  compare("sum, checked u[i] (dependent adds)", summing([&] { return bm::sum_subscript(d.x, n); }), raw_sum, 1.05);
  compare("sum, checked u(i, j) (dependent adds)", summing([&] { return bm::sum_calls(d.u, rows, columns); }),
          summing([&] { return bm::sum_raw(d.ru, rows * columns); }), 0, rows * columns);
  compare("axpy, range-for", writing([&] { bm::axpy_range_for(1e-6f, d.x, d.y); }), raw_axpy, 1.02);
  compare("axpy, host_span", writing([&] { bm::axpy_span(1e-6f, d.x, d.y, n); }), raw_axpy, 1.02);
  compare("axpy, host(u)", writing([&] { bm::axpy_host(1e-6f, d.x, d.y, n); }), raw_axpy, 1.02);
  compare("stencil, host_span", writing([&] { bm::stencil_span(d.u, d.v); }), raw_stencil, 1.02, inner);
  compare("stencil, host(u)", writing([&] { bm::stencil_host(d.u, d.v); }), raw_stencil, 1.02, inner);
  compare("stencil, checked u(i, j)", writing([&] { bm::stencil_calls(d.u, d.v); }), raw_stencil, 0, inner);
  using field = ferry::unified_array<double, 2>;
  bm::lattice<field> ours(rows, columns, [](double v) { return field({rows, columns}, v); });
  bm::lattice<bm::vector_field> plain(rows, columns, [](double v) { return bm::vector_field(rows, columns, v); });
  s.add({"lattice Boltzmann step at -O2, u(i, j)", "ns", writing([&] { bm::lattice_step(ours); }), "std::vector",
         writing([&] { bm::lattice_step(plain); }), bm::bound::ratio_at_most(2), 0, inner});
  // Arrays of whole pages, compared with vectors: the comparison is between places in memory, not between loops.
  constexpr std::size_t side = 1024;
  const ferry::unified_array<float, 2> from({side, side}, 1.f);
  ferry::unified_array<float, 2> to({side, side}, 0.f);
  const std::vector<float> plain_from(side * side, 1.f);
  std::vector<float> plain_to(side * side, 0.f);
  s.add({"stencil from 4 MiB to 4 MiB, host_span", "ns", writing([&] { bm::stencil_span(from, to); }), "std::vector",
         writing([&] { bm::stencil_raw(plain_from.data(), plain_to.data(), side, side); }),
         bm::bound::ratio_at_most(1.05), 0, double(side - 2) * (side - 2)});
  return s.run();
}
