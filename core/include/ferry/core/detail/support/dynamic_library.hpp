// Libraries that are loaded while the program runs: no other file calls dlopen().
#pragma once
#include <string>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A shared library, or why it cannot be loaded. It stays in the process until that ends.
class dynamic_library {
 public:
  enum class binding { now, lazy };  // when the library's own references to functions are resolved
  // Loads the first of these files that can be loaded.
  explicit dynamic_library(const std::vector<std::string>& files, binding when = binding::now);
  // Loads the file that the environment variable names if it is set, otherwise as above.
  dynamic_library(const char* variable, const std::vector<std::string>& files);

  bool is_loaded() const { return handle_ != nullptr; }
  // The loader's errors, separated by "; ", if no file can be loaded.
  const std::string& why_not() const { return why_not_; }

  // Sets `function` to the function of that name; to null if the library lacks it.
  template <class Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(address_of(name));
  }
  // As find(), and records the name of the first missing function.
  template <class Function>
  void need(Function*& function, const char* name) {
    find(function, name);
    if (!function && missing_.empty()) missing_ = name;
  }
  // The first function that need() did not find; empty if there is none.
  const std::string& missing() const { return missing_; }

 private:
  void load(const std::string& file, binding when);
  void* address_of(const char* name) const;
  void* handle_ = nullptr;
  std::string why_not_, missing_;
};

}  // namespace ferry::inline FERRY_ABI::detail
