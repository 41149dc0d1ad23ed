// Are parallel_for and parallel_reduce as fast as the loops of BabelStream's CUDA version, limited by the bandwidth of
// device memory? Its kernels: an element a thread, blocks of 1024 (UoB-HPC/BabelStream, src/cuda/CUDAStream.cu).
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

// Small integers and a power of two, so that the result does not depend on the order of additions.
template <class T>
FERRY_HOST_DEVICE T value_at(std::size_t i) {
  return static_cast<T>((i * 2654435761u >> 7) % 31);
}
constexpr double factor = 0.5;

template <class T>
struct write_values {
  FERRY_HOST_DEVICE void operator()(std::size_t i, T* a, T* b, T* c) const {
    a[i] = value_at<T>(i), b[i] = value_at<T>(i + 5), c[i] = value_at<T>(i + 9);
  }
};
template <class T>
struct copy {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const T* a, T* c) const { c[i] = a[i]; }
};
template <class T>
struct mul {
  FERRY_HOST_DEVICE void operator()(std::size_t i, T* b, const T* c) const { b[i] = T(factor) * c[i]; }
};
template <class T>
struct add {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const T* a, const T* b, T* c) const { c[i] = a[i] + b[i]; }
};
template <class T>
struct triad {
  FERRY_HOST_DEVICE void operator()(std::size_t i, T* a, const T* b, const T* c) const {
    a[i] = b[i] + T(factor) * c[i];
  }
};
template <class T>
struct product {
  FERRY_HOST_DEVICE T operator()(std::size_t i, const T* a, const T* b) const { return a[i] * b[i]; }
};

#if defined(__CUDACC__)
constexpr unsigned threads = 1024;

template <class F, class... P>
__global__ void by_hand(std::size_t n, F f, P... p) {
  const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
  if (i < n) f(i, p...);
}
template <class T>
__global__ void dot_by_hand(std::size_t n, const T* a, const T* b, T* sums) {
  __shared__ T of_thread[threads];
  T mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x; i < n; i += std::size_t{threads} * gridDim.x)
    mine += a[i] * b[i];
  of_thread[threadIdx.x] = mine;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) of_thread[threadIdx.x] += of_thread[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = of_thread[0];
}
#endif

template <class T>
struct arrays {
  std::size_t n;
  fr::device_array<T> a{{n}}, b{{n}}, c{{n}};
  fr::scalar<T> sum{};
};

// Runs the kernels in BabelStream's order on the start values, and compares some elements with a loop on the CPU.
template <class T>
bool is_right(arrays<T>& d, fr::stream_ref s) {
  fr::parallel_for(s, d.n, write_values<T>{}, fr::out(d.a), fr::out(d.b), fr::out(d.c));
  fr::parallel_for(s, d.n, copy<T>{}, fr::in(d.a), fr::out(d.c));
  fr::parallel_for(s, d.n, mul<T>{}, fr::out(d.b), fr::in(d.c));
  fr::parallel_for(s, d.n, add<T>{}, fr::in(d.a), fr::in(d.b), fr::out(d.c));
  fr::parallel_for(s, d.n, triad<T>{}, fr::out(d.a), fr::in(d.b), fr::in(d.c));
  constexpr std::size_t part = 5000;
  for (const std::size_t begin : {std::size_t{0}, d.n / 2, d.n - part}) {
    const std::vector<T> got = fr::to_vector(d.a.slice({begin, begin + part}));
    for (std::size_t i = 0; i < part; ++i) {
      const T a = value_at<T>(begin + i), b = T(factor) * a, c = a + b;
      if (got[i] != b + T(factor) * c) return false;
    }
  }
  return true;
}

template <class T>
bool add_rows(bm::suite& s, arrays<T>& d, fr::stream_ref stream, const std::string& type) {
  if (!is_right(d, stream)) return false;
#if defined(__CUDACC__)
  if (!bm::has_gpu()) return true;
  const auto native = static_cast<cudaStream_t>(bm::raw_handle(stream));
  T *const a = d.a.unsynchronized_data(), *const b = d.b.unsynchronized_data(), *const c = d.c.unsynchronized_data();
  const std::size_t n = d.n;
  const double bytes = static_cast<double>(n * sizeof(T));
  const auto row = [&](const char* kernel, int arrays_moved, auto ours, auto hand) {
    s.add({std::string(kernel) + " of 1 GiB arrays of " + type, "GB/s", bm::on_stream(stream, ours),
           "BabelStream's loop", bm::on_stream(stream, hand), bm::bound::ratio_at_least(0.98), arrays_moved * bytes});
  };
  const auto hand = [=](auto f, auto... p) {
    by_hand<<<static_cast<unsigned>((n + threads - 1) / threads), threads, 0, native>>>(n, f, p...);
  };
  const T *const ca = a, *const cb = b, *const cc = c;
  row(
      "copy", 2, [&d, stream] { fr::parallel_for(stream, d.n, copy<T>{}, fr::in(d.a), fr::out(d.c)); },
      [=] { hand(copy<T>{}, ca, c); });
  row(
      "mul", 2, [&d, stream] { fr::parallel_for(stream, d.n, mul<T>{}, fr::out(d.b), fr::in(d.c)); },
      [=] { hand(mul<T>{}, b, cc); });
  row(
      "add", 3, [&d, stream] { fr::parallel_for(stream, d.n, add<T>{}, fr::in(d.a), fr::in(d.b), fr::out(d.c)); },
      [=] { hand(add<T>{}, ca, cb, c); });
  row(
      "triad", 3, [&d, stream] { fr::parallel_for(stream, d.n, triad<T>{}, fr::out(d.a), fr::in(d.b), fr::in(d.c)); },
      [=] { hand(triad<T>{}, a, cb, cc); });
  const auto blocks = static_cast<unsigned>(4 * stream.where().properties().multiprocessors);
  row(
      "dot", 2,
      [&d, stream] { d.sum = fr::parallel_reduce(stream, d.n, product<T>{}, fr::plus{}, fr::in(d.a), fr::in(d.b)); },
      [=] { dot_by_hand<<<blocks, threads, 0, native>>>(n, ca, cb, c); });
#else
  (void)s, (void)type;
#endif
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 20});
  fr::stream stream{fr::device(0)};
  const std::size_t bytes = fr::runtime::current().is_simulated() ? 100'000 : std::size_t{1} << 30;
  arrays<float> floats{bytes / sizeof(float)};
  arrays<double> doubles{bytes / sizeof(double)};
  if (!add_rows(s, floats, stream, "floats") || !add_rows(s, doubles, stream, "doubles"))
    return std::puts("wrong results: nothing was timed"), 1;
  return bm::has_gpu() ? s.run() : 0;
}
