// What do unified arrays cost that are given no hints: against prefetches by hand, against faults, against device arrays?
#include <benchmark/benchmark.h>

#include <cstdio>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "cases.hpp"

namespace bm = benchmarks;
namespace fr = ferry;

namespace {

// Time beyond the compute of a CPU phase and a GPU phase, which is measured just before: a CPU is faster at some times than at
// others.
bm::timed beyond(fr::unified_array<float>& u, bm::hints how) {
  return [&u, body = bm::on_cpu([&u, how] { bm::in_turn(u, how); })](std::size_t n) {
    const double compute = static_cast<double>(n) * bm::compute_seconds(u);
    const double all = body(n);
    if (all <= compute) std::fputs("a round took less than its compute alone\n", stderr);
    return std::max(1e-9, all - compute);
  };
}

// The same body under automatic migration and under none.
void compare_with_faults(bm::suite& s, const char* name, auto body) {
  const auto side = [body](fr::migration how) {
    return bm::on_cpu([body, how] {
      const fr::migration_scope scope(how);
      body();
    });
  };
  s.add({name, "us", side(fr::migration::automatic), "explicit, no hints", side(fr::migration::explicitly),
         bm::bound::ratio_at_most(1.03), 0, 1});
}

template <class Views>
void sweep(std::size_t devices, std::size_t n, Views views) {
  for (std::size_t d = 0; d < devices; ++d) {
    const std::size_t lo = 1 + (n - 2) * d / devices, hi = 1 + (n - 2) * (d + 1) / devices;
    views(fr::default_stream(fr::devices()[d]), lo, hi);
  }
}

void wait_for_all() {
  for (const fr::device d : fr::devices()) fr::default_stream(d).synchronize();
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 20});
  const bool gpu = bm::has_gpu();
  const std::size_t large = (gpu ? std::size_t{256} << 20 : std::size_t{4} << 20) / sizeof(float);
  fr::unified_array<float> u({large}, fr::devices()[0]), faults({large}, fr::devices()[0]),
      w({large}, fr::devices()[0]);
  u.name("in turn, automatic"), w.name("in turn, by hand"), faults.name("in turn, faults");
  for (auto* a : {&u, &w, &faults})
    for (float& x : *a) x = 1;
  for (const bm::hints how : {bm::hints::automatic, bm::hints::by_hand, bm::hints::none}) {
    auto& a = how == bm::hints::automatic ? u : how == bm::hints::by_hand ? w : faults;
    bm::in_turn(a, how);
    if (std::as_const(a)[large - 1] != std::as_const(u)[large - 1])
      return std::puts("wrong results: nothing was timed"), 1;
  }
  if (!gpu) return 0;

  s.add({"CPU and GPU in turn, 256 MiB, beyond compute", "ms", beyond(u, bm::hints::automatic),
         "two prefetches by hand", beyond(w, bm::hints::by_hand), bm::bound::ratio_at_most(1.05), 0, 1});
  s.add({"CPU and GPU in turn, 256 MiB, beyond compute, faults", "ms", beyond(u, bm::hints::automatic), "plain faults",
         beyond(faults, bm::hints::none), bm::bound::ratio_at_most(0.25), 0, 1});

  fr::unified_array<float> small({4096}, 1.f), middle({65536}, 1.f), sparse({large}, 1.f), still({large}, 1.f);
  compare_with_faults(s, "in turn, 16 KiB", [&] { bm::by_cpu(small), bm::on_gpu(small), bm::wait_for_gpu(small); });
  compare_with_faults(s, "in turn, 256 KiB", [&] { bm::by_cpu(middle), bm::on_gpu(middle), bm::wait_for_gpu(middle); });
  compare_with_faults(s, "one element read between kernels, 256 MiB", [&] {
    bm::on_gpu(sparse), bm::wait_for_gpu(sparse);
    benchmark::DoNotOptimize(std::as_const(sparse)[large / 2]);
  });
  compare_with_faults(s, "one element written between kernels, 256 MiB", [&] {
    bm::on_gpu(sparse), bm::wait_for_gpu(sparse);
    sparse[large / 3] = 2;
  });
  compare_with_faults(s, "kernels alone, 256 MiB", [&] { bm::on_gpu(still), bm::wait_for_gpu(still); });
  compare_with_faults(s, "kernels alone, 16 KiB", [&] { bm::on_gpu(small), bm::wait_for_gpu(small); });

  const std::size_t devices = fr::devices().size();
  fr::unified_array<float> a({large}), b({large});
  a.name("sharded a"), b.name("sharded b");
  for (std::size_t i = 0; i < large; ++i) a[i] = b[i] = static_cast<float>(i % 97);
  std::vector<fr::device_array<float>> from, to;  // the same elements, shard by shard
  sweep(devices, large, [&](fr::stream_ref on, std::size_t lo, std::size_t hi) {
    for (auto* shards : {&from, &to}) {
      shards->emplace_back(fr::extents<1>{hi - lo + 2}, on.where());
      fr::copy(std::as_const(a).slice({lo - 1, hi + 1}), shards->back());
    }
  });
  const auto unified = [&](fr::unified_array<float>& v, const fr::unified_array<float>& x) {
    sweep(devices, large, [&](fr::stream_ref on, std::size_t lo, std::size_t hi) {
      fr::parallel_for(on, hi - lo, bm::smooth{}, fr::out(v.slice({lo, hi})), fr::in(x.slice({lo - 1, hi + 1})));
    });
  };
  const auto device = [&](std::vector<fr::device_array<float>>& v, const std::vector<fr::device_array<float>>& x) {
    sweep(devices, large, [&](fr::stream_ref on, std::size_t lo, std::size_t hi) {
      const auto d = static_cast<std::size_t>(on.where().index());
      const std::size_t n = hi - lo;
      const auto left = d == 0 ? x[d].slice({0, 1}) : x[d - 1].slice({x[d - 1].size() - 2, x[d - 1].size() - 1});
      const auto right = d + 1 == devices ? x[d].slice({n + 1, n + 2}) : x[d + 1].slice({1, 2});
      fr::parallel_for(on, n, bm::smooth_between{n}, fr::out(v[d].slice({1, n + 1})), fr::in(x[d]), fr::in(left),
                       fr::in(right));
    });
  };
  const auto without_neighbours = [&](std::vector<fr::device_array<float>>& v,
                                      const std::vector<fr::device_array<float>>& x) {
    sweep(devices, large, [&](fr::stream_ref on, std::size_t lo, std::size_t hi) {
      const auto d = static_cast<std::size_t>(on.where().index());
      fr::parallel_for(on, hi - lo, bm::smooth{}, fr::out(v[d].slice({1, hi - lo + 1})), fr::in(x[d]));
    });
  };
  unified(b, a), unified(a, b), device(to, from), device(from, to), wait_for_all();
  for (std::size_t d = 0, at = 0; d < devices; at += from[d++].size() - 2) {
    const auto shard = fr::to_vector(from[d]);
    if (!std::equal(shard.begin() + 1, shard.end() - 1, std::as_const(a).begin() + 1 + static_cast<long>(at)))
      return std::puts("wrong results: nothing was timed"), 1;
  }
  for (int i = 0; i < 3; ++i) unified(b, a), unified(a, b), wait_for_all();
  fr::reset_migration_report();
  const std::string name = std::to_string(devices) + " GPUs, one unified array, no hints";
  const auto twice = [&](const auto& step, auto& back, auto& forth) {
    return bm::on_cpu([&step, &back, &forth] { step(back, forth), step(forth, back), wait_for_all(); });
  };
  s.add({name.c_str(), "us", twice(unified, b, a), "device arrays, edges from the neighbours", twice(device, to, from),
         bm::bound::ratio_at_most(1.05), 0, 1});
  s.add({name + " (no neighbours)", "us", twice(unified, b, a), "device arrays that wait for nobody",
         twice(without_neighbours, to, from), bm::bound::none(), 0, 1});
  const int rc = s.run();
  std::puts(fr::report_migration().table().c_str());
  return rc;
}
