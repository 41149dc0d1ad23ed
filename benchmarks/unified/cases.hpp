// What is done to unified arrays: by the CPU and by kernels, with no hints, with hints by hand, by faults alone.
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

struct smooth_between {  // the same for cells 1 to n, whose neighbours beyond are others' memory
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

// What TestSharedSpace of Kokkos asks: 100 pages go to and fro between the CPU and a GPU, and once touched they are as fast as
// memory that only one of them has. Pages of 64 KiB: less is not moved as a whole on these machines.
inline constexpr std::size_t touched_elements = 100 * (64 << 10) / sizeof(float);

// The time of the second use in a row; `elsewhere` comes before each pair.
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

// How pages go to and fro.
enum class hints { automatic, by_hand, none };

// A CPU phase and a GPU phase; what the GPU leaves is there when it returns.
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

// Seconds that the two phases take with all pages in place, at best: what goes beyond is not made smaller by a slow moment.
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
