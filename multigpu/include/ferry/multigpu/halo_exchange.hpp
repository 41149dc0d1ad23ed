/// @file
/// Halo exchange: fills halos with the neighbours' cells.
#pragma once
#include <array>

#include "ferry/multigpu/detail/halos/halo_copies.hpp"
#include "ferry/multigpu/detail/halos/halo_plan.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {

template <class T, std::size_t Rank, memory_kind Kind>
halo_plan& halo_plan_of(const sharded_array<T, Rank, Kind>& a) {
  return a.halos([&] {
    const auto& layout = a.layout();
    std::vector<halo_box> boxes;
    const team& t = layout.team();
    for (const auto& c : halo_copies(layout)) {
      if (!t.is_local(c.from) && !t.is_local(c.to)) continue;
      halo_box b{c.from, c.to, {}, {}, shape_of<T>(c.source.extents()), {}, {}, {}, {}};
      if (t.is_local(c.from)) {
        const auto source = a.cells(c.from, c.source);
        const copy_side from = side_of(source);
        b.source = {from.data, from.stride_bytes};
        b.source_owner = source.owner(), b.read = source.bytes(), b.source_contiguous = source.is_contiguous();
      }
      if (t.is_local(c.to)) {
        const auto target = a.cells(c.to, c.target);
        const copy_side to = side_of(target);
        b.target = {to.data, to.stride_bytes};
        b.target_owner = target.owner(), b.written = target.bytes(), b.target_contiguous = target.is_contiguous();
      }
      boxes.push_back(std::move(b));
    }
    return std::make_shared<halo_plan>(layout.team(), std::move(boxes), layout.exchange());
  });
}

inline bool any_packs(std::span<halo_plan* const> plans) {
  for (const halo_plan* p : plans)
    if (p->packs()) return true;
  return false;
}
inline void finish_exchange(const team& t, std::span<halo_plan* const> plans) {
  if (any_packs(plans)) t.for_each([&](std::size_t m) { halo_plan::finish(plans, m, t.stream(m)); });
}
inline void exchange(const team& t, std::span<halo_plan* const> plans) {
  t.for_each([&](std::size_t m) { halo_plan::start(plans, t, m, halo_streams::own); });
  halo_plan::carry(plans, t, halo_streams::own);
  finish_exchange(t, plans);
}
void need_same_team(const team& a, const team& b);
template <class A>
void halos_are_filled(const A& a) {
  a.note_filled();
}

}  // namespace detail

/// Fills the halo cells that mirror cells of the arrays, including corners, for one or several arrays of one team. One
/// kernel for each member stores into the memory of its neighbours. Copies are used instead where devices are no peers,
/// or where copies are faster. Strided halos are packed for that. Halo cells beyond the end of an axis that is not
/// periodic do not change. Ordered on the streams of the team as any other work. Does not block, except for the first
/// exchange of an array, which may allocate buffers and measure which method is faster (see halo_method).
/// @param first the first array
/// @param more further arrays of the same team
/// @throws invalid_argument for arrays of different teams
template <class First, class... More>
void exchange_halos(First& first, More&... more) {
  static_assert(!std::is_const_v<First> && (!std::is_const_v<More> && ...),
                "exchange_halos writes halos, and an array is const");
  (detail::need_same_team(first.team(), more.team()), ...);
  const std::array<detail::halo_plan*, 1 + sizeof...(More)> plans{&detail::halo_plan_of(first),
                                                                  &detail::halo_plan_of(more)...};
  detail::exchange(first.team(), plans);
  detail::halos_are_filled(first), (detail::halos_are_filled(more), ...);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
