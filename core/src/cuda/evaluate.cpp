// Programs on CUDA devices: by the kernel that was compiled for their shape, or by the interpreter kernel.
#include "backend_class.hpp"
#include "cuda/jit/expression_kernels.hpp"
#include "cuda/jit/interpreter_kernel.hpp"
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

void cuda_backend::interpret(cudaStream_t s, int device, const evaluation& e, const generator::kernel_plan& p) {
  const device_scope current(device, verb);
  const interpreter_program program(e);
  const cudaError_t r = launch_interpreter(program, at(device, verb).properties.multiprocessors, s);
  if (r != cudaErrorNotSupported) return check_on(r, verb, s);
  clear_pending();
  // Larger than the interpreter takes: such programs wait for their kernel.
  if (void* const function = kernels_->finish(device, e, p)) return launch_generated(s, function, e, p);
  throw not_supported(std::string(verb) + ": a program of " + std::to_string(e.code.size()) +
                      " operations is too large for the interpreter, and its kernel is not compiled (" +
                      kernels_->why_not(device, p) + "): evaluate a part of it into an array first (fr::evaluate)");
}

// Captures compile nothing: there, a program whose kernel is not compiled is interpreted.
void cuda_backend::evaluate(native_stream s, int device, const evaluation& e, std::span<const kernel_use>) {
  const generator::kernel_plan plan(e);
  const cudaStream_t stream = raw(s);
  void* function = kernels_->find(device, plan);
  if (!function) [[unlikely]]
    if (!is_capturing(s)) function = kernels_->request(device, e, plan);
  if (!function) [[unlikely]]
    return interpret(stream, device, e, plan);
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
