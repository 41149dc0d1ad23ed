// Cells dealt out another way: along another axis, or over another team.
#pragma once
#include "ferry/multigpu/halo_exchange.hpp"

namespace ferry {

// Copies every cell to where `to` has it; shapes must be equal. Halos of `to` are left alone. Each member of `to` fetches
// what it needs on its stream, ordered behind what wrote it; never blocks, but copies of strided pieces between devices that
// are no peers may allocate. Throws invalid_argument for shapes that differ, and where members of both belong to other
// processes.
template <class T, std::size_t Rank, memory_kind From, memory_kind To>
void reshard(const sharded_array<T, Rank, From>& from, sharded_array<T, Rank, To>& to) {
  detail::need_same_shape(from.extents(), to.extents());
  to.team().for_each([&](std::size_t m) {
    const box<Rank> own = to.layout().own(m);
    for (std::size_t source = 0; source < from.team().size(); ++source) {
      const box<Rank> both = own & from.layout().own(source);
      if (!both.empty()) copy(to.team().stream(m), from.cells(source, both), to.cells(m, both));
    }
  });
}

// A new array of the same cells, with halos filled where they were asked for. May allocate, and block for that.
template <class T, std::size_t Rank, memory_kind Kind>
sharded_array<T, Rank, Kind> reshard(const sharded_array<T, Rank, Kind>& from, const team& t, const shard_options& o) {
  sharded_array<T, Rank, Kind> to(t, from.extents(), o);
  reshard(from, to);
  if (to.layout().has_halo()) exchange_halos(to);
  return to;
}

}  // namespace ferry
