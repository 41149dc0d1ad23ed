// The same flood on one core, to compare results with.
#pragma once
#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "model.hpp"
#include "storm.hpp"

// Runs the same functors sequentially, cell by cell, on its own thread.
class serial_run {
 public:
  // The points must outlive it.
  serial_run(ferry::mdspan<const std::int16_t, 2> points, const model& m, const storm& s);
  // Returns the water's depth. Blocks until it is computed, and reports the number of completed steps.
  std::vector<double> water(const std::function<void(std::size_t)>& progress);

 private:
  std::atomic<std::size_t> steps_done_{0};
  std::future<std::vector<double>> water_;
  std::jthread thread_;  // an exception elsewhere stops it
};
