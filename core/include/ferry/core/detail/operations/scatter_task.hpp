// Elements that are stored at indices: what backends get.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/operations/scalar_type.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/extents.hpp"
#include "ferry/core/macros.hpp"

namespace ferry::inline FERRY_ABI::detail {

// For all k below count, sets element(k) of the destination to value k, or adds value k. Values and indices are dense.
// Axes are numbered from the fastest. k counts values along all axes. Along axis `axis`, value n is for index[n].
struct scatter_task {
  scalar_type type = scalar_type::none;
  bool is_sum = false;           // adds; otherwise replaces
  bool is_checked = false;       // simulated devices refuse repeated indices
  bool has_long_indices = true;  // int64, else int32
  std::size_t rank = 0, axis = 0, count = 0;
  std::int64_t indexed = 0;  // extent of the destination along `axis`
  std::size_t extent[max_rank] = {};
  std::ptrdiff_t stride_bytes[max_rank] = {};  // of the destination
  const std::byte* indices = nullptr;
  const std::byte* values = nullptr;
  std::byte* to = nullptr;

  FERRY_HOST_DEVICE std::int64_t index(std::size_t n) const {
    return has_long_indices ? reinterpret_cast<const std::int64_t*>(indices)[n]
                            : std::int64_t{reinterpret_cast<const std::int32_t*>(indices)[n]};
  }
  // Offset in bytes of element(k). i: its index along the axis; negative ones count from the end. Returns false if that
  // is outside.
  FERRY_HOST_DEVICE bool place(std::size_t k, std::ptrdiff_t& offset, std::int64_t& i) const {
    offset = 0;
    bool is_inside = true;
    for (std::size_t d = 0; d != rank; ++d) {
      std::size_t at = k;
      if (d + 1 != rank) {
        k /= extent[d];
        at -= k * extent[d];
      }
      if (d == axis) {
        i = index(at);
        is_inside = i >= -indexed && i < indexed;
        at = static_cast<std::size_t>(i < 0 ? i + indexed : i);
      }
      offset += static_cast<std::ptrdiff_t>(at) * stride_bytes[d];
    }
    return is_inside;
  }
  // A copy with other addresses: move(p) for the address p.
  template <class Move>
  scatter_task moved(const Move& move) const {
    scatter_task there = *this;
    there.indices = move(there.indices), there.values = move(there.values), there.to = move(there.to);
    return there;
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
