// Arguments of members to a collective, without their type.
#pragma once
#include <cstddef>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/small_vector.hpp"

namespace ferry::inline FERRY_ABI::detail {

class allocation_ref;

struct collective_argument {
  const allocation_ref* owner = nullptr;
  std::byte* data = nullptr;
  std::size_t count = 0;
  bool contiguous = true;
};

// The arguments of all local members. No allocation for up to 8, the usual maximum of GPUs in one machine.
using collective_arguments = small_vector<collective_argument, 8>;

}  // namespace ferry::inline FERRY_ABI::detail
