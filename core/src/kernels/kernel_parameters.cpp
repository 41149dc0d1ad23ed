#include "ferry/core/detail/kernels/kernel_parameters.hpp"

namespace ferry::inline FERRY_ABI::detail {

void throw_strided_pointer(const array_look& view, source_line at) {
  throw invalid_argument("a strided view of " + array_text(view) + " is given" + in_line(at) +
                         " to a functor that takes a pointer: take it as ferry::mdspan, or give view.clone()");
}

}  // namespace ferry::inline FERRY_ABI::detail
