// Do kernels on the CPU as the device (FERRY_BACKEND=cpu) run as fast as loops by hand with OpenMP? Both sides use all
// cores that the process may use, each with its own threads, and neither is bound to them: run it on a quiet machine.
//
// as: host
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <ferry/ferry.hpp>

#include "../support/suite.hpp"
#include "by_openmp.hpp"

namespace bm = benchmarks;
namespace fr = ferry;

namespace {

constexpr double scalar = 0.4;

// BabelStream's kernels, on pointers and on spans.
struct copy_pointers {
  void operator()(std::size_t i, const double* a, double* c) const { c[i] = a[i]; }
};
struct mul_pointers {
  void operator()(std::size_t i, double* b, const double* c) const { b[i] = scalar * c[i]; }
};
struct add_pointers {
  void operator()(std::size_t i, const double* a, const double* b, double* c) const { c[i] = a[i] + b[i]; }
};
struct triad_pointers {
  void operator()(std::size_t i, double* a, const double* b, const double* c) const { a[i] = b[i] + scalar * c[i]; }
};
struct dot_pointers {
  double operator()(std::size_t i, const double* a, const double* b) const { return a[i] * b[i]; }
};
using line = fr::mdspan<double, 1>;
using const_line = fr::mdspan<const double, 1>;
struct copy_spans {
  void operator()(std::size_t i, const_line a, line c) const { c[i] = a[i]; }
};
struct mul_spans {
  void operator()(std::size_t i, line b, const_line c) const { b[i] = scalar * c[i]; }
};
struct add_spans {
  void operator()(std::size_t i, const_line a, const_line b, line c) const { c[i] = a[i] + b[i]; }
};
struct triad_spans {
  void operator()(std::size_t i, line a, const_line b, const_line c) const { a[i] = b[i] + scalar * c[i]; }
};
struct dot_spans {
  double operator()(std::size_t i, const_line a, const_line b) const { return a[i] * b[i]; }
};

struct mean_of_neighbours {
  void operator()(std::size_t i, std::size_t j, fr::mdspan<const double, 2> u, fr::mdspan<double, 2> v) const {
    ++i, ++j;
    v(i, j) = 0.25 * (u(i - 1, j) + u(i, j - 1) + u(i, j + 1) + u(i + 1, j));
  }
};
struct number {
  void operator()(std::size_t i, double* y) const { y[i] = static_cast<double>(i); }
};
struct nothing {
  void operator()(std::size_t) const {}
};

// Threads of the other side spin for a while after their last loop. So each side rests before it begins, and repeats
// its work once, which wakes its own threads.
template <class F>
bm::timed rested(F body) {
  return [body, run = bm::on_cpu(body)](std::size_t n) mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    body();
    return run(n);
  };
}

struct comparisons {
  bm::suite& s;
  template <class Ours, class Loop>
  void rate(const std::string& name, double bytes, Ours ours, Loop loop, double least) const {
    s.add({name, "GB/s", rested(ours), "OpenMP", rested(loop),
           least > 0 ? bm::bound::ratio_at_least(least) : bm::bound::none(), bytes});
  }
  template <class Ours, class Loop>
  void time(const std::string& name, const char* unit, Ours ours, Loop loop, bm::bound limit) const {
    s.add({name, unit, rested(ours), "OpenMP", rested(loop), limit});
  }
};

// Arrays of n doubles, in pairs: ferry's, and those of OpenMP.
struct arrays {
  std::size_t n;
  fr::device_array<double> a{{n}, 0.1}, b{{n}, 0.2}, c{{n}, 0.3};
  std::vector<double> pa = std::vector<double>(n, 0.1), pb = std::vector<double>(n, 0.2), pc = pb;
  double kept = 0;
  double bytes(int how_many) const { return how_many * static_cast<double>(n * sizeof(double)); }
};

template <class Copy, class Mul, class Add, class Triad, class Dot>
void babel_stream(comparisons to, arrays& x, const std::string& where, double least) {
  to.rate(
      "copy" + where, x.bytes(2), [&] { fr::parallel_for(x.n, Copy{}, fr::in(x.a), fr::out(x.c)); },
      [&] { by_openmp::copy(x.pa.data(), x.pc.data(), x.n); }, least);
  to.rate(
      "mul" + where, x.bytes(2), [&] { fr::parallel_for(x.n, Mul{}, fr::out(x.b), fr::in(x.c)); },
      [&] { by_openmp::mul(x.pb.data(), x.pc.data(), scalar, x.n); }, least);
  to.rate(
      "add" + where, x.bytes(3), [&] { fr::parallel_for(x.n, Add{}, fr::in(x.a), fr::in(x.b), fr::out(x.c)); },
      [&] { by_openmp::add(x.pa.data(), x.pb.data(), x.pc.data(), x.n); }, least);
  to.rate(
      "triad" + where, x.bytes(3), [&] { fr::parallel_for(x.n, Triad{}, fr::out(x.a), fr::in(x.b), fr::in(x.c)); },
      [&] { by_openmp::triad(x.pa.data(), x.pb.data(), x.pc.data(), scalar, x.n); }, least);
  to.rate(
      "dot" + where, x.bytes(2),
      [&] { x.kept += fr::parallel_reduce(x.n, Dot{}, fr::plus{}, fr::in(x.a), fr::in(x.b)).value(); },
      [&] { benchmark::DoNotOptimize(x.kept = by_openmp::dot(x.pa.data(), x.pb.data(), x.n)); }, least);
}

