// The error for objects of another runtime.
#pragma once
#include <string>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Throws invalid_argument. what: the object, such as "the stream". than: the runtime that it should belong to.
[[noreturn]] inline void throw_other_runtime(const std::string& what, const std::string& than = "the current one") {
  throw invalid_argument(what + " belongs to another runtime (another backend or simulation) than " + than +
                         ": make and use it inside the same ferry::simulation");
}

}  // namespace ferry::inline FERRY_ABI::detail
