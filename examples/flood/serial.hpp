#pragma once
#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "model.hpp"
#include "storm.hpp"

// The same functors, one cell after the other, on a thread of its own.
class serial_run {
 public:
  // The points must outlive it.
  serial_run(ferry::mdspan<const std::int16_t, 2> points, const model& m, const storm& s);
  // The depth of the water. Waits for it, and tells how many steps are over.
  std::vector<double> water(const std::function<void(std::size_t)>& progress);

 private:
  std::atomic<std::size_t> steps_done_{0};
  std::future<std::vector<double>> water_;
  std::jthread thread_;  // an exception elsewhere stops it
};
