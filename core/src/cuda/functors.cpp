// Kernels of functors that have a text, compiled by NVRTC.
#include "backend_class.hpp"
#include "cuda/jit/expression_kernels.hpp"
#include "cuda/jit/functor_source.hpp"
#include "cuda/jit/nvrtc_compiler.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {

[[noreturn]] void throw_uncompiled(const kernel_text& kernel, const std::string& why) {
  throw not_supported("loop with " + kernel.name + ": its kernel cannot be compiled: " + why);
}

}  // namespace

void* cuda_backend::compile_functor(native_stream s, int device, const kernel_text& kernel) {
  const jit::kernel_source source = functor_source(kernel);
  if (void* const known = kernels_->find(device, source.text)) return known;
  if (is_capturing(s)) throw_uncompiled_in_capture(kernel);
  if (void* const function = kernels_->finish(device, source.text, [&] { return source; })) return function;
  throw_uncompiled(kernel, kernels_->why_not(device, source.text));
}

void check_functor(const kernel_text& kernel) {
  try {
    (void)nvrtc_compiler().compile(functor_source(kernel), {9, 0});  // of any architecture
  } catch (const jit::compile_error& e) {
    throw_uncompiled(kernel, plain_what(e));
  }
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
