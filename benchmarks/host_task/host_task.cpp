// What does a function of the CPU between two kernels cost, compared with a thread that waits, calls it and goes on?
#include <benchmark/benchmark.h>

#include <ferry/core.hpp>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

constexpr std::size_t size = 256;

struct increment {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* a) const { a[i] += 1; }
};
void double_first(float* a) { *a *= 2; }

void by_ferry(fr::stream_ref s, fr::host_array<float>& a) {
  fr::parallel_for(s, size, increment{}, fr::inout(a));
  fr::host_task(s, double_first, fr::inout(a));
}

bool is_right(fr::stream_ref s) {
  fr::host_array<float> a({size}, 1.f);
  for (int i = 0; i < 3; ++i) by_ferry(s, a);
  return a.at(0) == 22 && a.at(1) == 4;
}

template <class F>
bm::timed until_idle(fr::stream& s, F body) {
  return [&s, body](std::size_t n) mutable {
    s.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < n; ++i) body();
    s.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
}

#if defined(__CUDACC__)
__global__ void increment_kernel(float* a) { a[threadIdx.x] += 1; }
#endif

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 41, .milliseconds = 4});
  fr::stream stream{fr::device(0)};
  if (!is_right(stream)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;
#if defined(__CUDACC__)
  fr::host_array<float> a({size}, 0.f), b({size}, 0.f);
  float* const p = fr::host(b).data();
  const auto on = static_cast<cudaStream_t>(bm::raw_handle(stream));
  const auto ours = until_idle(stream, [&] { by_ferry(stream, a); });
  s.add({"kernel and host_task", "us", ours, "kernel, cudaStreamSynchronize and a call by hand",
         until_idle(stream,
                    [on, p] {
                      increment_kernel<<<1, size, 0, on>>>(p);
                      cudaStreamSynchronize(on);
                      double_first(p);
                    }),
         bm::bound::none()});
  s.add({"kernel and host_task (callback)", "us", ours, "kernel and cudaLaunchHostFunc by hand",
         until_idle(stream,
                    [on, p] {
                      increment_kernel<<<1, size, 0, on>>>(p);
                      cudaLaunchHostFunc(
                          on, [](void* x) { double_first(static_cast<float*>(x)); }, p);
                    }),
         bm::bound::ratio_at_most(1.1)});
#endif
  return s.run();
}
