// Shallow water as virtual pipes between cells: X. Mei, P. Decaudin, B.-G. Hu, "Fast Hydraulic Erosion Simulation and
// Visualization on GPU", Pacific Graphics 2007, sections 3.1 and 3.2. Without the erosion; the edges are open.
#pragma once
#include <cmath>
#include <cstdint>

#include <ferry/core/functor.hpp>
#include <ferry/multigpu/shard_span.hpp>

// Volume that leaves a cell through its four pipes, m3/s.
FERRY_FUNCTOR(outflow, {
  alignas(32) double up;
  double down, left, right;
  FERRY_HOST_DEVICE double sum() const { return up + down + left + right; }
});

FERRY_FUNCTOR(model, {
  double height, width;            // of a cell (north-south, east-west), m
  double time_step;                // s
  double gain_rows, gain_columns;  // what one metre of drop adds to a flux in one step, m3/s

  model(double cell_height, double cell_width) : height(cell_height), width(cell_width) {
    constexpr double gravity = 9.81, pipe_depth = 1;
    // Wave speed is sqrt(g * pipe depth). Half a cell per step is stable for any water depth.
    time_step = 0.5 / std::sqrt(gravity * pipe_depth * (1 / (height * height) + 1 / (width * width)));
    gain_rows = time_step * gravity * (pipe_depth * width) / height;
    gain_columns = time_step * gravity * (pipe_depth * height) / width;
  }
  FERRY_HOST_DEVICE double area() const { return height * width; }
});

// The functors, shared by devices and the CPU. Indices are global; a device sees its own rows and one row on either
// side.
namespace {

// Interpolates the terrain bilinearly between its measured points, and clears everything else.
FERRY_FUNCTOR_USING((outflow), prepare, {
  std::size_t refine;

  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::mdspan<const std::int16_t, 2> points,
                                    ferry::shard_span<double, 2> terrain, ferry::shard_span<double, 2> water,
                                    ferry::shard_span<outflow, 2> flux, ferry::shard_span<double, 2> lost) const {
    const std::size_t r = i / refine, c = j / refine;
    const std::size_t below = r + 1 < points.extent(0) ? r + 1 : r, right = c + 1 < points.extent(1) ? c + 1 : c;
    const double y = static_cast<double>(i % refine) / static_cast<double>(refine);
    const double x = static_cast<double>(j % refine) / static_cast<double>(refine);
    terrain(i, j) = (1 - y) * ((1 - x) * points(r, c) + x * points(r, right)) +
                    y * ((1 - x) * points(below, c) + x * points(below, right));
    water(i, j) = 0;
    flux(i, j) = {};
    lost(i, j) = 0;
  }
});

// Pressure drives the fluxes; outflow is limited to the water in the cell.
FERRY_FUNCTOR_USING((model, outflow), accelerate, {
  model m;

  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::shard_span<const double, 2> terrain,
                                    ferry::shard_span<const double, 2> water,
                                    ferry::shard_span<outflow, 2> flux) const {
    const double depth = water(i, j), level = terrain(i, j) + depth;
    const auto pushed = [&](double f, double gain, bool has_neighbour, std::size_t r, std::size_t c) {
      const double drop = has_neighbour ? level - (terrain(r, c) + water(r, c)) : depth;
      const double more = f + gain * drop;
      return more > 0 ? more : 0;
    };
    outflow before = flux(i, j);  // not const: g++ 12 would keep it in memory
    outflow f{pushed(before.up, m.gain_rows, i > 0, i - 1, j),
              pushed(before.down, m.gain_rows, i + 1 < water.extent(0), i + 1, j),
              pushed(before.left, m.gain_columns, j > 0, i, j - 1),
              pushed(before.right, m.gain_columns, j + 1 < water.extent(1), i, j + 1)};
    const double wanted = m.time_step * f.sum(), there = depth * m.area();
    if (wanted > there) {
      const double k = there / wanted;
      f = {k * f.up, k * f.down, k * f.left, k * f.right};
    }
    flux(i, j) = f;
  }
});

// Fluxes and rain change the depth; water that leaves the grid is counted.
FERRY_FUNCTOR_USING((model, outflow), transport, {
  model m;
  double rain;  // of this step, m

  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::shard_span<const outflow, 2> flux,
                                    ferry::shard_span<double, 2> water, ferry::shard_span<double, 2> lost) const {
    outflow out = flux(i, j);  // not const, as above
    double in = 0, gone = 0;
    i > 0 ? in += flux(i - 1, j).down : gone += out.up;
    i + 1 < flux.extent(0) ? in += flux(i + 1, j).up : gone += out.down;
    j > 0 ? in += flux(i, j - 1).right : gone += out.left;
    j + 1 < flux.extent(1) ? in += flux(i, j + 1).left : gone += out.right;
    const double depth = water(i, j) + rain + m.time_step * (in - out.sum()) / m.area();
    water(i, j) = depth > 0 ? depth : 0;  // rounding may give -1e-18
    if (gone > 0) lost(i, j) += m.time_step * gone / m.area();
  }
});

}  // namespace
