// Uses of unified arrays by the CPU and by kernels: without hints, with manual hints, and by faults alone.
#pragma once
#include <algorithm>
#include <ferry/ferry.hpp>
#include <memory>

#include "../support/rounds.hpp"

namespace benchmarks {

namespace fr = ferry;

struct grow {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] = x[i] * 1.0001f + 1; }
};
struct smooth {  // v from u, with its neighbours
  std::size_t last;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* v, const float* u) const {
    v[i] = 0.25f * (u[i] + 2 * u[i + 1] + u[i + 2]);
  }
};

struct smooth_between {  // the same for cells 1 to n, whose outer neighbours are in other memory
  std::size_t n;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* v, const float* u, const float* left,
                                    const float* right) const {
    v[i] = 0.25f * ((i == 0 ? *left : u[i]) + 2 * u[i + 1] + (i + 1 == n ? *right : u[i + 2]));
  }
};

inline void on_gpu(fr::unified_array<float>& u) {
  fr::parallel_for(fr::default_stream(u.device()), u.size(), grow{}, fr::inout(u));
}
inline void wait_for_gpu(const fr::unified_array<float>& u) { fr::default_stream(u.device()).synchronize(); }
inline void by_cpu(fr::unified_array<float>& u) {
  for (float& x : u) x = x * 1.0001f + 1;
}

// The criterion of Kokkos' TestSharedSpace: 100 pages alternate between the CPU and a GPU, and after the first access
// they are as fast as non-shared memory. Pages of 64 KiB: smaller ranges are not migrated as a unit.
inline constexpr std::size_t touched_elements = 100 * (64 << 10) / sizeof(float);

// The time of the second of two consecutive uses; `elsewhere` runs before each pair.
template <class Elsewhere, class Use>
timed once_touched(Elsewhere elsewhere, Use use) {
  return [elsewhere, use, timed_use = on_cpu(use)](std::size_t n) mutable {
    double seconds = 0;
    for (std::size_t i = 0; i < n; ++i) {
      elsewhere();
      use();
      seconds += timed_use(1);
    }
    return seconds;
  };
}

// How pages move back and forth.
enum class hints { automatic, by_hand, none };

// A CPU phase and a GPU phase. Returns when the GPU's results are complete.
inline void in_turn(fr::unified_array<float>& u, hints how) {
  const fr::migration_scope scope(how == hints::automatic ? fr::migration::automatic : fr::migration::explicitly);
  if (how == hints::by_hand) {
    fr::prefetch(u, fr::host);
    wait_for_gpu(u);
  }
  by_cpu(u);
  if (how == hints::by_hand) fr::prefetch(u, u.device());
  on_gpu(u);
  wait_for_gpu(u);
}

// The minimal time in seconds of both phases with all pages in place, so that a slow moment does not reduce the time
// measured beyond it.
inline double compute_seconds(fr::unified_array<float>& u) {
  const fr::migration_scope scope(fr::migration::explicitly);
  fr::prefetch(u, fr::host);
  wait_for_gpu(u);
  by_cpu(u);
  by_cpu(u);
  std::vector<double> cpu, gpu;
  for (int i = 0; i < 3; ++i) cpu.push_back(on_cpu([&] { by_cpu(u); })(1));
  fr::prefetch(u, u.device());
  on_gpu(u);
  wait_for_gpu(u);
  for (int i = 0; i < 3; ++i) gpu.push_back(on_cpu([&] { on_gpu(u), wait_for_gpu(u); })(1));
  return *std::min_element(cpu.begin(), cpu.end()) + *std::min_element(gpu.begin(), gpu.end());
}

}  // namespace benchmarks
