// Loads compiled kernels on CUDA devices.
#pragma once
#include <vector>

#include "jit/compiler.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

class module_loader final : public jit::code_loader {
 public:
  // targets: the architecture of each device.
  explicit module_loader(std::vector<jit::architecture> targets) : targets_(std::move(targets)) {}
  std::string version() override;
  jit::architecture target(int device) override { return targets_.at(static_cast<std::size_t>(device)); }
  // Returns a CUfunction. May run while other threads capture streams.
  void* load(int device, const std::string& code, const std::string& entry) override;

 private:
  const std::vector<jit::architecture> targets_;
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
