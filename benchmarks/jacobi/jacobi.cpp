// How long does a Jacobi iteration take on 1, 2, 4 GPUs, if its norm is read one step late?
#include <benchmark/benchmark.h>

#include <cmath>
#include <optional>

#include "../../examples/jacobi/jacobi.hpp"
#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "../support/teams.hpp"

namespace fr = ferry;
namespace bm = benchmarks;
namespace {

class solver {
 public:
  solver(const fr::team& t, std::size_t side)
      : a_(jacobi::make_field(t, side, side)),
        next_(jacobi::make_field(t, side, side)) {
    fr::parallel_for(fr::sweep(a_), jacobi::first_guess{}, fr::out(a_));
    fr::parallel_for(fr::sweep(next_), jacobi::first_guess{}, fr::out(next_));
  }
  // Calls see(iteration, norm) for each iteration; a norm is read after the next iteration is enqueued.
  template <class See>
  void run(std::size_t iterations, See see) {
    std::optional<fr::team_scalar<double>> late;
    for (std::size_t k = 0; k < iterations; ++k) {
      auto norm = jacobi::step(a_, next_);
      if (late) see(k - 1, std::sqrt(late->value()));
      late = std::move(norm);
      swap(a_, next_);
    }
    if (late) see(iterations - 1, std::sqrt(late->value()));
  }
  fr::sharded_array<float, 2>& field() { return a_; }

 private:
  fr::sharded_array<float, 2> a_, next_;
};

// Known norms of a field of 16384 x 16384.
bool norms_are_right(const fr::team& t) {
  bool good = true;
  solver(t, 16384).run(901, [&](std::size_t k, double norm) {
    const double known = k == 0 ? 31.999023 : k == 100 ? 0.897983 : k == 500 ? 0.269961 : k == 900 ? 0.173818 : norm;
    if (std::abs(norm / known - 1) <= 1e-4) return;
    std::printf("iteration %zu on %zu devices: norm %.6f, not %.6f\n", k, t.size(), norm, known);
    good = false;
  });
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 11, .milliseconds = 60});
  if (!bm::has_gpu()) return 0;
  const std::size_t side = 20480;
  std::vector<std::unique_ptr<solver>> solvers;
  for (const std::size_t n : bm::team_sizes())
    for (const auto how : {fr::submission::by_caller, fr::submission::by_threads}) {
      if (n == 1 && how == fr::submission::by_threads) continue;
      const fr::team t = bm::first_devices(n, how);
      if (!norms_are_right(t)) return std::puts("wrong results: nothing was timed"), 1;
      solvers.push_back(std::make_unique<solver>(t, side));
      solver& own = *solvers.back();
      double last = 0;
      const auto steps = bm::team_steps(t, [&own, last](std::size_t k) mutable {
        own.run(k, [&](std::size_t, double norm) { last = norm; });
        benchmark::DoNotOptimize(last);
      });
      const char* by = how == fr::submission::by_threads ? ", a thread each" : "";
      const auto limit = n == 1   ? bm::bound::value_at_most(0.86, "ms")
                         : n == 4 ? bm::bound::value_at_most(0.235, "ms")
                                  : bm::bound::none();
      bm::comparison c{"Jacobi 20480^2 with norm, " + bm::of_devices(n) + by, "ms", steps, "", {}, limit};
      if (n == 1) {
        const auto part = own.field().shard(0);
        fr::device_array<float, 2> copy_of(part.extents(), t.device(0));
        c.baseline_name = "the driver's copy of the field";
        c.baseline = bm::on_stream(
            t.stream(0),
            [from = part, to = std::make_shared<fr::device_array<float, 2>>(std::move(copy_of)), on = t.stream(0)] {
              fr::runtime::current().backend().copy(on.timeline().stream(), to->unsynchronized_data(),
                                                    from.unsynchronized_data(), from.size_bytes());
            });
      }
      s.add(std::move(c));
    }
  return s.run();
}
