// Evaluates programs on CUDA devices: by the kernel that was compiled for their shape, or by the interpreter kernel.
#include "backend_class.hpp"
#include "cuda/jit/expression_kernels.hpp"
#include "cuda/jit/interpreter_kernel.hpp"
#include "cuda/jit/tile_kernel.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "generator/function_text.hpp"
#include "generator/kernel_arguments.hpp"
#include "generator/kernel_text.hpp"
#include "generator/recent_kernels.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr std::string_view evaluating = "evaluation of an expression";

// Returns why the program needs a compiled kernel, for errors. Requires needs_compiled_kernel(e).
std::string what_needs_a_kernel(const evaluation& e) {
  const std::string places = generator::places_of_functions(e);
  return places.empty() ? " that gathers elements" : " that calls " + places;
}

}  // namespace

void cuda_backend::launch_function(cudaStream_t s, void* function, std::size_t blocks, unsigned threads,
                                   const void* arguments, std::string_view what) {
  static const auto launch =
      driver_call<CUresult(const CUlaunchConfig*, CUfunction, void**, void**)>("cuLaunchKernelEx");
  if (!launch) [[unlikely]]
    throw not_supported("expressions need a driver of CUDA 12.0 or later (cuLaunchKernelEx)");
  void* parameters[] = {const_cast<void*>(arguments)};
  CUlaunchConfig how{};
  how.gridDimX = static_cast<unsigned>(blocks), how.gridDimY = how.gridDimZ = 1;
  how.blockDimX = threads, how.blockDimY = how.blockDimZ = 1;
  how.hStream = s;
  const CUresult r = launch(&how, static_cast<CUfunction>(function), parameters, nullptr);
  if (r != CUDA_SUCCESS) [[unlikely]]
    fail_on(static_cast<cudaError_t>(r), what, s);
}

void cuda_backend::launch_generated(cudaStream_t s, void* function, const evaluation& e,
                                    const generator::kernel_plan& p) {
  alignas(16) std::byte arguments[generator::most_argument_bytes];
  generator::write_arguments(e, p, arguments);
  launch_function(s, function, p.blocks(), generator::kernel_plan::threads, arguments, evaluating);
}

void cuda_backend::interpret(native_stream stream, int device, const evaluation& e, const generator::kernel_plan& p) {
  const device_scope current(device, evaluating);
  const cudaStream_t s = raw(stream);
  if (tile_program tiles; tiles.assign(e)) return check_on(launch_tiles(tiles, s), evaluating, s);
  const interpreter_program program(e);
  const cudaError_t r = launch_interpreter(program, at(device, evaluating).properties.multiprocessors, s);
  if (r != cudaErrorNotSupported) return check_on(r, evaluating, s);
  clear_pending();
  // The interpreter refuses programs of this size: blocks until their kernel is compiled.
  if (!is_capturing(stream))
    if (void* const function = kernels_->finish(device, e, p)) return launch_generated(s, function, e, p);
  throw not_supported(concat(evaluating, ": a program of ", e.code.size(),
                             " operations is too large for the interpreter, and its kernel is not compiled (",
                             kernels_->why_not(device, p.shape()),
                             "): precompile it before a capture (fr::precompile), or evaluate a part of it into an "
                             "array first (fr::evaluate)"));
}

// Blocks until the kernel is compiled, and returns it. For evaluations that call functions or gather elements, which
// the interpreter kernel does not support.
void* cuda_backend::finish_needed(int device, const evaluation& e, const generator::kernel_plan& p) {
  if (void* const function = kernels_->finish(device, e, p)) return function;
  throw not_supported(concat(
      evaluating, what_needs_a_kernel(e),
      ": its kernel cannot be compiled, and only compiled kernels do that: ", kernels_->why_not(device, p.shape())));
}

// Inside a capture, requests no kernels: a program whose kernel is not compiled is interpreted.
void cuda_backend::evaluate(native_stream s, int device, const evaluation& e, std::span<const kernel_use>) {
  const cudaStream_t stream = raw(s);
  generator::recent_kernels& recent = generator::recent_kernels::of_thread();
  const generator::recent_kernels::kernel* const known = recent.find(kernels_->number(), device, e);
  if (known && !is_default(stream)) [[likely]]
    return launch_generated(stream, known->function, e, known->plan);
  const generator::kernel_plan plan(e);
  void* function = kernels_->find(device, plan.shape());
  if (!function && needs_compiled_kernel(e)) [[unlikely]] {
    if (is_capturing(s))
      throw not_supported(concat(evaluating, what_needs_a_kernel(e),
                                 ": its kernel is not compiled, and captures compile nothing: precompile it before the "
                                 "capture (fr::precompile), or evaluate it once"));
    function = finish_needed(device, e, plan);
  }
  if (!function) [[unlikely]]
    if (!is_capturing(s)) function = kernels_->request(device, e, plan);
  if (!function) [[unlikely]]
    return interpret(s, device, e, plan);
  if (!known) recent.put(kernels_->number(), device, e, plan, function);
  if (is_default(stream)) [[unlikely]] {  // a default stream belongs to the current device
    const device_scope current(device, evaluating);
    return launch_generated(stream, function, e, plan);
  }
  launch_generated(stream, function, e, plan);
}

bool cuda_backend::prepare_evaluation(int device, const evaluation& e) {
  const generator::kernel_plan plan(e);
  return (needs_compiled_kernel(e) ? finish_needed(device, e, plan) : kernels_->finish(device, e, plan)) != nullptr;
}

std::string cuda_backend::explain_evaluation(int device, const evaluation& e) {
  const generator::kernel_plan plan(e);
  return kernels_->text(device, plan.shape(), generator::kernel_source_for(e, plan),
                        concat(plan.blocks(), " blocks of ", generator::kernel_plan::threads),
                        needs_compiled_kernel(e) ? "not compiled" : "interpreted");
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
