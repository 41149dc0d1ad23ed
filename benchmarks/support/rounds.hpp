// Compares two operations by alternating them many times in one run.
#pragma once
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "result.hpp"

namespace benchmarks {

// Does something n times and returns the time in seconds, by a clock of its choice.
using timed = std::function<double(std::size_t n)>;

// By the CPU's clock.
template <class F>
timed on_cpu(F body) {
  return [body](std::size_t n) mutable {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < n; ++i) body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
}

// The same for bodies that fill a queue: after each `most` repetitions, `drain` runs outside the measured time.
template <class F, class Drain>
timed on_cpu_drained(std::size_t most, F body, Drain drain) {
  return [=, once = on_cpu(body)](std::size_t n) mutable {
    double seconds = 0;
    for (std::size_t done = 0; done < n; done += most) {
      seconds += once(std::min(most, n - done));
      drain();
    }
    return seconds;
  };
}

// Two threads, each with its own body; returns the mean of their times.
inline timed by_two_threads(timed a, timed b) {
  return [=](std::size_t n) {
    std::barrier start(2);
    double seconds[2];
    const auto work = [&](int i, const timed& body) {
      start.arrive_and_wait();
      seconds[i] = body(n);
    };
    {
      std::jthread other([&] { work(1, b); });
      work(0, a);
    }
    return (seconds[0] + seconds[1]) / 2;
  };
}

// A question, with its result's unit. Times are per repetition; with `bytes`, speeds are in GB/s.
struct comparison {
  std::string name, unit = "ns";
  timed ours;
  std::string baseline_name;
  timed baseline;  // may be empty
  bound limit;
  double bytes = 0;     // moved by one repetition
  double elements = 1;  // handled by one repetition
  int most_rounds = 0;  // for slow operations; 0: the suite's number
};

inline double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// The number of repetitions for a measurement of about `seconds`; fewer for times that are barely longer than the
// subtracted one. The first repetition is ignored: it may allocate memory or load code, and would make the usual time
// seem longer.
inline std::size_t repetitions_for(const timed& what, double seconds) {
  (void)what(1);
  std::size_t n = 1;
  for (;;) {
    const auto begin = std::chrono::steady_clock::now();
    const double took = what(n);
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
    if (whole.count() > 20 * seconds && took < seconds / 2) return n;
    if (took >= seconds / 2 || n > (std::size_t{1} << 28)) {
      return std::max<std::size_t>(1,
                                   static_cast<std::size_t>(static_cast<double>(n) * seconds / std::max(took, 1e-9)));
    }
    n = took < seconds / 20 ? n * 8 : n * 2;
  }
}

class rounds {
 public:
  // Warms up, and determines the number of repetitions.
  rounds(const comparison& c, double seconds) : c_(c), n_(repetitions_for(c.ours, seconds)) {
    if (c.baseline) baseline_n_ = repetitions_for(c.baseline, seconds);
  }

  // Measures each side once, in alternating order. Returns our side's seconds per repetition.
  double once() {
    const bool first = ours_.size() % 2 == 0;
    double ours = first ? c_.ours(n_) : 0;
    if (c_.baseline) baseline_.push_back(figure(c_.baseline(baseline_n_), baseline_n_));
    if (!first) ours = c_.ours(n_);
    ours_.push_back(figure(ours, n_));
    return ours / static_cast<double>(n_);
  }

  result get() const {
    result r{.name = c_.name,
             .unit = c_.unit,
             .value = median(ours_),
             .baseline_name = c_.baseline ? c_.baseline_name : "",
             .limit = c_.limit};
    if (c_.baseline) {
      std::vector<double> ratios, differences;
      for (std::size_t i = 0; i < ours_.size(); ++i) {
        ratios.push_back(ours_[i] / baseline_[i]);
        differences.push_back(ours_[i] - baseline_[i]);
      }
      r.baseline = median(baseline_), r.ratio = median(ratios), r.excess = median(differences);
    }
    std::vector<double> off;
    for (const double v : ours_) off.push_back(std::abs(v / r.value - 1));
    r.spread = median(off);
    return r;
  }

 private:
  double figure(double seconds, std::size_t n) const {
    const double one = seconds / static_cast<double>(n);
    if (c_.bytes > 0) return c_.bytes / one * 1e-9;
    const double scale = c_.unit == "ns" ? 1e9 : c_.unit == "us" ? 1e6 : c_.unit == "ms" ? 1e3 : 1;
    return one * scale / c_.elements;
  }
  const comparison& c_;
  std::size_t n_, baseline_n_ = 0;
  std::vector<double> ours_, baseline_;
};

}  // namespace benchmarks
