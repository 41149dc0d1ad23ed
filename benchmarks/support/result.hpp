// A benchmark's results and their expected bounds.
#pragma once
#include <cstdio>
#include <optional>
#include <string>

namespace benchmarks {

// The bound of a measured figure.
struct bound {
  enum class of { nothing, value, ratio, excess };  // excess: value - baseline
  of what = of::nothing;
  enum class side { at_most, at_least } where = side::at_most;
  double limit = 0;
  std::string unit;  // of the limit; "x" for ratios

  static bound none() { return {}; }
  static bound value_at_most(double v, std::string unit) { return {of::value, side::at_most, v, std::move(unit)}; }
  static bound ratio_at_most(double v) { return {of::ratio, side::at_most, v, "x"}; }
  static bound ratio_at_least(double v) { return {of::ratio, side::at_least, v, "x"}; }
  static bound excess_at_most(double v, std::string unit) { return {of::excess, side::at_most, v, std::move(unit)}; }

  std::string text() const {
    if (what == of::nothing) return "stated";
    static constexpr const char* names[] = {"", "value", "ratio", "value - baseline"};
    char number[32];
    std::snprintf(number, sizeof number, "%.4g", limit);
    return std::string(names[static_cast<int>(what)]) + (where == side::at_most ? " <= " : " >= ") + number + " " +
           unit;
  }
};

struct result {
  std::string name, unit;
  double value = 0;           // median over the rounds
  std::string baseline_name;  // empty: no baseline
  double baseline = 0;
  double ratio = 0;   // median of the rounds' ratios, value / baseline
  double spread = 0;  // half of the rounds' values are within +- this fraction
  bound limit;
  double excess = 0;  // median of the rounds' differences, value - baseline

  // No value if there is no bound.
  std::optional<bool> holds() const {
    if (limit.what == bound::of::nothing) return {};
    const double figure = limit.what == bound::of::value ? value : limit.what == bound::of::ratio ? ratio : excess;
    return limit.where == bound::side::at_most ? figure <= limit.limit : figure >= limit.limit;
  }
};

}  // namespace benchmarks
