// The boxes of a halo exchange in memory, and its streams.
#pragma once
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Cells that member `from` owns and member `to` mirrors. The side of a member in another process is empty.
struct halo_box {
  std::size_t from = 0, to = 0;
  strided_bytes source, target;
  strided_shape shape;
  allocation_ref source_owner, target_owner;
  byte_range read, written;
  bool source_contiguous = true, target_contiguous = true;
};

using box_list = std::vector<const halo_box*>;

// The streams of an exchange: the members' own streams, or their side streams. With side streams, only strided cells
// are packed on the own streams.
enum class halo_streams : std::uint8_t { own, side };

}  // namespace ferry::inline FERRY_ABI::detail
