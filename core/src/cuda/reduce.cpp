// Runs reductions, scans and histograms on CUDA devices: by the kernel that was compiled for their shape.
#include <string>

#include "backend_class.hpp"
#include "cuda/jit/expression_kernels.hpp"
#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "generator/kernel_arguments.hpp"
#include "generator/reduction_kernel.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr std::string_view reduction_verb = "reduction of an expression";

}  // namespace

std::size_t cuda_backend::scratch_bytes(const reduction_evaluation& r) {
  return generator::reduction_kernel(r).scratch_bytes();
}

void cuda_backend::launch_reduction(cudaStream_t s, void* function, const reduction_evaluation& r,
                                    const generator::reduction_kernel& k) {
  if (const std::size_t bytes = k.cleared_bytes()) check_on(cudaMemsetAsync(r.scratch, 0, bytes, s), reduction_verb, s);
  for (std::size_t launch = 0; launch != k.launches(); ++launch) {
    const std::string values = k.arguments(launch);
    alignas(16) std::byte arguments[generator::most_argument_bytes];
    values.copy(reinterpret_cast<char*>(arguments), values.size());
    launch_function(s, function, k.blocks(launch), generator::reduction_threads, arguments, reduction_verb);
  }
}

void* cuda_backend::finish_reduction(int device, const generator::reduction_kernel& k) {
  const std::string shape = k.shape();
  if (void* const function = kernels_->finish(device, shape, [&] { return k.source(); })) return function;
  throw not_supported(concat(reduction_verb, ": there is no compiled kernel: ", kernels_->why_not(device, shape)));
}

bool cuda_backend::prepare_reduction(int device, const reduction_evaluation& r) {
  return finish_reduction(device, generator::reduction_kernel(r)) != nullptr;
}

std::string cuda_backend::explain_reduction(int device, const reduction_evaluation& r) {
  const generator::reduction_kernel k(r);
  std::string launches;
  for (std::size_t launch = 0; launch != k.launches(); ++launch)
    launches += concat(launch ? ", then " : "", k.blocks(launch));
  return kernels_->text(device, k.shape(), k.source(), concat(launches, " blocks of ", generator::reduction_threads),
                        "not compiled");
}

void cuda_backend::reduce(native_stream s, int device, const reduction_evaluation& r, std::span<const kernel_use>) {
  const generator::reduction_kernel kernel(r);
  void* function = kernels_->find(device, kernel.shape());
  if (!function) [[unlikely]] {
    if (is_capturing(s))
      throw not_supported(concat(reduction_verb,
                                 ": its kernel is not compiled, and captures compile nothing: precompile it before the "
                                 "capture (fr::precompile), or compute it once"));
    function = finish_reduction(device, kernel);
  }
  const cudaStream_t stream = raw(s);
  if (is_default(stream)) [[unlikely]] {  // a default stream belongs to the current device
    const device_scope current(device, reduction_verb);
    return launch_reduction(stream, function, r, kernel);
  }
  launch_reduction(stream, function, r, kernel);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
