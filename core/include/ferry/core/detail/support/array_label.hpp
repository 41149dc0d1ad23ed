#pragma once
#include <cstddef>

#include "ferry/core/macros.hpp"

namespace ferry {

// The name of an array as kernels carry it, for the text of a failed check.
class array_label {
 public:
  constexpr array_label() = default;
  explicit array_label(const char* text) {
    for (std::size_t i = 0; i + 1 < sizeof text_ && text[i]; ++i) text_[i] = text[i];
  }
  FERRY_HOST_DEVICE const char* text() const { return text_; }
  FERRY_HOST_DEVICE bool is_named() const { return text_[0] != 0; }

 private:
  char text_[16] = {};  // a copy: the array may be renamed or gone when the kernel runs
};

}  // namespace ferry
