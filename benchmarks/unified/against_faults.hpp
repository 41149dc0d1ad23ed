// Automatic migration compared with none, both without hints: it must not be slower in any case.
#pragma once
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "../support/suite.hpp"
#include "cases.hpp"

namespace benchmarks {

struct touch_few {  // elements 0, stride, 2 stride, ...
  std::size_t stride;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i * stride] += 1; }
};
struct add_part {  // x has fewer elements than y
  std::size_t n;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* y, const float* x) const { y[i] += x[i % n]; }
};

// Bodies in which the CPU and one device alternate, and their arrays. Sizes are those of the arrays, in elements.
class against_faults {
 public:
  // Replaces the suite's number of rounds for bodies that take a tenth of a second.
  static constexpr int few_rounds = 7;

  explicit against_faults(std::size_t large) : large_({large}, 1.f), beside_({large}, 1.f), untouched_({large}, 1.f) {
    for (const std::size_t n : sizes)
      in_turn_.emplace_back(fr::extents<1>{n}, 1.f), still_.emplace_back(fr::extents<1>{n}, 1.f);
    for (neighbours& one : neighbours_)
      for (std::size_t i = 0; i < one.count; ++i) one.arrays.emplace_back(fr::extents<1>{one.size}, 1.f);
  }

  // The added comparisons refer to this object.
  void add_to(suite& s) {
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      fr::unified_array<float>&turn = in_turn_[k], &gpu = still_[k];
      add(s, "in turn, " + size_of(turn), [&] { by_cpu(turn), on_gpu(turn), wait_for_gpu(turn); });
      add(s, "kernels alone, " + size_of(gpu), [&] { on_gpu(gpu), wait_for_gpu(gpu); });
    }
    add(
        s, "in turn, " + size_of(large_), [this] { by_cpu(large_), on_gpu(large_), wait_for_gpu(large_); }, few_rounds);
    add(s, "kernels alone, " + size_of(untouched_), [this] { on_gpu(untouched_), wait_for_gpu(untouched_); });
    add(s, "the CPU alone, " + size_of(on_cpu_), [this] { by_cpu(on_cpu_); });
    add_few_elements(s);
    add_several_arrays(s);
  }

 private:
  static constexpr std::size_t kib = 1024 / sizeof(float);
  static constexpr std::array<std::size_t, 5> sizes{16 * kib, 64 * kib, 256 * kib, 1024 * kib, 16384 * kib};

  static std::string size_of(const fr::unified_array<float>& u) {
    const std::size_t k = u.size_bytes() >> 10;
    return k < 1024 ? std::to_string(k) + " KiB" : std::to_string(k >> 10) + " MiB";
  }

  template <class F>
  static void add(suite& s, const std::string& name, F body, int most_rounds = 0) {
    const auto side = [body](fr::migration how) {
      return on_cpu([body, how] {
        const fr::migration_scope scope(how);
        body();
      });
    };
    s.add({name, "us", side(fr::migration::automatic), "explicit, no hints", side(fr::migration::explicitly),
           bound::ratio_at_most(1.03), 0, 1, most_rounds});
  }

  void add_few_elements(suite& s) {
    auto& u = beside_;
    const std::size_t n = u.size();
    const std::string size = size_of(u);
    add(s, "one element read between kernels, " + size, [&u, n] {
      on_gpu(u), wait_for_gpu(u);
      benchmark::DoNotOptimize(std::as_const(u)[n / 2]);
    });
    add(s, "one element written between kernels, " + size, [&u, n] {
      on_gpu(u), wait_for_gpu(u);
      u[n / 3] = 2;
    });
    add(s, "16 elements read between kernels, " + size, [&u, n] {
      on_gpu(u), wait_for_gpu(u);
      for (std::size_t i = 0; i < 16; ++i) benchmark::DoNotOptimize(std::as_const(u)[i * (n / 16)]);
    });
    add(s, "a loop over 1 MiB between kernels, " + size, [&u, n] {
      on_gpu(u), wait_for_gpu(u);
      auto part = u.slice({n / 2, n / 2 + 1024 * kib});
      for (float& x : part) x = 1;
    });
    add(s, "64 elements in turn, of " + size, [this, n] {
      for (std::size_t i = 0; i < 64; ++i) few_[i * (n / 64)] = 1;
      fr::parallel_for(fr::default_stream(few_.device()), 64, touch_few{n / 64}, fr::inout(few_));
      wait_for_gpu(few_);
    });
    add(s, "read by both, 16 MiB", [this] {
      fr::parallel_for(fr::default_stream(seen_.device()), seen_.size(), add_part{seen_.size()}, fr::inout(sums_),
                       fr::in(seen_));
      float sum = 0;
      for (const float x : std::as_const(seen_)) sum += x;
      benchmark::DoNotOptimize(sum);
      wait_for_gpu(seen_);
    });
  }

  void add_several_arrays(suite& s) {
    add(s, "1 MiB in turn beside 256 MiB that stay", [this] {
      by_cpu(bouncing_);
      fr::parallel_for(fr::default_stream(untouched_.device()), untouched_.size(), add_part{bouncing_.size()},
                       fr::inout(untouched_), fr::in(bouncing_));
      wait_for_gpu(untouched_);
    });
    for (neighbours& one : neighbours_)
      add(s, std::to_string(one.count) + " arrays of " + size_of(one.arrays.front()) + " in turn", [&all = one.arrays] {
        for (auto& u : all) by_cpu(u);
        for (auto& u : all) on_gpu(u);
        wait_for_gpu(all.front());
      });
  }

  // Arrays that share a page of 2 MiB.
  struct neighbours {
    std::size_t count, size;
    std::vector<fr::unified_array<float>> arrays;
  };
  std::array<neighbours, 4> neighbours_{
      {{4, 64 * kib, {}}, {32, 64 * kib, {}}, {4, 256 * kib, {}}, {8, 256 * kib, {}}}};
  std::vector<fr::unified_array<float>> in_turn_, still_;
  fr::unified_array<float> large_, beside_, untouched_, few_{large_.extents(), 1.f}, bouncing_{{1024 * kib}, 1.f},
      on_cpu_{{16384 * kib}, 1.f}, seen_{{16384 * kib}, 1.f}, sums_{{16384 * kib}, 1.f};
};

}  // namespace benchmarks
