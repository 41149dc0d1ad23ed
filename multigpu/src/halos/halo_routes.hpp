// How each box of a halo exchange travels.
#pragma once
#include <set>
#include <span>
#include <utility>

#include "ferry/multigpu/detail/halos/halo_box.hpp"
#include "ferry/multigpu/shard_layout.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class halo_route : std::uint8_t {
  store,   // a kernel of the member that owns the cells writes them to their place
  copy,    // the driver copies a contiguous box
  packed,  // together with all boxes between two members, packed by one and unpacked by the other
  message  // to or from a member of another process
};

class halo_routes {
 public:
  // boxes: all of an exchange. how: not automatic.
  halo_routes(const team& t, std::span<const halo_box> boxes, halo_method how);
  // The first call for a pair of devices may test their link.
  halo_route of(const halo_box& b) const;
  // True if kernels of a member store to this memory. The first call for a pair of devices tests their link.
  bool can_store(std::size_t from, const allocation& to) const;

 private:
  const team& team_;
  halo_method how_;
  std::set<std::pair<std::size_t, std::size_t>> strided_;  // (from, to)
};

}  // namespace ferry::inline FERRY_ABI::detail
