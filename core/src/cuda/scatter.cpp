// Scatters on CUDA devices.
#include "backend_class.hpp"
#include "cuda/scatter_kernels.hpp"
#include "ferry/core/checks.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr std::string_view scattering = "scatter of elements";

}  // namespace

void cuda_backend::scatter(native_stream s, int device, const scatter_task& t, std::span<const kernel_use>) {
  const device_scope current(device, scattering);
  check_on(launch_scatter(t, is_device_code_checked(), at(device, scattering).most_blocks, raw(s)), scattering, raw(s));
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
