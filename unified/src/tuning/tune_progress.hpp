// How far a tuner has come: one line that is written over.
#pragma once
#include <iosfwd>
#include <string>

#include "ferry/unified/array_policy.hpp"

namespace ferry {

class tune_progress {
 public:
  // Null: stderr, if that is a terminal, else nowhere.
  tune_progress(std::ostream* to, std::size_t trials);
  // Wipes the line.
  ~tune_progress();
  tune_progress(const tune_progress&) = delete;
  tune_progress& operator=(const tune_progress&) = delete;
  // The next trial begins. best: milliseconds of a step so far, 0 if not known.
  void show(const std::string& array, const array_policy& p, double best);

 private:
  std::ostream* to_;
  std::size_t trials_, done_ = 0;
};

}  // namespace ferry
