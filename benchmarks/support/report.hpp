// Results as a table for readers, and as JSON lines for scripts.
#pragma once
#include <cstdio>
#include <fstream>
#include <iostream>
#include <span>

#include "place.hpp"
#include "result.hpp"

namespace benchmarks {

inline const char* verdict(const result& r) { return !r.holds() ? "" : *r.holds() ? "holds" : "FAILS"; }

inline void print_table(std::span<const result> results) {
  std::printf("\n%-52s %12s %12s %8s %7s   %-26s\n", "", "ferry", "baseline", "ratio", "spread", "bound");
  for (const result& r : results) {
    std::printf("%-52s %8.4g %-4s", r.name.c_str(), r.value, r.unit.c_str());
    if (r.baseline_name.empty())
      std::printf("%11s %8s", "", "");
    else
      std::printf("%11.4g %8.3f", r.baseline, r.ratio);
    std::printf(" %6.1f%%   %-26s %s\n", 100 * r.spread, r.limit.text().c_str(), verdict(r));
  }
  std::fflush(stdout);
}

class json_line {
 public:
  json_line& text(const char* key, const std::string& v) { return raw(key, quoted(v)); }
  json_line& number(const char* key, double v) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", v);
    return raw(key, digits);
  }
  json_line& raw(const char* key, const std::string& v) {
    line_ += (line_.empty() ? "" : ", ") + quoted(key) + ": " + v;
    return *this;
  }
  std::string get() const { return "{" + line_ + "}"; }

 private:
  static std::string quoted(const std::string& v) {
    std::string s = "\"";
    for (const char c : v) {
      if (c == '"' || c == '\\') s += '\\';
      s += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return s + "\"";
  }
  std::string line_;
};

inline std::string to_json(const result& r, const place& at) {
  json_line j;
  j.text("name", r.name).number("value", r.value).text("unit", r.unit);
  if (r.baseline_name.empty())
    j.raw("baseline", "null").raw("ratio", "null");
  else
    j.raw("baseline", json_line().text("what", r.baseline_name).number("value", r.baseline).get())
        .number("ratio", r.ratio);
  if (r.limit.what == bound::of::excess) j.number("excess", r.excess);
  j.number("spread", r.spread).text("bound", r.limit.text());
  j.raw("holds", !r.holds() ? "null" : *r.holds() ? "true" : "false");
  j.text("machine", at.runtime).number("devices", static_cast<double>(at.devices));
  return j.text("driver", at.driver).text("date", at.date).text("commit", at.commit).get();
}

inline void append_json(const std::string& file, std::span<const result> results, const place& at) {
  std::ofstream out(file, std::ios::app);
  for (const result& r : results) out << to_json(r, at) << '\n';
  if (!out) std::cerr << "cannot write " << file << '\n';
}

}  // namespace benchmarks
