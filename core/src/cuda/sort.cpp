// Sorting tasks on CUDA devices.
#include "backend_class.hpp"
#include "cuda/sorting/device_sorting.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr std::string_view sorting_verb = "sorting of an array";

}  // namespace

std::size_t cuda_backend::sorting_scratch(int device, const sorting_task& t) {
  if (t.kind == sorting_kind::search || t.kind == sorting_kind::rank) return 0;
  const device_scope current(device, sorting_verb);
  std::size_t bytes = 0;
  check(device_sorting(t, at(device, sorting_verb).most_blocks).measure(bytes), sorting_verb, device);
  return bytes;
}

void cuda_backend::sort(native_stream s, int device, const sorting_task& t, std::span<const kernel_use>) {
  const device_scope current(device, sorting_verb);  // CUB asks the current device for its properties
  check_on(device_sorting(t, at(device, sorting_verb).most_blocks).run(raw(s)), sorting_verb, raw(s));
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
