// Is parallel_for as fast as the same scalar loop in a hand-written kernel, limited by device memory bandwidth?
#include <benchmark/benchmark.h>

#include <vector>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

struct axpy {
  float a;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const { y[i] += a * x[i]; }
};

// Small integers, so that every order of arithmetic gives the same result.
FERRY_HOST_DEVICE float value_at(std::size_t i) { return static_cast<float>((i * 2654435761u >> 7) % 31); }
struct write_values {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x, float* y) const {
    x[i] = value_at(i);
    y[i] = value_at(i + 5);
  }
};

// True if elements [begin, begin + count) of y are the result of one axpy on the values.
bool is_right(const fr::device_array<float>& y, float a, std::size_t begin, std::size_t count) {
  const std::vector<float> got = fr::to_vector(y.slice({begin, begin + count}));
  for (std::size_t i = 0; i < count; ++i)
    if (got[i] != value_at(begin + i + 5) + a * value_at(begin + i)) return false;
  return true;
}

#if defined(__CUDACC__)
__global__ void axpy_by_hand(std::size_t n, float a, const float* x, float* y) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    y[i] += a * x[i];
}
#endif

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 20});
  const bool simulated = fr::runtime::current().is_simulated();
  const std::size_t n = simulated ? 10000 : std::size_t{1} << 28, part = 5000;
  const fr::device d(0);
  fr::stream stream(d);
  fr::device_array<float> x({n}, d), y({n}, d);

  fr::parallel_for(stream, n, write_values{}, fr::out(x), fr::out(y));
  fr::parallel_for(stream, n, axpy{3}, fr::in(x), fr::inout(y));
  for (const std::size_t begin : {std::size_t{0}, n / 2, n - part})
    if (!is_right(y, 3, begin, part)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

#if defined(__CUDACC__)
  const auto native = static_cast<cudaStream_t>(bm::raw_handle(stream));
  const auto by_hand = [&](std::size_t blocks) {
    return bm::on_stream(stream, [&, blocks] {
      axpy_by_hand<<<static_cast<unsigned>(blocks), 256, 0, native>>>(n, 1e-3f, x.unsynchronized_data(),
                                                                      y.unsynchronized_data());
    });
  };
  const auto ours = bm::on_stream(stream, [&] { fr::parallel_for(stream, n, axpy{1e-3f}, fr::in(x), fr::inout(y)); });
  const double bytes = 3.0 * static_cast<double>(n * sizeof(float));
  const auto few = static_cast<std::size_t>(32 * d.properties().multiprocessors);
  s.add({"axpy, 1 GiB arrays", "GB/s", ours, "kernel by hand, an element a thread", by_hand(n / 256),
         bm::bound::ratio_at_least(0.98), bytes});
  s.add({"axpy, 1 GiB arrays, capped grid", "GB/s", ours, "kernel by hand, 32 blocks a multiprocessor", by_hand(few),
         bm::bound::ratio_at_least(0.98), bytes});
#endif
  return s.run();
}
