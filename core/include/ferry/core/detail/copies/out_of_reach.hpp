// Memory that a kernel uses and its device does not reach.
#pragma once
#include <span>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/stream.hpp"

namespace ferry::detail {

bool is_out_of_reach(int device, const access& a);
// Whether one of the uses is of memory that the stream's device does not reach, and such memory is to be mirrored.
bool must_mirror(stream_ref s, std::span<const access> uses);

}  // namespace ferry::detail
