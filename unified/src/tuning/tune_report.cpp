// The result of a tuner: a table for people, JSON for programs.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/unified/tuner.hpp"
#include "policies/program_name.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

using detail::json_string;

std::string number(double v) { return detail::short_text(v, 4); }

std::string padded(std::string text, std::size_t width, bool right = false) {
  const std::string space(text.size() < width ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

const std::string& shown(const std::string& array) {
  static const std::string all = "(all arrays)";
  return array.empty() ? all : array;
}

// Returns the trial of automatic for all arrays; null if it was not run.
const tune_trial* automatic_trial(const tune_result& r) {
  const auto at =
      std::ranges::find_if(r.trials, [](const tune_trial& t) { return t.array.empty() && t.policy == array_policy{}; });
  return at == r.trials.end() ? nullptr : &*at;
}

std::string result_line(const tune_result& r) {
  std::string line = "a step takes " + number(r.best_milliseconds) + " ms";
  if (r.best.of.empty()) return line + ": automatic is best for all arrays";
  line += " with the policies chosen, ";
  if (const tune_trial* t = automatic_trial(r); t && !t->rejected.empty()) return line + "automatic was rejected";
  return line + number(r.automatic_milliseconds) + " ms without";
}

// Returns a number as JSON, which has no infinities and no NaN.
std::string json_number(double v) { return std::isfinite(v) ? detail::short_text(v, 9) : "null"; }

std::string json_of(const tune_trial& t) {
  std::string times;
  for (const double v : t.milliseconds) times += (times.empty() ? "" : ",") + json_number(v);
  return "{\"array\":" + json_string(t.array) + ",\"policy\":" + json_string(t.policy.text()) + ",\"milliseconds\":[" +
         times + "],\"median\":" + json_number(t.median) + ",\"spread\":" + json_number(t.spread) +
         ",\"rejected\":" + json_string(t.rejected) + ",\"chosen\":" + (t.chosen ? "true}" : "false}");
}

}  // namespace

std::string tune_result::table() const {
  std::size_t names = 12, policies = 20;
  for (const tune_trial& t : trials)
    names = std::max(names, shown(t.array).size()), policies = std::max(policies, t.policy.text().size());
  std::string out = padded("array", names) + "  " + padded("policy", policies) + "  " + padded("ms a step", 10, true) +
                    "  " + padded("spread", 9, true) + "\n";
  for (const tune_trial& t : trials) {
    const bool ran = !t.milliseconds.empty();
    out += padded(shown(t.array), names) + "  " + padded(t.policy.text(), policies) + "  " +
           padded(ran ? number(t.median) : "-", 10, true) + "  " + padded(ran ? number(t.spread) : "-", 9, true);
    if (t.chosen) out += "  chosen";
    if (!t.rejected.empty()) out += "  rejected: " + t.rejected;
    out += '\n';
  }
  return out + result_line(*this) + '\n';
}

std::string tune_result::json() const {
  std::string policies, rows;
  for (const auto& [array, policy] : best.of)
    policies += (policies.empty() ? "" : ",") + json_string(array) + ":" + json_string(policy.text());
  for (const tune_trial& t : trials) rows += (rows.empty() ? "" : ",\n") + json_of(t);
  return "{\"program\":" + json_string(best.program) + ",\"version\":" + json_string(best.version) +
         ",\n\"automatic_milliseconds\":" + json_number(automatic_milliseconds) +
         ",\"best_milliseconds\":" + json_number(best_milliseconds) + ",\n\"best\":{" + policies +
         "},\n\"trials\":[\n" + rows + "]}\n";
}

void tune_result::save_json(const std::string& path) const { write_whole_file(path, json()); }

std::ostream& operator<<(std::ostream& out, const tune_result& r) { return out << r.table(); }

}  // namespace ferry::inline FERRY_ABI
