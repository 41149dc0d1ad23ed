// What members give to a collective, without its type.
#pragma once
#include <cstddef>

#include "ferry/multigpu/detail/support/small_vector.hpp"

namespace ferry {

class allocation_ref;

namespace detail {

struct collective_argument {
  const allocation_ref* owner = nullptr;
  std::byte* data = nullptr;
  std::size_t count = 0;
  bool contiguous = true;
};

// One for each member: up to 8, as many GPUs as a machine usually has at most, with no memory of their own.
using collective_arguments = small_vector<collective_argument, 8>;

}  // namespace detail
}  // namespace ferry
