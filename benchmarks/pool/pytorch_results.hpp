// Results of pytorch_baseline.py on the same system: lines of a name, a tab and a number.
#pragma once
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace benchmarks {

class pytorch_results {
 public:
  // Reads the file named by FERRY_PYTORCH_RESULTS; empty without it.
  pytorch_results() {
    const char* file = std::getenv("FERRY_PYTORCH_RESULTS");
    if (!file) return;
    std::ifstream in(file);
    for (std::string name, number; std::getline(in, name, '\t') && std::getline(in, number);)
      values_[name] = std::atof(number.c_str());
  }
  std::optional<double> value(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, double> values_;
};

}  // namespace benchmarks
