#include "ferry/core/kernel_parameters.hpp"

namespace ferry::detail {

void throw_strided_pointer(const array_label& label) {
  const std::string name = label.text() && *label.text() ? std::string("'") + label.text() + "' " : "";
  throw invalid_argument(
      "a strided view " + name +
      "is given to a functor that takes a pointer: take it as ferry::mdspan, or clone() the view first");
}

}  // namespace ferry::detail
