// The flow of a gas on a mesh of triangles, which can be any: here a channel with a wedge. An exchange plan brings the
// states of the cells next to those of each member. Cells are renumbered along a Hilbert curve, so that these are few.
// test: --refine 1 --steps 40 --check --picture density.png --values density.txt --quiet
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "cells.hpp"
#include "euler.hpp"
#include "mesh.hpp"
#include "options.hpp"
#include "picture.hpp"
#include "serial.hpp"

namespace fr = ferry;
namespace {

using clock_type = std::chrono::steady_clock;

// Compares this process's cells, and the time, with the serial result. The serial solver has the mesh in the order of
// the file: a cell's result does not depend on its number.
bool is_like_serial(const options& o, const mesh& m, const std::vector<int>& order,
                    const fr::sharded_array<double, 2>& states, double time) {
  const serial_result serial = solve_serially(cells_of(m, file_order(m)), o.mach, o.courant, o.steps);
  std::vector<double> expected;
  expected.reserve(serial.states.size());
  for (const int triangle : order)
    for (std::size_t k = 0; k < 4; ++k) expected.push_back(serial.states[4 * static_cast<std::size_t>(triangle) + k]);
  std::vector<double> found = expected;
  fr::copy(states, std::span<double>(found));
  const bool good = found == expected && time == serial.time;
  if (!o.quiet || !good)
    std::fprintf(good ? stdout : stderr, "serial    the states %s\n", good ? "are equal" : "differ");
  return good;
}

void write_values(const std::string& file, const mesh& m, const std::vector<int>& order,
                  const std::vector<double>& density) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "w"), std::fclose);
  if (!out) throw fr::invalid_argument("the file '" + file + "' cannot be written");
  for (std::size_t i = 0; i < order.size(); ++i) {
    double x = 0, y = 0;
    for (const int p : m.triangles[static_cast<std::size_t>(order[i])])
      x += m.points[static_cast<std::size_t>(p)].x / 3, y += m.points[static_cast<std::size_t>(p)].y / 3;
    std::fprintf(out.get(), "%.9g %.9g %.9g\n", x, y, density[i]);
  }
}

int run(options o) {
  const fr::team devices = fr::team::world();  // of all processes, under mpirun
  const bool prints = devices.first_local() == 0;
  o.quiet = o.quiet || !prints;
  const bool on_gpus = !fr::runtime::current().is_simulated();
  mesh m = read_mesh(o.mesh);
  for (int divisions = o.refine < 0 ? (on_gpus ? 4 : 0) : o.refine; divisions > 0; --divisions) m = refined(m);
  const std::vector<int> order = o.order == "file" ? file_order(m) : hilbert_order(m);
  const cells c = cells_of(m, order);

  fr::sharded_array<int, 2> neighbours(devices, {c.size(), 3});
  fr::sharded_array<double, 2> normals(devices, {c.size(), 6}), now(devices, {c.size(), 4}),
      next(devices, {c.size(), 4});
  fr::sharded_array<double, 1> areas(devices, {c.size()});
  fr::copy(c.neighbours, neighbours);
  fr::copy(c.normals, normals);
  fr::copy(c.areas, areas);
  const fr::exchange_plan plan(now, neighbours);
  plan.renumber(neighbours);  // from here on the numbers that each member has for cells
  fr::replicated_array<double> time_step(devices, {1}), time(devices, {1}, 0.0);

  const auto inflow = euler::state::moving(o.mach);
  auto rate = fr::parallel_reduce(fr::owned(areas), euler::start{inflow}, fr::maximum{}, fr::in(normals), fr::in(areas),
                                  fr::out(now));
  devices.synchronize();  // only for the time measurement
  const auto begin = clock_type::now();
  for (std::size_t s = 0; s < o.steps; ++s) {
    fr::parallel_for(fr::each_member(devices, 1), euler::choose_time_step{o.courant}, rate, fr::out(time_step),
                     fr::inout(time));
    plan.exchange(now);
    rate =
        fr::parallel_reduce(fr::owned(areas), euler::step{inflow}, fr::maximum{}, fr::in(time_step), fr::in(neighbours),
                            fr::in(normals), fr::in(areas), fr::in(now), plan.reads(now), fr::out(next));
    swap(now, next);
  }
  devices.synchronize();
  const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();

  const double reached = fr::to_vector(time).front();
  const double pressure = fr::parallel_reduce(fr::owned(areas), euler::pressure{}, fr::minimum{}, fr::in(now));
  if (!(pressure > 0)) throw fr::error("the pressure is not positive in some cells: pass a smaller --courant");
  std::size_t ghosts = 0;
  for (std::size_t i = 0; i < devices.local_size(); ++i)
    ghosts = std::max(ghosts, plan.local(devices.first_local() + i).ghosts().size());
  const double updates = static_cast<double>(c.size()) * static_cast<double>(o.steps);
  if (!o.quiet)
    std::printf(
        "devices   %zu (%s)\ncells     %zu, at most %zu ghosts on a device of this process\ntime      %.4f after %zu "
        "steps\n"
        "speed     %.1f million cells a second\n",
        devices.size(), on_gpus ? "CUDA" : "CPU", c.size(), ghosts, reached, o.steps, 1e-6 * updates / seconds);

  if (!o.picture.empty() || !o.values.empty()) {
    const std::vector<double> states = fr::to_vector(now);
    std::vector<double> density;
    for (std::size_t i = 0; i < c.size(); ++i) density.push_back(states[4 * i]);
    if (prints && !o.picture.empty()) write_picture(o.picture, m, order, density);
    if (prints && !o.values.empty()) write_values(o.values, m, order, density);
  }
  return !o.check || is_like_serial(o, m, order, now, reached) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const options o = parse_options(argc, argv);
  try {
    return run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "euler: %s\n", e.what());
    return 1;
  }
}
