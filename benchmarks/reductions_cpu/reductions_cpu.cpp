// Reductions of array expressions on simulated devices, which the CPU interprets, against vectorized loops. 64 MiB an
// array. Ratios of GB/s of the arrays that are read. The interpreter uses all cores and the loops one: run it on one
// core (taskset -c 0) to compare them alone.
//
// as: host
#include <benchmark/benchmark.h>

#include <vector>

#include "../support/suite.hpp"
#include "ferry/core/host.hpp"
#include "ferry/core/reduce.hpp"
#include "ferry/core/runtime.hpp"

namespace bm = benchmarks;
namespace fr = ferry;

namespace {

constexpr std::size_t bytes = std::size_t{64} << 20, n = bytes / sizeof(float), side = 4096, short_rows = 4, lanes = 32;

// Sums in as many lanes as the interpreter, so that the compiler can vectorize them.
float sum_of(const float* x, const float* y) {
  float part[lanes] = {};
  for (std::size_t i = 0; i + lanes <= n; i += lanes)
    for (std::size_t j = 0; j < lanes; ++j) part[j] += y ? x[i + j] * y[i + j] : x[i + j];
  float all = 0;
  for (const float p : part) all += p;
  return all;
}
void columns_of(const float* x, float* sum, std::size_t columns) {
  for (std::size_t i = 0; i < n; i += columns)
    for (std::size_t j = 0; j < columns; ++j) sum[j] += x[i + j];
}
void rows_of(const float* x, float* sum, std::size_t columns) {
  for (std::size_t i = 0; i < n; i += columns) {
    float all = 0;
    for (std::size_t j = 0; j < columns; ++j) all += x[i + j];
    sum[i / columns] = all;
  }
}

template <class Ours, class Loop>
void compare(bm::suite& s, const char* name, double arrays, Ours ours, Loop loop) {
  const auto run = [ours] {
    ours();
    fr::synchronize();
  };
  s.add({name, "GB/s", bm::on_cpu(run), "a loop by -O3", bm::on_cpu(loop), bm::bound::none(),
         arrays * static_cast<double>(bytes)});
}

}  // namespace

int main(int argc, char** argv) {
  const fr::simulation sim("devices=1");
  bm::suite s(argc, argv, {21, 50});
  fr::host_array<float, 1> a({n}), b({n});
  a = fr::cast<float>(fr::index(0) % 1000), b = fr::cast<float>(fr::index(0) % 7);
  auto square = a.reshape(fr::extents<2>{side, side}), narrow = a.reshape(fr::extents<2>{n / short_rows, short_rows});
  fr::host_array<float, 1> sums({side}), few({short_rows}), many({n / short_rows});
  fr::host_array<float, 0> total{fr::extents<0>()};
  fr::host_array<std::int64_t, 0> where{fr::extents<0>()};
  fr::synchronize();
  const float *x = a.unsynchronized_data(), *y = b.unsynchronized_data();
  std::vector<float> to(n / short_rows);
  float kept = 0;
  const auto one = [&] { benchmark::DoNotOptimize(kept = sum_of(x, nullptr)); };
  const auto two = [&] { benchmark::DoNotOptimize(kept = sum_of(x, y)); };

  compare(
      s, "sum(a)", 1, [&] { total = fr::sum(a); }, one);
  compare(
      s, "sum(a b)", 2, [&] { total = fr::sum(a * b); }, two);
  compare(
      s, "max(a)", 1, [&] { total = fr::max(a); }, one);
  compare(
      s, "argmax(a)", 1, [&] { where = fr::argmax(a); }, one);
  compare(
      s, "var(a)", 1, [&] { total = fr::var(a); }, one);
  compare(
      s, "columns, 4096 x 4096", 1, [&] { sums = fr::sum(square, fr::axes{0}); },
      [&] { columns_of(x, to.data(), side); });
  compare(
      s, "rows, 4096 x 4096", 1, [&] { sums = fr::sum(square, fr::axes{1}); }, [&] { rows_of(x, to.data(), side); });
  compare(
      s, "columns, n x 4", 1, [&] { few = fr::sum(narrow, fr::axes{0}); },
      [&] { columns_of(x, to.data(), short_rows); });
  compare(
      s, "rows, n x 4", 1, [&] { many = fr::sum(narrow, fr::axes{1}); }, [&] { rows_of(x, to.data(), short_rows); });
  return s.run();
}
