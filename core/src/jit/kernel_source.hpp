// The source of a kernel, and the options of its compiler.
#pragma once
#include <string>
#include <vector>

#include "ferry/core/detail/operations/functor_definition.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

// Compute capability of a device.
struct architecture {
  int major = 0, minor = 0;
  int number() const { return 10 * major + minor; }  // 90 for sm_90
};

struct kernel_source {
  std::string text;                         // CUDA C++ with one extern "C" __global__ function
  std::string entry;                        // the name of that function
  std::string shape = {};                   // short description for the log of shapes
  std::vector<std::string> options = {};    // of the compiler, without the architecture
  std::vector<device_header> headers = {};  // for #include directives of the text, which contains a hash of them
  bool has_substitute = true;               // true: the program continues without this kernel; stderr reports a failure
};

}  // namespace ferry::inline FERRY_ABI::detail::jit
