// The flood on all devices.
#pragma once
#include <functional>

#include <ferry/core/array.hpp>

#include "model.hpp"
#include "storm.hpp"

struct flood {
  ferry::unified_array<double, 2> terrain, water;  // m
  double total_water, total_lost;                  // m, summed over the cells
  std::size_t devices;
  double seconds_a_step;  // without the first step, in which devices load kernels and test their links
};

using terrain_points = ferry::unified_array<std::int16_t, 2>;

// Runs on at most `devices` devices, each with a strip of rows. Steps are enqueued in advance: `progress` gets the
// number of completed steps.
flood simulate(const terrain_points& points, const model& m, const storm& s, std::size_t devices,
               const std::function<void(std::size_t)>& progress);
