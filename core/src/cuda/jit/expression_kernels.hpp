// The generated kernels of programs, on all CUDA devices of the process.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/jit/module_loader.hpp"
#include "cuda/jit/nvrtc_compiler.hpp"
#include "generator/kernel_plan.hpp"
#include "jit/kernel_service.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

class expression_kernels {
 public:
  // targets: the architecture of each device. Throws parse_error for FERRY_JIT and the variables that begin with it.
  explicit expression_kernels(std::vector<jit::architecture> targets)
      : loader_(std::move(targets)),
        service_(compiler_, loader_, jit::jit_settings::from_environment()) {}

  // Returns a number that no other object of the process has.
  std::uint64_t number() const { return number_; }
  // Returns the compiled kernel of a shape; null if there is none (yet). Takes no lock.
  void* find(int device, std::string_view shape) const noexcept {
    const jit::kernel* const k = service_.find(device, shape);
    return k ? k->function() : nullptr;
  }
  // Requests the kernel if it is not compiled yet. With FERRY_JIT=sync, blocks until it is compiled. Returns what
  // find() returns then.
  void* request(int device, const evaluation& e, const generator::kernel_plan& p);
  // Blocks until the kernel is compiled, or cannot be. Returns its function, or null.
  void* finish(int device, std::string_view shape, const std::function<jit::kernel_source()>& make);
  void* finish(int device, const evaluation& e, const generator::kernel_plan& p);
  // Returns state and source, for explain(). launch: such as "7 blocks of 256". without: what runs instead of the
  // kernel, such as "interpreted".
  std::string text(int device, std::string_view shape, const jit::kernel_source& source, std::string_view launch,
                   std::string_view without) const;
  // Returns why there is no compiled kernel, for error messages.
  std::string why_not(int device, std::string_view shape) const;

 private:
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }
  const std::uint64_t number_ = next_number();
  nvrtc_compiler compiler_;
  module_loader loader_;
  jit::kernel_service service_;
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
