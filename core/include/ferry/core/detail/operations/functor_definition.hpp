// Functors that have a text (FERRY_FUNCTOR), and the kernels that call them, for compilation at run time.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Constant data of the source that defines the functor.
struct functor_definition {
  const char* name;
  const char* body;  // in braces, after the expansion of macros
  const char* file;
  unsigned line;
  std::span<const functor_definition* const> uses;  // functors whose names the body contains
  bool is_checked;                                  // indices and FERRY_ASSERT
  bool contracts;                                   // multiplications and additions become one operation
};

// A header that kernels include, by the name in their #include directives.
struct device_header {
  const char* name;
  const char* text;
};

// A kernel that calls a functor.
struct kernel_text {
  std::string name;                         // of the functor, with its place: "axpy (model.cpp:12)"
  std::string shape;                        // short description: what is called, with which parameters
  std::string code;                         // CUDA C++ with the function `entry`
  std::vector<device_header> headers = {};  // of other modules than core
  bool is_checked = false, contracts = true;
  static constexpr const char* entry = "ferry_functor";
};

// Of a capture in which a loop has no kernel yet: throws not_supported.
[[noreturn]] void throw_uncompiled_in_capture(const kernel_text& kernel);

}  // namespace ferry::inline FERRY_ABI::detail
