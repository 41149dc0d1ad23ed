#include "ferry/core/detail/kernels/prepared_kernel.hpp"
#if FERRY_HAS_CUDA
namespace ferry::inline FERRY_ABI::detail {

void* compile_text_kernel(stream_ref s, compiled_kernel& handles, const std::function<kernel_text()>& text) {
  const int device = s.timeline().device();
  void* const function = runtime::current().backend().compile_functor(s.timeline().stream(), device, text());
  if (const auto at = static_cast<std::size_t>(device); function && at < handles.of_device.size())
    handles.of_device[at].store(function, std::memory_order_release);
  return function;
}

}  // namespace ferry::inline FERRY_ABI::detail
#endif
