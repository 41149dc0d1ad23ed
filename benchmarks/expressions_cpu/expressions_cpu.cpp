// Array expressions on simulated devices, which the CPU interprets, against loops compiled with -O3. 64 MiB an array.
// Ratios of GB/s of the arrays that are read and written. The interpreter uses all cores and the loops one: run it on
// one core (taskset -c 0) to compare them alone.
//
// as: host
#include <benchmark/benchmark.h>

#include "../support/suite.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/core/host.hpp"
#include "ferry/core/make.hpp"
#include "ferry/core/math.hpp"
#include "ferry/core/runtime.hpp"
#include "loops.hpp"

namespace bm = benchmarks;
namespace fr = ferry;

namespace {

constexpr std::size_t bytes = std::size_t{64} << 20, n = bytes / sizeof(float), side = 4096, short_columns = 3;

template <class T>
T* data(fr::host_array<T, 1>& a) {
  return a.unsynchronized_data();
}
template <class T>
fr::host_array<T, 1> filled(int from) {
  fr::host_array<T, 1> a({bytes / sizeof(T)});
  a = fr::cast<T>(fr::index(0) % 1000 + from);
  fr::synchronize();
  return a;
}

// One comparison: both sides move `arrays` arrays of 64 MiB.
template <class Ours, class Loop>
void compare(bm::suite& s, const char* name, double arrays, Ours ours, Loop loop, bm::bound limit) {
  const auto run = [ours] {
    ours();
    fr::synchronize();
  };
  s.add({name, "GB/s", bm::on_cpu(run), "a loop by -O3", bm::on_cpu(loop), limit, arrays * static_cast<double>(bytes)});
}

}  // namespace

int main(int argc, char** argv) {
  const fr::simulation sim("devices=1");
  bm::suite s(argc, argv, {21, 50});
  const bm::bound memory_bound = bm::bound::ratio_at_least(0.7), none = bm::bound::none();
  auto y = filled<float>(0), a = filled<float>(1), b = filled<float>(2), c = filled<float>(3), d = filled<float>(4),
       e = filled<float>(5), row = filled<float>(6), column = filled<float>(7);
  auto dy = filled<double>(0), da = filled<double>(1), db = filled<double>(2);
  auto iy = filled<int>(0), ia = filled<int>(1), ib = filled<int>(2);
  float* const to = data(y);

  compare(
      s, "a + b, float", 3, [&] { y = a + b; }, [&] { loops::add(to, data(a), data(b), n); }, memory_bound);
  compare(
      s, "a + b, double", 3, [&] { dy = da + db; }, [&] { loops::add(data(dy), data(da), data(db), n / 2); },
      memory_bound);
  compare(
      s, "a + b, int", 3, [&] { iy = ia + ib; }, [&] { loops::add(data(iy), data(ia), data(ib), n); }, memory_bound);
  compare(
      s, "y *= 1, float", 2, [&] { y *= 1.f; }, [&] { loops::scale_in_place(to, 1.f, n); }, memory_bound);
  compare(
      s, "a b + c d - e", 6, [&] { y = a * b + c * d - e; },
      [&] { loops::five_operands(to, data(a), data(b), data(c), data(d), data(e), n); }, memory_bound);
  compare(
      s, "a b + c sqrt(a) - 3 b", 4, [&] { y = a * b + c * fr::sqrt(a) - 3 * b; },
      [&] { loops::with_root(to, data(a), data(b), data(c), n); }, memory_bound);
  compare(
      s, "where(a > b, a, -b)", 3, [&] { y = fr::where(a > b, a, -b); },
      [&] { loops::choose(to, data(a), data(b), n); }, memory_bound);
  compare(
      s, "double from float", 1.5,
      [&] {
        dy.slice({0, n / 4}) = 2 * fr::cast<double>(a.slice({0, n / 4}));
      },
      [&] { loops::to_double(data(dy), data(a), n / 4); }, none);
  compare(
      s, "b + 2 sin(a)", 3, [&] { y = b + 2 * fr::sin(a); }, [&] { loops::with_sine(to, data(a), data(b), n); }, none);

  auto m = y.reshape(fr::extents<2>{side, side}), from = a.reshape(fr::extents<2>{side, side});
  auto one_row = row.slice({0, side}), one_column = column.slice({0, side});
  compare(
      s, "a + row, 4096 x 4096", 2, [&] { m = from + one_row; },
      [&] { loops::add_row(to, data(a), data(row), side, side); }, memory_bound);
  compare(
      s, "a column + row, 4096 x 4096", 2, [&] { m = from * fr::new_axis(one_column, 1) + one_row; },
      [&] { loops::scale_rows_add_row(to, data(a), data(column), data(row), side, side); }, memory_bound);
  compare(
      s, "transposed a, 4096 x 4096", 2, [&] { m = from.transpose() + 0.f; },
      [&] { loops::transpose(to, data(a), side, side); }, none);
  const std::size_t rows = n / short_columns;
  auto many = y.slice({0, rows * short_columns}).reshape(fr::extents<2>{rows, short_columns}),
       many_from = a.slice({0, rows * short_columns}).reshape(fr::extents<2>{rows, short_columns});
  auto short_row = row.slice({0, short_columns});
  compare(
      s, "a + row, n x 3", 2, [&] { many = many_from + short_row; },
      [&] { loops::add_row(to, data(a), data(row), rows, short_columns); }, none);
  return s.run();
}
