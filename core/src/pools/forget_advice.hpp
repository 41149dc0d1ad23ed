// Removes memory advice (cudaMemAdvise) of a previous owner of the bytes.
#pragma once
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

class backend;
struct allocation;

// Unsets the advice for a block of unified memory. A page that extends beyond the block loses the advice as a whole;
// advice is only a hint. Never blocks. Does not throw if a device has failed.
void forget_advice(detail::backend& backend, allocation& a);

}  // namespace ferry::inline FERRY_ABI::detail
