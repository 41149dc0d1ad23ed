// The heat equation in a block with a warm face, a cold one, and insulated ones. The block is cut along one axis, or
// along several over a grid of devices: --grid 2x2.
// test: --size 20x18x10 --steps 30 --axes 2 --check --quiet
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "heat.hpp"
#include "options.hpp"
#include "serial.hpp"

namespace fr = ferry;
namespace {

using clock_type = std::chrono::steady_clock;
using field = fr::sharded_array<double, 3>;

fr::shard_options options_of(const options& o) {
  fr::shard_options how{.axis = 0, .grid = o.grid, .halo = {1, 1, 1}};
  for (std::size_t axis = 1; axis < o.axes; ++axis) how.axis.axes.push_back(static_cast<std::ptrdiff_t>(axis));
  return how;
}

// Insulated faces: their ghost cells are set in each step.
void insulate(field& u) {
  using fr::side;
  fr::fill(fr::ghosts(u, {side::low(1), side::high(1), side::low(2), side::high(2)}), fr::zero_gradient{});
}

// Compares this process's cells with the serial result.
bool is_like_serial(const options& o, const block& b, const field& u) {
  const std::vector<double> expected = solve_serially(b, o.steps);
  std::vector<double> found = expected;
  fr::copy(u, std::span<double>(found));
  const auto differ = std::mismatch(found.begin(), found.end(), expected.begin());
  const bool good = differ.first == found.end();
  if (good && !o.quiet) std::puts("serial    the temperatures are equal");
  if (!good)
    std::fprintf(stderr, "heat3d: the temperatures differ, first in element %td of %zu: %.17g, serially %.17g\n",
                 differ.first - found.begin(), found.size(), *differ.first, *differ.second);
  return good;
}

int run(options o) {
  const fr::team devices = fr::team::world();  // of all processes, under mpirun
  o.quiet = o.quiet || devices.first_local() != 0;
  const bool on_gpus = !fr::runtime::current().is_simulated();
  if (o.size.empty()) o.size = on_gpus ? std::vector<std::size_t>{512, 512, 512} : std::vector<std::size_t>{48, 40, 36};
  const block b{o.size[0], o.size[1], o.size[2]};

  field now(devices, {b.n, b.m, b.l}, options_of(o)), next(devices, {b.n, b.m, b.l}, options_of(o));
  for (field* u : {&now, &next}) {  // no loop changes these ghost cells
    fr::fill(fr::ghosts(*u, fr::side::low(0)), fr::fixed_value{b.warm});
    fr::fill(fr::ghosts(*u, fr::side::high(0)), fr::fixed_value{b.cold});
  }
  fr::parallel_for(fr::sweep(now), heat::start{b.radius()}, fr::out(now));

  // Only for the time measurement: NVRTC compiles the kernels of steps before.
  insulate(now);
  fr::precompile_for(fr::sweep(next), heat::step{b.rate}, fr::in(now), fr::out(next));
  devices.synchronize();
  const auto begin = clock_type::now();
  for (std::size_t s = 0; s < o.steps; ++s) {
    insulate(now);
    fr::parallel_for(fr::sweep(next), heat::step{b.rate}, fr::in(now), fr::out(next));
    swap(now, next);
  }
  devices.synchronize();
  const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
  const double updates = static_cast<double>(now.size()) * static_cast<double>(o.steps);
  if (!o.quiet)
    std::printf("devices   %zu (%s)\ncells     %s\nspeed     %.1f million cells a second, %.1f GB/s\n", devices.size(),
                on_gpus ? "CUDA" : "CPU", now.layout().text().c_str(), 1e-6 * updates / seconds,
                1e-9 * updates * 2 * sizeof(double) / seconds);
  return !o.check || is_like_serial(o, b, now) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const options o = parse_options(argc, argv);
  try {
    return run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heat3d: %s\n", e.what());
    return 1;
  }
}
