// Halos filled with the neighbours' cells.
#pragma once
#include <array>

#include "ferry/multigpu/halo_plan.hpp"
#include "ferry/multigpu/sharded_array.hpp"

namespace ferry {

namespace detail {

template <class T, std::size_t Rank, memory_kind Kind>
halo_plan& halo_plan_of(const sharded_array<T, Rank, Kind>& a) {
  return a.halos([&] {
    const auto& layout = a.layout();
    std::vector<halo_box> boxes;
    for (const auto& c : halo_copies(layout)) {
      const auto source = a.cells(c.from, c.source), target = a.cells(c.to, c.target);
      const copy_side from = side_of(source), to = side_of(target);
      boxes.push_back({c.from,
                       c.to,
                       {from.data, from.stride_bytes},
                       {to.data, to.stride_bytes},
                       shape_of<T>(source.extents()),
                       source.owner(),
                       target.owner(),
                       source.bytes(),
                       target.bytes(),
                       source.is_contiguous(),
                       target.is_contiguous()});
    }
    return std::make_shared<halo_plan>(layout.team(), std::move(boxes), layout.exchange());
  });
}

// Where the packing and the stores run.
enum class halo_streams : std::uint8_t { own, side };

inline void start_exchange(const team& t, std::span<halo_plan* const> plans, std::size_t member, halo_streams where) {
  halo_plan::start(plans, member, where == halo_streams::own ? t.stream(member) : t.side_stream(member));
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
  t.for_each([&](std::size_t m) { start_exchange(t, plans, m, halo_streams::own); });
  finish_exchange(t, plans);
}
void need_same_team(const team& a, const team& b);

}  // namespace detail

// Fills the halo cells that mirror cells of the arrays, corners too, of several arrays of one team at once: one kernel a
// member, which stores into its neighbours' memory, or copies where peers are impossible or copies are faster; strided
// halos are packed on the way. Halo cells beyond the end of an axis that is not periodic are left alone. On the streams of
// the team, ordered as any other work; never blocks, but the first time for an array, which may allocate buffers.
template <class First, class... More>
void exchange_halos(First& first, More&... more) {
  (detail::need_same_team(first.team(), more.team()), ...);
  const std::array<detail::halo_plan*, 1 + sizeof...(More)> plans{&detail::halo_plan_of(first),
                                                                  &detail::halo_plan_of(more)...};
  detail::exchange(first.team(), plans);
}

}  // namespace ferry
