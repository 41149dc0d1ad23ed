// Interfaces to the compiler and to the driver. The CUDA backend implements them by NVRTC and by the driver's modules.
// Tests have implementations of their own.
#pragma once
#include <string>

#include "ferry/core/error.hpp"
#include "jit/kernel_source.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

// The source does not compile. The text contains the compiler's log.
class compile_error : public error {
 public:
  using error::error;
};

// All functions are thread-safe.
class compiler {
 public:
  virtual ~compiler() = default;
  // Returns name and version of the compiler, a part of the cache's keys. Loads the compiler at the first call. Throws
  // not_supported if there is none.
  virtual std::string version() = 0;
  // Returns code that the driver can load. Throws compile_error, not_supported.
  virtual std::string compile(const kernel_source& source, architecture target) = 0;
};

// All functions are thread-safe.
class code_loader {
 public:
  virtual ~code_loader() = default;
  // Returns the version of the driver, a part of the cache's keys.
  virtual std::string version() = 0;
  virtual architecture target(int device) = 0;
  // Loads code on a device, for the life of the process. Returns the driver's handle of the function `entry`, which is
  // not null. Throws ferry::error, also for code that the driver refuses.
  virtual void* load(int device, const std::string& code, const std::string& entry) = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail::jit
