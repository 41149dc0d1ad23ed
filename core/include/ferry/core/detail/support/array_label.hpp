// The name of an array, as a small object that kernels and errors can copy.
#pragma once
#include <cstddef>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Name of an array inside kernels, for messages of failed checks; and whether its span is checked at all.
class array_label {
 public:
  static constexpr std::size_t longest = 14;
  constexpr array_label() = default;
  explicit array_label(const char* text) {
    for (std::size_t i = 0; i != longest && text[i]; ++i) text_[i] = text[i];
  }
  FERRY_HOST_DEVICE const char* text() const { return text_; }
  FERRY_HOST_DEVICE bool is_named() const { return text_[0] != 0; }
  // Indices of the label's span are not compared with the extents.
  FERRY_HOST_DEVICE bool is_unchecked() const { return is_unchecked_; }
  FERRY_HOST_DEVICE void set_unchecked() { is_unchecked_ = true; }

 private:
  char text_[longest + 1] = {};  // a copy, because the array may be renamed or destroyed when the kernel runs
  bool is_unchecked_ = false;    // no char: a store of any type could change that, and compilers would test it again
};

}  // namespace ferry::inline FERRY_ABI::detail
