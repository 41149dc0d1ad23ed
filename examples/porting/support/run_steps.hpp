// The main program around one code's steps: runs one of them or all, and compares each with the first.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ferry/core.hpp>
#include <ferry/unified/report.hpp>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "porting.hpp"

namespace porting {

struct step {
  const char* what;
  result (*run)(const problem&);
};

struct code {
  const char* name;
  problem by_default;
  double bound;  // maximum difference from step 1, relative to its largest value; 0: bitwise equal
  std::array<step, 5> steps;
  // Checks step 1's result by itself. Returns the error, or an empty string.
  std::string (*what_is_wrong)(const problem&, const result&);
};

struct command_line {
  problem p;
  std::size_t step = 0, runs = 1;  // 0: all steps
  std::string reference;
  bool json = false, report = false;
  command_line(const code& c, int argc, char** argv) : p(c.by_default) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view name = argv[i];
      if (name == "--json")
        json = true;
      else if (name == "--report")
        report = true;
      else if (i + 1 == argc)
        refuse(c, std::string(name) + " needs a number or a file");
      else if (name == "--reference")
        reference = argv[++i];
      else
        *number(c, name) = static_cast<std::size_t>(std::atoll(argv[++i]));
    }
    if (step > c.steps.size() || p.size < 8 || p.steps < 2 || runs < 1) refuse(c, "a number is out of range");
  }

 private:
  std::size_t* number(const code& c, std::string_view name) {
    if (name == "--step") return &step;
    if (name == "--size") return &p.size;
    if (name == "--steps") return &p.steps;
    if (name == "--runs") return &runs;
    refuse(c, "there is no option '" + std::string(name) + "'");
  }
  [[noreturn]] static void refuse(const code& c, const std::string& what) {
    std::fprintf(stderr,
                 "porting/%s: %s. Options: --step 1 to 5 (0: all), --size 8 or more, --steps 2 or "
                 "more, --runs 1 or more (the median is told), --reference FILE (step 1 leaves its "
                 "results there, others read them), --json, --report (of what migrated)\n",
                 c.name, what.c_str());
    std::exit(2);
  }
};

// The median over the runs, or over as many of them as fit into `enough` seconds. A short run before loads the devices'
// kernels.
inline result timed(const step& s, const problem& p, std::size_t runs) {
  constexpr double enough = 5;
  s.run({p.size, 2});
  std::vector<double> seconds;
  result last;
  double all = 0;
  for (; seconds.size() < runs && all < enough; all += last.seconds) {
    last = {};  // first, because there may not be enough memory for both
    last = s.run(p);
    seconds.push_back(last.seconds);
  }
  runs = seconds.size();
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(runs / 2), seconds.end());
  last.seconds = seconds[runs / 2];
  return last;
}

inline double largest(const std::vector<double>& v) {
  double most = 0;
  for (const double x : v) most = std::max(most, std::abs(x));
  return most;
}

// NaN anywhere counts as infinitely different.
inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = std::abs(a[i] - b[i]);
    most = d <= most ? most : std::isnan(d) ? INFINITY : d;
  }
  return most / largest(b);
}

inline bool is_same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// True if step `number` has the same result as step 1; prints the comparison.
inline bool run_step(const code& c, std::size_t number, const command_line& o, const result& first) {
  const step& s = c.steps[number - 1];
  const result r = number == 1 ? first : timed(s, o.p, o.runs);
  const double d = difference(r.values, first.values);
  const std::size_t steps = r.steps > 0 ? r.steps : o.p.steps;
  const double ms = 1e3 * r.seconds / static_cast<double>(steps);
  const bool good = c.bound > 0 ? d <= c.bound : is_same(r.values, first.values);
  const ferry::runtime& runtime = ferry::runtime::current();
  if (o.json)
    std::printf(
        "{\"code\": \"%s\", \"step\": %zu, \"what\": \"%s\", \"size\": %zu, \"steps\": %zu, \"ms\": %.6f, "
        "\"difference\": %.3g, \"bound\": %g, \"devices\": %zu, \"device\": \"%s\", \"simulated\": %s}\n",
        c.name, number, s.what, o.p.size, steps, ms, d, c.bound, ferry::devices().size(),
        runtime.properties(0).name.c_str(), runtime.is_simulated() ? "true" : "false");
  else if (d > 0)
    std::printf("%zu. %-42s %9.4f ms a step; differs from step 1 by %.1e\n", number, s.what, ms, d);
  else
    std::printf("%zu. %-42s %9.4f ms a step; equal to step 1\n", number, s.what, ms);
  if (!good)
    std::fprintf(stderr, "porting/%s: step %zu differs from step 1 by %.3e; allowed: %g\n", c.name, number, d, c.bound);
  return good;
}

// Reads the result of a run of step 1 from a file.
inline result from_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  result r{std::vector<double>(in ? static_cast<std::size_t>(in.tellg()) / sizeof(double) : 0)};
  in.seekg(0).read(reinterpret_cast<char*>(r.values.data()),
                   static_cast<std::streamsize>(r.values.size() * sizeof(double)));
  if (!in || r.values.empty()) throw std::runtime_error("there are no results of step 1 in " + file);
  return r;
}
inline void to_file(const result& r, const std::string& file) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(r.values.data()),
            static_cast<std::streamsize>(r.values.size() * sizeof(double)));
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

inline int run_steps(const code& c, int argc, char** argv) try {
  const command_line o(c, argc, argv);
  const bool is_read = o.step > 1 && !o.reference.empty();
  const result first = is_read      ? from_file(o.reference)
                       : o.step > 1 ? c.steps[0].run(o.p)
                                    : timed(c.steps[0], o.p, o.runs);
  if (!is_read && !o.reference.empty()) to_file(first, o.reference);
  const std::string wrong = is_read ? "" : c.what_is_wrong(o.p, first);
  if (!wrong.empty()) std::fprintf(stderr, "porting/%s: step 1: %s\n", c.name, wrong.c_str());
  bool good = wrong.empty();
  for (std::size_t number = 1; number <= c.steps.size(); ++number)
    if (o.step == 0 || o.step == number) good = run_step(c, number, o, first) && good;
  if (o.report) std::fputs(ferry::report_migration().table().c_str(), stdout);
  return good ? 0 : 1;
} catch (const ferry::not_supported& e) {  // GPU collectives without NCCL
  std::fprintf(stderr, "porting/%s: skipped: %s\n", c.name, e.what());
  return ferry::runtime::current().is_simulated() ? 1 : 77;
} catch (const std::exception& e) {
  std::fprintf(stderr, "porting/%s: %s\n", c.name, e.what());
  return 1;
}

}  // namespace porting
