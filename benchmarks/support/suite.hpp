// Google Benchmark with comparisons: one benchmark is one comparison, and one iteration is one round of both sides.
//
// Additional flags: --results FILE (or FERRY_RESULTS) appends the results as JSON lines, --rounds N,
// --round_milliseconds T (how long one side runs in one round).
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <ferry/core/device.hpp>

#include "report.hpp"
#include "rounds.hpp"

namespace benchmarks {

inline constexpr int skipped = 77;  // the tests' exit status for skipped

class suite {
 public:
  // The number and duration of rounds per side, unless flags override them.
  struct effort {
    int rounds = 101;
    double milliseconds = 0.5;
  };
  suite(int argc, char** argv, effort e) : rounds_(e.rounds), seconds_(1e-3 * e.milliseconds) {
    if (const char* file = std::getenv("FERRY_RESULTS")) file_ = file;
    std::vector<char*> rest;
    for (int i = 0; i < argc; ++i) {
      const bool more = i + 1 < argc;
      if (more && !std::strcmp(argv[i], "--results"))
        file_ = argv[++i];
      else if (more && !std::strcmp(argv[i], "--rounds"))
        rounds_ = std::max(1, std::atoi(argv[++i]));
      else if (more && !std::strcmp(argv[i], "--round_milliseconds"))
        seconds_ = 1e-3 * std::atof(argv[++i]);
      else
        rest.push_back(argv[i]);
    }
    int count = static_cast<int>(rest.size());
    benchmark::Initialize(&count, rest.data());
    if (benchmark::ReportUnrecognizedArguments(count, rest.data())) std::exit(1);
  }

  // Copies and runs nothing yet: everything that the comparison refers to must live until run() returns.
  void add(comparison c) {
    comparisons_.push_back(std::move(c));
    const comparison& kept = comparisons_.back();
    benchmark::RegisterBenchmark(kept.name.c_str(), [this, &kept](benchmark::State& state) { measure(state, kept); })
        ->Iterations(kept.most_rounds > 0 ? std::min(kept.most_rounds, rounds_) : rounds_)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  // Adds a result that was not timed, such as a count.
  void state(result r) { results_.push_back(std::move(r)); }

  // Records a comparison that this system cannot run because it has too few GPUs.
  void leave_out(const std::string& what, std::size_t gpus) {
    left_out_.push_back(what + ": needs " + std::to_string(gpus) + " GPUs, found " +
                        std::to_string(ferry::devices().size()));
  }

  // Neither prints nor writes results: another process does.
  void be_quiet() { quiet_ = true; }

  // Measures and reports. Returns main's exit status: 0 whether or not bounds hold, and that of a skipped test if
  // something was left out.
  int run() {
    if (quiet_) {
      struct : benchmark::BenchmarkReporter {
        bool ReportContext(const Context&) override { return true; }
        void ReportRuns(const std::vector<Run>&) override {}
      } silent;
      benchmark::RunSpecifiedBenchmarks(&silent);
      return 0;
    }
    if (!comparisons_.empty()) benchmark::RunSpecifiedBenchmarks();
    print_table(results_);
    if (!file_.empty()) append_json(file_, results_, place_);
    for (const std::string& what : left_out_) std::fprintf(stderr, "not timed: %s\n", what.c_str());
    return left_out_.empty() ? 0 : skipped;
  }

 private:
  void measure(benchmark::State& state, const comparison& c) {
    rounds r(c, seconds_);
    for (auto _ : state) state.SetIterationTime(r.once());
    results_.push_back(r.get());
    state.counters["ferry"] = results_.back().value;
    if (c.baseline)
      state.counters["baseline"] = results_.back().baseline, state.counters["ratio"] = results_.back().ratio;
    state.SetLabel(c.unit + std::string(" ") + verdict(results_.back()));
  }
  const place place_;
  std::string file_;
  bool quiet_ = false;
  int rounds_;
  double seconds_;
  std::deque<comparison> comparisons_;
  std::vector<result> results_;
  std::vector<std::string> left_out_;
};

}  // namespace benchmarks
