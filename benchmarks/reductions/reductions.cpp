// Are reductions, scans and histograms of expressions as fast as those of CUB?
// as: host
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#if defined(FERRY_HAS_CUDA)
#include "by_cub.hpp"
#endif

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

// Small whole numbers: sums are exact in any order, up to 2^24 for float.
template <class T>
void write_values(fr::stream_ref s, fr::device_array<T>& a, int seed) {
  fr::assign(s, a, fr::cast<T>((fr::index(0) + seed) % 97));
}

bool are_right(std::size_t n) {
  fr::device_array<double> a({n});
  write_values(fr::default_stream(fr::device(0)), a, 3);
  const std::vector<double> x = fr::to_vector(a), scanned = fr::to_vector(fr::device_array<double>(fr::cumsum(a)));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    if ((sum += x[i]) != scanned[i]) return false;
  return double(fr::sum(a)) == sum;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 20});
  if (!are_right(100003)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

#if defined(FERRY_HAS_CUDA)
  const std::size_t n = std::size_t{1} << 28, m = n / 2, side = std::size_t{1} << 14;
  const fr::device d(0);
  fr::stream stream(d);
  fr::device_array<float> a({n}, d), b({n}, d), y({n}, d), total({1}, d), line({side}, d);
  fr::device_array<double> p({m}, d), q({m}, d), double_total({1}, d);
  fr::device_array<long long> position({1}, d);
  fr::device_array<int> keys({n}, d);
  fr::device_array<unsigned> cub_counts({256}, d);
  fr::device_array<std::uint64_t> counts({256}, d);
  write_values(stream, a, 3), write_values(stream, b, 5), write_values(stream, p, 3);
  fr::assign(stream, keys, fr::cast<int>(((fr::index(0) + 1) * 0x9e3779b97f4a7c15 >> 20) & 255));
  auto a2 = a.reshape(fr::extents<2>{side, side}), y2 = y.reshape(fr::extents<2>{side, side});
  auto one = total.reshape(fr::extents<0>{});
  auto double_one = double_total.reshape(fr::extents<0>{});
  auto at = position.reshape(fr::extents<0>{});
  const std::size_t bytes = bm::cub_reduction_scratch(n);
  fr::device_array<std::byte> scratch({bytes}, d);
  fr::synchronize();
  const bm::cub_memory cub{bm::raw_handle(stream), scratch.unsynchronized_data(), bytes};
  const auto timed = [&](auto body) { return bm::on_stream(stream, body); };
  const auto to = [](auto& v) { return v.unsynchronized_data(); };
  const double floats = static_cast<double>(n * sizeof(float));
  const auto cub_sum = timed([&] { bm::sum_by_cub(cub, n, to(a), to(total)); });
  const auto row = [&](const char* name, auto ours, const char* other, auto theirs, double bound, double moved) {
    s.add({name, "GB/s", timed(ours), other, theirs, bm::bound::ratio_at_least(bound), moved});
  };
  row(
      "sum, 1 GiB of floats", [&] { fr::assign(stream, one, fr::sum(a)); }, "cub::DeviceReduce::Sum", cub_sum, 0.98,
      floats);
  row(
      "sum, 1 GiB of doubles", [&] { fr::assign(stream, double_one, fr::sum(p)); }, "cub::DeviceReduce::Sum",
      timed([&] { bm::sum_by_cub(cub, m, to(p), to(double_total)); }), 0.98, floats);
  row(
      "sum(a b), 2 GiB of floats", [&] { fr::assign(stream, one, fr::sum(a * b)); }, "cub::DeviceReduce::Sum, twice",
      timed([&] {
        bm::sum_by_cub(cub, n, to(a), to(total));
        bm::sum_by_cub(cub, n, to(b), to(total));
      }),
      0.98, 2 * floats);
  row(
      "max(abs(a)), 1 GiB of floats", [&] { fr::assign(stream, one, fr::max(fr::abs(a))); }, "cub::DeviceReduce::Sum",
      cub_sum, 0.95, floats);
  row(
      "argmax, 1 GiB of floats", [&] { fr::assign(stream, at, fr::argmax(a)); }, "cub::DeviceReduce::ArgMax",
      timed([&] { bm::argmax_by_cub(cub, n, to(a), to(total), to(position)); }), 0.95, floats);
  row(
      "var, 1 GiB of floats", [&] { fr::assign(stream, one, fr::var(a)); }, "cub::DeviceReduce::Sum", cub_sum, 0.9,
      floats);
  row(
      "sums of rows, 16384 x 16384 floats", [&] { fr::assign(stream, line, fr::sum(a2, fr::axes{1})); },
      "cub::DeviceReduce::Sum", cub_sum, 0.93, floats);
  row(
      "sums of columns, 16384 x 16384 floats", [&] { fr::assign(stream, line, fr::sum(a2, fr::axes{0})); },
      "cub::DeviceReduce::Sum", cub_sum, 0.93, floats);
  const auto cub_scan = timed([&] { bm::scan_by_cub(cub, n, to(a), to(y)); });
  row(
      "cumsum, 1 GiB of floats", [&] { fr::assign(stream, y, fr::cumsum(a)); }, "cub::DeviceScan::InclusiveSum",
      cub_scan, 0.95, 2 * floats);
  row(
      "cumsum, 1 GiB of doubles", [&] { fr::assign(stream, q, fr::cumsum(p)); }, "cub::DeviceScan::InclusiveSum",
      timed([&] { bm::scan_by_cub(cub, m, to(p), to(q)); }), 0.95, 2 * floats);
  row(
      "cumsum of rows, 16384 x 16384 floats", [&] { fr::assign(stream, y2, fr::cumsum(a2, 1)); },
      "cub::DeviceScan::InclusiveSum", cub_scan, 0.9, 2 * floats);
  row(
      "cumsum of columns, 16384 x 16384 floats", [&] { fr::assign(stream, y2, fr::cumsum(a2, 0)); },
      "cub::DeviceScan::InclusiveSum", cub_scan, 0.9, 2 * floats);
  row(
      "bincount of 256 bins, 2^28 ints", [&] { fr::assign(stream, counts, fr::bincount(keys, 256)); },
      "cub::DeviceHistogram", timed([&] { bm::histogram_by_cub(cub, n, to(keys), to(cub_counts)); }), 0.9, floats);
#endif
  return s.run();
}
