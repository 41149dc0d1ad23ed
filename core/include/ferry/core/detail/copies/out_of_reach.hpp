// Memory that a kernel uses and its device cannot access.
#pragma once
#include <span>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/stream.hpp"

namespace ferry::inline FERRY_ABI::detail {

bool is_out_of_reach(int device, const access& a);
// True if the stream's device cannot access memory of one of the uses, and staging copies are enabled.
bool needs_staging(stream_ref s, std::span<const access> uses);

}  // namespace ferry::inline FERRY_ABI::detail
