// Compiles kernels by NVRTC. Needs no device.
#pragma once
#include "jit/compiler.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

class nvrtc_compiler final : public jit::compiler {
 public:
  // Returns a text such as "nvrtc 13.0".
  std::string version() override;
  // Returns machine code for the target. If this NVRTC does not support the target, returns PTX of the newest older
  // architecture that it supports.
  std::string compile(const jit::kernel_source& source, jit::architecture target) override;
};

// Returns the option for a target, given the architectures that NVRTC supports in ascending order: sm_90, or compute_90
// if the target is newer. Throws not_supported for a target that is older than all of them.
std::string architecture_option(jit::architecture target, const int* supported, std::size_t count);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
