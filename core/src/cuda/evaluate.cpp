// Programs on CUDA devices: by the kernel that was compiled for their shape.
#include "backend_class.hpp"
#include "cuda/jit/expression_kernels.hpp"
#include "generator/kernel_arguments.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr std::string_view verb = "evaluation of an expression";

}  // namespace

void cuda_backend::launch_generated(cudaStream_t s, void* function, const evaluation& e,
                                    const generator::kernel_plan& p) {
  static const auto launch =
      driver_call<CUresult(const CUlaunchConfig*, CUfunction, void**, void**)>("cuLaunchKernelEx");
  if (!launch) [[unlikely]]
    throw not_supported("expressions need a driver of CUDA 12.0 or later (cuLaunchKernelEx)");
  alignas(16) std::byte arguments[generator::most_argument_bytes];
  generator::write_arguments(e, p, arguments);
  void* parameters[] = {arguments};
  CUlaunchConfig how{};
  how.gridDimX = static_cast<unsigned>(p.blocks()), how.gridDimY = how.gridDimZ = 1;
  how.blockDimX = generator::kernel_plan::threads, how.blockDimY = how.blockDimZ = 1;
  how.hStream = s;
  const CUresult r = launch(&how, static_cast<CUfunction>(function), parameters, nullptr);
  if (r != CUDA_SUCCESS) [[unlikely]]
    fail_on(static_cast<cudaError_t>(r), verb, s);
}

void cuda_backend::evaluate(native_stream s, int device, const evaluation& e, std::span<const kernel_use>) {
  const generator::kernel_plan plan(e);
  void* function = kernels_->find(device, plan);
  if (!function) [[unlikely]]
    function = kernels_->finish(device, e, plan);
  if (!function) [[unlikely]]
    throw not_supported(std::string(verb) + ": there is no compiled kernel: " + kernels_->why_not(device, plan));
  const cudaStream_t stream = raw(s);
  if (is_default(stream)) [[unlikely]] {  // a default stream belongs to the current device
    const device_scope current(device, verb);
    return launch_generated(stream, function, e, plan);
  }
  launch_generated(stream, function, e, plan);
}

bool cuda_backend::prepare_evaluation(int device, const evaluation& e) {
  return kernels_->finish(device, e, generator::kernel_plan(e)) != nullptr;
}

std::string cuda_backend::explain_evaluation(int device, const evaluation& e) {
  return kernels_->text(device, e, generator::kernel_plan(e));
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
