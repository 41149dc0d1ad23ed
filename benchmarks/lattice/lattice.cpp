// How near does a lattice Boltzmann step come to the memory's speed, and how does it scale with the number of GPUs?
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "../../examples/lattice_boltzmann/channel.hpp"
#include "../../examples/lattice_boltzmann/lattice.hpp"
#include "../../examples/lattice_boltzmann/serial.hpp"
#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "../support/teams.hpp"

namespace fr = ferry;
namespace bm = benchmarks;

namespace {

// On members in rows, or in a grid along rows and columns.
class flow {
 public:
  flow(const fr::team& t, const channel& c, const std::vector<std::size_t>& grid = {})
      : c_(c),
        now_(t, {9, c.rows, c.columns}, populations(grid)),
        next_(t, {9, c.rows, c.columns}, populations(grid)),
        walls_(t, {c.rows, c.columns}, cells(grid)) {
    fr::sharded_array<unsigned char, 2> solid(t, {c.rows, c.columns}, cells(grid));
    fr::copy(c.solid(), solid);
    fr::exchange_halos(solid);
    fr::parallel_for(fr::owned(walls_), lattice::find_walls{}, fr::in(solid), fr::out(walls_));
    fr::parallel_for(fr::sweep(walls_), lattice::start{c.inflow}, fr::out(now_));
  }
  void step() {
    fr::parallel_for(fr::sweep(walls_), lattice::step{c_.inflow, c_.rate()}, fr::in(now_), fr::in(walls_),
                     fr::out(next_));
    swap(now_, next_);
  }
  const fr::sharded_array<double, 3>& populations() const { return now_; }

 private:
  static fr::shard_options populations(const std::vector<std::size_t>& grid) {
    if (grid.empty()) return {.axis = 1, .halo = {0, 1, 0}};
    return {.axis = {1, 2}, .grid = grid, .halo = {0, 1, 1}};
  }
  static fr::shard_options cells(const std::vector<std::size_t>& grid) {
    if (grid.empty()) return {.axis = 0, .halo = {1, 0}};
    return {.axis = {0, 1}, .grid = grid, .halo = {1, 1}};
  }
  channel c_;
  fr::sharded_array<double, 3> now_, next_;
  fr::sharded_array<unsigned short, 2> walls_;
};

// Up to rounding: nvcc contracts multiplications and additions.
bool is_like_serial(const fr::team& t, const std::vector<std::size_t>& grid = {}) {
  const channel small{90, 200};
  flow f(t, small, grid);
  for (int s = 0; s < 40; ++s) f.step();
  const std::vector<double> found = fr::to_vector(f.populations()), expected = solve_serially(small, 40);
  const auto differ = std::mismatch(found.begin(), found.end(), expected.begin(),
                                    [](double a, double b) { return std::abs(a - b) <= 1e-12; });
  if (differ.first == found.end()) return true;
  std::printf("on %zu devices element %td of %zu is %.17g, serially %.17g\n", t.size(), differ.first - found.begin(),
              found.size(), *differ.first, *differ.second);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 11, .milliseconds = 60});
  const bool gpus = bm::has_gpu();
  const channel one{4096, 8192};  // a GPU's part
  const double bytes = 2.0 * 9 * sizeof(double) * static_cast<double>(one.rows * one.columns);
  std::vector<std::unique_ptr<flow>> flows;
  bm::timed alone, alone_in_grid;  // with halos along one axis, and along both
  for (const std::size_t n : bm::team_sizes()) {
    const fr::team t = bm::first_devices(n);
    if (!is_like_serial(t)) return std::puts("wrong results: nothing was timed"), 1;
    if (!gpus) continue;
    const auto steps_of = [&](const channel& c, const std::vector<std::size_t>& grid) {
      flows.push_back(std::make_unique<flow>(t, c, grid));
      return bm::team_steps(t, [&f = *flows.back()](std::size_t k) {
        for (std::size_t i = 0; i < k; ++i) f.step();
      });
    };
    const auto steps = steps_of({n * one.rows, one.columns}, {});
    const std::string name = "lattice Boltzmann (D2Q9, double) of 4096 x 8192 cells a GPU, " + bm::of_devices(n);
    if (n == 1) {
      alone = steps;
      if (!is_like_serial(t, {1, 1})) return std::puts("wrong results: nothing was timed"), 1;
      alone_in_grid = steps_of(one, {1, 1});
      auto from = std::make_shared<fr::device_array<double>>(fr::extents<1>{9 * one.rows * one.columns}, t.device(0)),
           to = std::make_shared<fr::device_array<double>>(from->extents(), t.device(0));
      s.add({name, "GB/s", steps, "the driver's copy of the populations",
             bm::on_stream(t.stream(0),
                           [from, to, on = t.stream(0)] {
                             fr::runtime::current().backend().copy(on.timeline().stream(), to->unsynchronized_data(),
                                                                   from->unsynchronized_data(), from->size_bytes());
                           }),
             bm::bound::ratio_at_least(0.85), bytes});
    } else {
      s.add({name, "GB/s", steps, "one GPU", alone, bm::bound::ratio_at_least(0.93), bytes});
      if (n != 4) continue;
      const std::vector<std::size_t> square{2, 2};
      if (!is_like_serial(t, square)) return std::puts("wrong results: nothing was timed"), 1;
      s.add({name + " as 2 x 2", "GB/s", steps_of({2 * one.rows, 2 * one.columns}, square),
             "one GPU with halos along both axes", alone_in_grid, bm::bound::ratio_at_least(0.93), bytes});
    }
  }
  return gpus ? s.run() : 0;
}
