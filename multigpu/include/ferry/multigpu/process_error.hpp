// What goes wrong between the processes of a program.
#pragma once
#include "ferry/core/error.hpp"

namespace ferry {

// Another process failed, ended without taking part, or did not come within FERRY_COLLECTIVE_TIMEOUT. The team that spans
// processes cannot be used any more, by any of them.
class process_error : public error {
 public:
  using error::error;
};

}  // namespace ferry
