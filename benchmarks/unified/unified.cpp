// What do unified arrays without hints cost, compared with manual prefetches, with faults, and with device arrays?
#include <benchmark/benchmark.h>

#include <cstdio>
#include <vector>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "across_devices.hpp"
#include "against_faults.hpp"
#include "cases.hpp"

namespace bm = benchmarks;
namespace fr = ferry;

namespace {

// Time in addition to the compute time of a CPU phase and a GPU phase. The compute time is measured just before,
// because a CPU's speed varies.
bm::timed beyond(fr::unified_array<float>& u, bm::hints how) {
  return [&u, body = bm::on_cpu([&u, how] { bm::in_turn(u, how); })](std::size_t n) {
    const double compute = static_cast<double>(n) * bm::compute_seconds(u);
    const double all = body(n);
    if (all <= compute) std::fputs("a round took less than its compute alone\n", stderr);
    return std::max(1e-9, all - compute);
  };
}

// 100 pages after their first access, at least ten rounds of each side, compared with an array that only one side uses.
void compare_once_touched(bm::suite& s, fr::unified_array<float>& shared, fr::device_array<float>& on_device,
                          std::vector<float>& on_cpu) {
  const auto by_gpu = [](auto& a) {
    fr::parallel_for(fr::default_stream(a.device()), a.size(), bm::grow{}, fr::inout(a));
    fr::default_stream(a.device()).synchronize();
  };
  const auto by_cpu = [](auto& a) {
    for (float& x : a) x = x * 1.0001f + 1;
  };
  const auto gpu = [by_gpu, &shared] { by_gpu(shared); };
  const auto cpu = [by_cpu, &shared] { by_cpu(shared); };
  const auto own_gpu = [by_gpu, &on_device] { by_gpu(on_device); };
  const auto own_cpu = [by_cpu, &on_cpu] { by_cpu(on_cpu); };
  s.add({"100 pages once touched, GPU after CPU", "us", bm::once_touched(cpu, gpu), "device array",
         bm::once_touched(own_cpu, own_gpu), bm::bound::ratio_at_most(1.5), 0, 1});
  s.add({"100 pages once touched, CPU after GPU", "us", bm::once_touched(gpu, cpu), "vector",
         bm::once_touched(own_gpu, own_cpu), bm::bound::ratio_at_most(1.5), 0, 1});
}

int wrong() { return std::puts("wrong results: nothing was timed"), 1; }

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
    if (std::as_const(a)[large - 1] != std::as_const(u)[large - 1]) return wrong();
  }

  const std::string devices = std::to_string(fr::devices().size()) + " GPUs";
  bm::strips strips(large);
  for (int i = 0; i < 4; ++i) strips.unified(), strips.device();
  if (!strips.is_same()) return wrong();
  const fr::team all = fr::team::all();
  const std::size_t rows = gpu ? 8192 : 512, columns = large / rows;
  bm::sharded_sweeps<fr::unified_sharded_array<float, 2>> shared(all, rows, columns, "shards");
  bm::sharded_sweeps<fr::sharded_array<float, 2>> apart(all, rows, columns, "device shards");
  if (shared.values() != apart.values()) return wrong();
  bm::against_faults phases(large);
  for (int i = 0; i < 4; ++i) strips.unified(), shared.twice();  // moves pages back from where they were read
  bm::state_moves(s, devices + ", one unified array", "strips", [&] { strips.unified(); });
  bm::state_moves(s, devices + ", unified_sharded_array", "shards", [&] { shared.twice(), all.synchronize(); });

  if (!gpu) return s.run();  // without a GPU, no times
  phases.add_to(s);

  fr::unified_array<float> touched({bm::touched_elements}, 1.f, fr::devices()[0]);
  fr::device_array<float> only_gpu({bm::touched_elements}, 1.f, fr::devices()[0]);
  std::vector<float> only_cpu(bm::touched_elements, 1.f);
  compare_once_touched(s, touched, only_gpu, only_cpu);

  const auto by_automatic = beyond(u, bm::hints::automatic);
  constexpr int few = bm::against_faults::few_rounds;
  s.add({"CPU and GPU in turn, 256 MiB, beyond compute", "ms", by_automatic, "two prefetches by hand",
         beyond(w, bm::hints::by_hand), bm::bound::ratio_at_most(1.05), 0, 1, few});
  s.add({"CPU and GPU in turn, 256 MiB, beyond compute, faults", "ms", by_automatic, "plain faults",
         beyond(faults, bm::hints::none), bm::bound::ratio_at_most(0.25), 0, 1, few});
  s.add({devices + ", one unified array, no hints", "us", bm::on_cpu([&] { strips.unified(); }),
         "device arrays, edges from the neighbours", bm::on_cpu([&] { strips.device(); }),
         bm::bound::ratio_at_most(1.05), 0, 1});
  s.add({devices + ", one unified array, no hints (no neighbours)", "us", bm::on_cpu([&] { strips.unified(); }),
         "device arrays that wait for nobody", bm::on_cpu([&] { strips.without_neighbours(); }), bm::bound::none(), 0,
         1});
  s.add({devices + ", unified_sharded_array, no hints", "us", shared.steps(), "sharded_array of device memory",
         apart.steps(), bm::bound::ratio_at_most(1.05), 0, 1});
  return s.run();
}
