// What does parallel_for cost compared with a hand-written launch: for the CPU, for the device, and for two threads at
// once?
#include <benchmark/benchmark.h>

#include <ferry/core.hpp>

#include "../support/suite.hpp"
#include "small_kernel.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

// The maximum number of pending launches: the driver's queue holds about 1000.
constexpr std::size_t most = 128;

bool is_right(bm::small_kernel& k) {
  k.by_ferry_marked();
  for (const float z : fr::to_vector(k.result()))
    if (z != 3) return false;
  return true;
}

template <class Launch>
bm::timed launching(bm::small_kernel& k, Launch launch) {
  return bm::on_cpu_drained(
      most, [&k, launch] { (k.*launch)(); }, [&k] { k.drain(); });
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 41, .milliseconds = 4});
  const fr::device d(0);
  const fr::device_array<float> common({bm::small_kernel::size}, 1.f, d), first = common.clone(),
                                                                          second = common.clone();
  bm::small_kernel alone(d, first), a(d, common), b(d, common), c(d, first), e(d, second);
  for (bm::small_kernel* k : {&alone, &a, &b, &c, &e})
    if (!is_right(*k)) return std::puts("wrong results: nothing was timed"), 1;
  if (!bm::has_gpu()) return 0;

  using kernel = bm::small_kernel;
  using bm::bound;
#if defined(__CUDACC__)
  const auto by_hand = launching(alone, &kernel::by_hand);
  s.add({"parallel_for of three arrays, CPU time", "us", launching(alone, &kernel::by_ferry), "kernel<<<>>> by hand",
         by_hand, bound::ratio_at_most(1.15)});
  s.add({"parallel_for of three arrays, shared logs, CPU time", "us", launching(alone, &kernel::by_ferry_marked),
         "kernel<<<>>> by hand", by_hand, bound::ratio_at_most(1.15)});
  s.add({"parallel_for of three arrays, shared logs, CPU time (with a record)", "us",
         launching(alone, &kernel::by_ferry_marked), "kernel<<<>>> and cudaEventRecord by hand",
         launching(alone, &kernel::by_hand_marked), bound::none()});
  const auto queued = [&](auto launch) {
    return bm::on_stream_queued(
        alone.on(), most, [&] { alone.gate(); }, [&, launch] { (alone.*launch)(); });
  };
  s.add({"small kernels back to back, each marked, GPU time", "ns", queued(&kernel::by_ferry_marked), "without marks",
         queued(&kernel::by_ferry), bound::none()});
  s.add({"small kernels back to back, each marked, GPU time (raw)", "ns", queued(&kernel::by_ferry_marked),
         "kernel<<<>>> by hand", queued(&kernel::by_hand), bound::none()});
#endif
  s.add({"two threads launching, one input shared", "us",
         bm::by_two_threads(launching(a, &kernel::by_ferry), launching(b, &kernel::by_ferry)), "nothing shared",
         bm::by_two_threads(launching(c, &kernel::by_ferry), launching(e, &kernel::by_ferry)),
         bound::ratio_at_most(1.10)});
  return s.run();
}
