// Are reductions as fast as CUB's, limited by device memory bandwidth?
#include <benchmark/benchmark.h>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#if defined(__CUDACC__)
#include <cub/device/device_reduce.cuh>
#endif

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

// Small integers, so that the result does not depend on the order of additions.
struct write_values {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] = static_cast<float>(i % 3); }
};
struct element {
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* x) const { return x[i]; }
};
struct element_of_rows {
  FERRY_HOST_DEVICE float operator()(std::size_t i, std::size_t j, fr::mdspan<const float, 2> x) const {
    return x(i, j);
  }
};

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 20});
  const std::size_t side = fr::runtime::current().is_simulated() ? 64 : std::size_t{1} << 14, n = side * side;
  fr::stream stream{fr::device(0)};
  fr::device_array<float> x({n}, stream.where());
  fr::parallel_for(stream, n, write_values{}, fr::out(x));
  const auto rows = std::as_const(x).reshape(fr::extents{side, side});
  const auto sum = [&](std::size_t of) { return fr::parallel_reduce(stream, of, element{}, fr::plus{}, fr::in(x)); };
  const auto largest = [&] { return fr::parallel_reduce(stream, n, element{}, fr::maximum{}, fr::in(x)); };
  if (float(sum(1000)) != 999 || float(largest()) != 2) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

#if defined(__CUDACC__)
  const auto native = static_cast<cudaStream_t>(bm::raw_handle(stream));
  fr::device_array<float> result({1}, stream.where());
  const auto count = static_cast<long long>(n);
  const float* const from = x.unsynchronized_data();
  float* const to = result.unsynchronized_data();
  std::size_t bytes_of_scratch = 0;
  cub::DeviceReduce::Sum(nullptr, bytes_of_scratch, from, to, count, native);
  fr::device_array<std::byte> scratch({2 * bytes_of_scratch + 1024}, stream.where());
  const auto by_cub = [&](auto reduce) {
    return bm::on_stream(stream, [&, reduce] {
      std::size_t bytes = scratch.size();
      reduce(scratch.unsynchronized_data(), bytes);
    });
  };
  const auto cub_sum = by_cub([&](void* p, std::size_t& b) { cub::DeviceReduce::Sum(p, b, from, to, count, native); });
  const auto cub_max = by_cub([&](void* p, std::size_t& b) { cub::DeviceReduce::Max(p, b, from, to, count, native); });
  const auto bytes = static_cast<double>(x.size_bytes());
  s.add({"sum of floats, 1 GiB", "GB/s", bm::on_stream(stream, [&] { (void)sum(n); }), "cub::DeviceReduce::Sum",
         cub_sum, bm::bound::none(), bytes});
  s.add({"maximum of floats, 1 GiB", "GB/s", bm::on_stream(stream, [&] { (void)largest(); }), "cub::DeviceReduce::Max",
         cub_max, bm::bound::none(), bytes});
  s.add({"sum of floats over two dimensions, 1 GiB", "GB/s",
         bm::on_stream(
             stream,
             [&] { (void)fr::parallel_reduce(stream, rows.extents(), element_of_rows{}, fr::plus{}, fr::in(rows)); }),
         "cub::DeviceReduce::Sum", cub_sum, bm::bound::none(), bytes});
#endif
  return s.run();
}
