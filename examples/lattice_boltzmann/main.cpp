// The flow through a channel with obstacles, by the lattice Boltzmann method. The nine populations of a cell are the
// components of one sharded array: a loop over the cells sees them all, and their halos travel together.
// test: --rows 40 --columns 70 --steps 60 --check --picture vorticity.png --quiet
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

#include "channel.hpp"
#include "lattice.hpp"
#include "options.hpp"
#include "picture.hpp"
#include "serial.hpp"

namespace fr = ferry;
namespace {

using clock_type = std::chrono::steady_clock;

// Compares this process's cells with the serial result.
bool is_like_serial(const options& o, const channel& c, const fr::sharded_array<double, 3>& populations) {
  const std::vector<double> expected = solve_serially(c, o.steps);
  std::vector<double> found = expected;
  fr::copy(populations, std::span<double>(found));
  const auto differ = std::mismatch(found.begin(), found.end(), expected.begin());
  const bool good = differ.first == found.end();
  if (good && !o.quiet) std::puts("serial    the populations are equal");
  if (!good)
    std::fprintf(stderr,
                 "lattice_boltzmann: the populations differ, first in element %td of %zu: %.17g, serially %.17g\n",
                 differ.first - found.begin(), found.size(), *differ.first, *differ.second);
  return good;
}

int run(options o) {
  const fr::team devices = fr::team::world();  // of all processes, under mpirun
  const bool prints = devices.first_local() == 0;
  o.quiet = o.quiet || !prints;
  const bool on_gpus = !fr::runtime::current().is_simulated();
  const channel c{o.rows ? o.rows : on_gpus ? 4096 : 180, o.columns ? o.columns : on_gpus ? 8192 : 480};

  // Populations move along diagonals, too: with a grid of devices, corners of halos come from diagonal neighbours.
  fr::shard_options parts{.axis = 1, .halo = {0, 1, 0}}, cells{.axis = 0, .halo = {1, 0}};
  if (!o.grid.empty()) {
    parts = {.axis = {1, 2}, .grid = o.grid, .halo = {0, 1, 1}};
    cells = {.axis = {0, 1}, .grid = o.grid, .halo = {1, 1}};
  }
  fr::sharded_array<double, 3> now(devices, {9, c.rows, c.columns}, parts),
      next(devices, {9, c.rows, c.columns}, parts);
  fr::sharded_array<unsigned char, 2> solid(devices, {c.rows, c.columns}, cells);
  fr::copy(c.solid(), solid);
  fr::exchange_halos(solid);
  fr::sharded_array<unsigned short, 2> walls(devices, {c.rows, c.columns}, cells);
  fr::parallel_for(fr::owned(solid), lattice::find_walls{}, fr::in(solid), fr::out(walls));
  fr::parallel_for(fr::sweep(solid), lattice::start{c.inflow}, fr::out(now));

  // Only for the time measurement: NVRTC compiles the kernel before.
  const lattice::step step{c.inflow, c.rate()};
  fr::precompile_for(fr::sweep(solid), step, fr::in(now), fr::in(walls), fr::out(next));
  devices.synchronize();
  const auto begin = clock_type::now();
  for (std::size_t s = 0; s < o.steps; ++s) {
    fr::parallel_for(fr::sweep(solid), step, fr::in(now), fr::in(walls), fr::out(next));
    swap(now, next);
  }
  devices.synchronize();
  const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
  const double updates = static_cast<double>(c.rows) * static_cast<double>(c.columns) * static_cast<double>(o.steps);
  if (!o.quiet)
    std::printf("devices   %zu (%s)\ncells     %zu x %zu\nspeed     %.1f million cells a second, %.1f GB/s\n",
                devices.size(), on_gpus ? "CUDA" : "CPU", c.rows, c.columns, 1e-6 * updates / seconds,
                1e-9 * updates * 2 * 9 * sizeof(double) / seconds);

  if (!o.picture.empty()) {
    parts.halo = 0;
    fr::sharded_array<double, 3> velocity(devices, {2, c.rows, c.columns}, parts);
    fr::parallel_for(fr::owned(solid), lattice::velocity{}, fr::in(now), fr::in(solid), fr::out(velocity));
    const std::vector<double> all = fr::to_vector(velocity);
    if (prints) write_vorticity(o.picture, c, all);
  }
  return !o.check || is_like_serial(o, c, now) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const options o = parse_options(argc, argv);
  try {
    return run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lattice_boltzmann: %s\n", e.what());
    return 1;
  }
}
