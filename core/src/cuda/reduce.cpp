// Reductions of programs on CUDA devices: by the kernel that was compiled for their shape.
#include <string>

#include "backend_class.hpp"
#include "cuda/jit/expression_kernels.hpp"
#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "generator/kernel_arguments.hpp"
#include "generator/reduction_text.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr std::string_view reduction_verb = "reduction of an expression";

}  // namespace

std::size_t cuda_backend::scratch_bytes(const reduction_evaluation& r) {
  return r.kind == reduction_kind::reduce ? generator::reduction_plan(r).scratch_bytes(r) : 0;
}

// The second launch combines the parts of the first.
void cuda_backend::launch_reduction(cudaStream_t s, void* function, const reduction_evaluation& r,
                                    const generator::reduction_plan& p) {
  for (const bool is_last : {false, true}) {
    if (is_last && p.parts == 1) break;
    const std::string values = generator::reduction_arguments(r, p, is_last);
    alignas(16) std::byte arguments[generator::most_argument_bytes];
    values.copy(reinterpret_cast<char*>(arguments), values.size());
    launch_function(s, function, is_last ? p.last_blocks() : p.blocks(), generator::reduction_plan::threads, arguments,
                    reduction_verb);
  }
}

void cuda_backend::reduce(native_stream s, int device, const reduction_evaluation& r,
                          std::span<const kernel_use> uses) {
  if (r.kind != reduction_kind::reduce) return backend::reduce(s, device, r, uses);
  const generator::reduction_plan plan(r);
  const std::string shape = plan.shape(r);
  void* function = kernels_->find(device, shape);
  if (!function) [[unlikely]] {
    if (is_capturing(s))
      throw not_supported(
          std::string(reduction_verb) +
          ": its kernel is not compiled, and captures compile nothing: compute it once before the capture");
    function = kernels_->finish(device, shape, [&] { return generator::reduction_source_for(r, plan); });
  }
  if (!function) [[unlikely]]
    throw not_supported(std::string(reduction_verb) +
                        ": there is no compiled kernel: " + kernels_->why_not(device, shape));
  const cudaStream_t stream = raw(s);
  if (is_default(stream)) [[unlikely]] {  // a default stream belongs to the current device
    const device_scope current(device, reduction_verb);
    return launch_reduction(stream, function, r, plan);
  }
  launch_reduction(stream, function, r, plan);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
