/// @file
/// Errors between the processes of a program.
#pragma once
#include "ferry/core/error.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup errors
/// @{

/// Another process failed, ended without taking part in an operation, or did not arrive within
/// FERRY_COLLECTIVE_TIMEOUT. No process can use the team that spans them any more.
class process_error : public error {
 public:
  using error::error;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
