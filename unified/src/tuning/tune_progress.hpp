// The progress of a tuner: one line that is overwritten.
#pragma once
#include <iosfwd>
#include <string>

#include "ferry/unified/array_policy.hpp"

namespace ferry {

class tune_progress {
 public:
  // to: the output. Null: stderr if that is a terminal, else no output.
  tune_progress(std::ostream* to, std::size_t trials);
  // Erases the line.
  ~tune_progress();
  tune_progress(const tune_progress&) = delete;
  tune_progress& operator=(const tune_progress&) = delete;
  // Shows that the next trial begins. best: milliseconds of a step so far, 0 if unknown.
  void show(const std::string& array, const array_policy& p, double best);

 private:
  std::ostream* to_;
  std::size_t trials_, done_ = 0;
};

}  // namespace ferry