// A step of the flood without halos: on one device, or by hand.
struct flood {
  std::size_t rows, columns;
  model m{92, 74};
  double rain = 1e-4;
  fr::sharded_array<double, 2> terrain{fr::team(fr::devices()), {rows, columns}, {.halo = 1}}, water = empty(),
                                                                                               lost = empty();
  fr::sharded_array<outflow, 2> flux{terrain.team(), {rows, columns}, {.halo = 1}};
  std::vector<double> of_terrain = std::vector<double>(rows * columns), of_water = of_terrain, of_lost = of_terrain;
  std::vector<outflow> of_flux = std::vector<outflow>(rows * columns);

  fr::sharded_array<double, 2> empty() const { return {terrain.team(), {rows, columns}, {.halo = 1}}; }
  flood(std::size_t r, std::size_t c) : rows(r), columns(c) {
    fr::unified_array<double, 2> heights({rows, columns});
    const auto h = fr::host(heights);
    for (std::size_t i = 0; i != rows; ++i)
      for (std::size_t j = 0; j != columns; ++j)
        h(i, j) = of_terrain[i * columns + j] =
            200 + 100 * std::sin(0.02 * static_cast<double>(i)) * std::cos(0.03 * static_cast<double>(j));
    fr::copy(heights, terrain);
    fr::fill(water, 0.), fr::fill(lost, 0.), fr::fill(flux, outflow{});
    fr::exchange_halos(terrain, water);
  }
  void step() {
    fr::parallel_for(fr::owned(flux), accelerate{m}, fr::in(terrain), fr::in(water), fr::inout(flux));
    fr::exchange_halos(flux);
    fr::parallel_for(fr::owned(water), transport{m, rain}, fr::in(flux), fr::inout(water), fr::inout(lost));
    fr::exchange_halos(water);
  }
  void step_by_hand() {
    by_openmp::accelerate(m, of_terrain.data(), of_water.data(), of_flux.data(), rows, columns);
    by_openmp::transport(m, rain, of_flux.data(), of_water.data(), of_lost.data(), rows, columns);
  }
  bool is_right() {
    for (int k = 0; k != 20; ++k) step(), step_by_hand();
    const auto values = fr::to_vector(water);
    return values == of_water && fr::to_vector(lost) == of_lost;
  }
};

}  // namespace

int main(int argc, char** argv) {
  ::setenv("FERRY_BACKEND", "cpu", 0);
  bm::suite s(argc, argv, {.rounds = 21, .milliseconds = 40});
  if (fr::runtime::current().backend().name() != "cpu") return std::puts("not timed: needs FERRY_BACKEND=cpu"), 77;
  const comparisons to{s};

  arrays large{std::size_t{1} << 24}, small{std::size_t{1} << 16};
  babel_stream<copy_pointers, mul_pointers, add_pointers, triad_pointers, dot_pointers>(
      to, large, ", 128 MiB an array, pointers", 0.9);
  babel_stream<copy_spans, mul_spans, add_spans, triad_spans, dot_spans>(to, large, ", 128 MiB an array, spans", 0.9);
  babel_stream<copy_spans, mul_spans, add_spans, triad_spans, dot_spans>(to, small, ", 512 KiB an array, spans", 0);
  to.rate(
      "sum(a), 128 MiB, expression", large.bytes(1), [&] { large.kept += static_cast<double>(fr::sum(large.a)); },
      [&] { benchmark::DoNotOptimize(large.kept = by_openmp::sum(large.pa.data(), large.n)); }, 0.9);
  to.rate(
      "sum(a b), 128 MiB an array, expression", large.bytes(2),
      [&] { large.kept += static_cast<double>(fr::sum(large.a * large.b)); },
      [&] { benchmark::DoNotOptimize(large.kept = by_openmp::dot(large.pa.data(), large.pb.data(), large.n)); }, 0.9);
  to.rate(
      "a = b + 0.4 c, 128 MiB an array, expression", large.bytes(3), [&] { large.a = large.b + scalar * large.c; },
      [&] { by_openmp::triad(large.pa.data(), large.pb.data(), large.pc.data(), scalar, large.n); }, 0);

  constexpr std::size_t side = 2048;
  fr::device_array<double, 2> u({side, side}, 1.), v({side, side}, 1.);
  std::vector<double> pu(side * side, 1.), pv = pu;
  to.rate(
      "stencil of 5 points, 2048 x 2048 doubles", 2. * sizeof(double) * (side - 2) * (side - 2),
      [&] {
        fr::parallel_for({side - 2, side - 2}, mean_of_neighbours{}, fr::in(u), fr::inout(v));
      },
      [&] { by_openmp::stencil(pu.data(), pv.data(), side, side); }, 0.8);

  flood f(1024, 1024);
  if (!f.is_right()) return std::puts("wrong results: nothing was timed"), 1;
  to.time(
      "a step of the flood, 1024 x 1024 cells", "us", [&] { f.step(); }, [&] { f.step_by_hand(); },
      bm::bound::ratio_at_most(1 / 0.8));

  fr::device_array<double> few({4096});
  std::vector<double> numbers(4096);
  to.time(
      "launch over 4096 elements", "us", [&] { fr::parallel_for(4096, number{}, fr::out(few)); },
      [&] { by_openmp::number(numbers.data(), numbers.size()); }, bm::bound::value_at_most(3, "us"));
  s.add({"launch of an empty kernel",
         "us",
         rested([] { fr::parallel_for(fr::default_stream(fr::devices()[0]), 1, nothing{}); }),
         "",
         {},
         bm::bound::value_at_most(3, "us")});
  return s.run();
}
