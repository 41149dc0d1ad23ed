#include "halos/halo_routes.hpp"

#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

halo_routes::halo_routes(const team& t, std::span<const halo_box> boxes, halo_method how) : team_(t), how_(how) {
  for (const halo_box& b : boxes)
    if (!b.source_contiguous || !b.target_contiguous) strided_.insert({b.from, b.to});
}

// If any box between two members is strided, all boxes between them travel as one message: then single cells, too, lie
// between interior cells.
halo_route halo_routes::of(const halo_box& b) const {
  if (!team_.is_local(b.from) || !team_.is_local(b.to)) return halo_route::message;
  if (b.from == b.to) return halo_route::store;
  const bool one_by_one = !strided_.contains({b.from, b.to});
  const allocation& target = b.target_owner.get();
  if (one_by_one && can_store(b.from, target)) return halo_route::store;
  return one_by_one && target.kind == memory_kind::device ? halo_route::copy : halo_route::packed;
}

bool halo_routes::can_store(std::size_t from, const allocation& to) const {
  if (how_ == halo_method::copies) return false;
  try {
    return to.kind != memory_kind::device ||
           runtime::current().peers().grant(team_.device(from).index(), to.device, to.peer_class());
  } catch (const peer_access_error&) {
    return false;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
