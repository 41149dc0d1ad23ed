// The error of an allocation that a memory limit forbids. Callers of ferry catch it as out_of_memory.
#pragma once
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

class above_memory_limit final : public out_of_memory {
 public:
  using out_of_memory::out_of_memory;
};

}  // namespace ferry::inline FERRY_ABI::detail
