// Kernels of functors that have a text, compiled by NVRTC.
#include "backend_class.hpp"
#include "cuda/jit/expression_kernels.hpp"
#include "cuda/jit/functor_source.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

void* cuda_backend::compile_functor(native_stream s, int device, const kernel_text& kernel) {
  const jit::kernel_source source = functor_source(kernel);
  if (void* const known = kernels_->find(device, source.text)) return known;
  if (is_capturing(s))
    throw not_supported("loop with " + kernel.name +
                        ": its kernel is not compiled, and captures compile nothing: run the loop once before the "
                        "capture");
  if (void* const function = kernels_->finish(device, source.text, [&] { return source; })) return function;
  throw not_supported("loop with " + kernel.name +
                      ": its kernel cannot be compiled: " + kernels_->why_not(device, source.text));
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
