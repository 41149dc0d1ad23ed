// The name of an array, as a small object that kernels and errors can copy.
#pragma once
#include <cstddef>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Name of an array inside kernels, for messages of failed checks.
class array_label {
 public:
  static constexpr std::size_t longest = 15;
  constexpr array_label() = default;
  explicit array_label(const char* text) {
    for (std::size_t i = 0; i + 1 < sizeof text_ && text[i]; ++i) text_[i] = text[i];
  }
  FERRY_HOST_DEVICE const char* text() const { return text_; }
  FERRY_HOST_DEVICE bool is_named() const { return text_[0] != 0; }

 private:
  char text_[longest + 1] = {};  // a copy, because the array may be renamed or destroyed when the kernel runs
};

}  // namespace ferry::inline FERRY_ABI::detail
