/// @file
/// Ghost cells of sharded arrays: the halo cells beyond the ends of axes that are not periodic.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/boundary_conditions.hpp"
#include "ferry/core/ghosts.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"
#include "ferry/multigpu/halo_exchange.hpp"
#include "ferry/multigpu/shard_loop.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {

// The sides of a sharded array that a call named: those whose cells beyond are ghost cells, and those along periodic
// axes of the layout, whose cells are halos.
struct sides_of_shards {
  std::vector<side> physical, mirrored;
  bool are_all = false;  // by all_sides, which are the physical ones
};
// Throws invalid_argument for axes that do not exist or have no halo, and for widths that are not those of the halo.
sides_of_shards checked_shard_sides(const side_list& sides, const std::optional<ghost_widths>& widths,
                                    std::span<const std::size_t> halo, std::span<const bool> is_periodic,
                                    const array_look& array);
// Throws invalid_argument if a side of a periodic axis was named.
void refuse_mirrored_sides(const sides_of_shards& sides, const array_look& array);
[[noreturn]] void throw_between_processes(const side& s, const array_look& array);

}  // namespace detail

/// The ghost cells of some sides of a sharded array; see ghosts(). Refers to the array.
template <class T, std::size_t Rank, memory_kind Kind>
class shard_ghosts {
 public:
  using array_type = sharded_array<std::remove_const_t<T>, Rank, Kind>;
  /// Used by ghosts().
  shard_ghosts(const array_type& a, const side_list& sides, const std::optional<ghost_widths>& widths, source_line at)
      : array_(&a),
        at_(at) {
    std::array<std::size_t, Rank> halo;
    std::array<bool, Rank> is_periodic;
    for (std::size_t d = 0; d != Rank; ++d) halo[d] = layout().halo(d), is_periodic[d] = layout().periodic(d);
    sides_ = detail::checked_shard_sides(sides, widths, halo, is_periodic, a.look());
  }

  /// Returns the array.
  const array_type& array() const { return *array_; }
  /// Returns its distribution.
  const shard_layout<Rank>& layout() const { return array_->layout(); }
  /// Returns the sides in the order in which they are processed: axis by axis, low before high.
  const std::vector<side>& sides() const { return sides_.physical; }
  // Returns the sides, with those whose cells beyond are halos.
  const detail::sides_of_shards& all_sides() const { return sides_; }
  /// Returns the source line of the call of ghosts().
  source_line at() const { return at_; }

  // Returns the ghost cells that a member has at a side, in indices of the whole array; empty if there are none.
  box<Rank> cells(std::size_t member, const side& s) const {
    const auto axis = static_cast<std::size_t>(s.axis);
    box<Rank> b = layout().local(member);
    if (b.empty()) return b;
    for (std::size_t d = axis + 1; d < Rank; ++d) {  // earlier axes with their ghost cells
      if (is_end(member, {static_cast<std::ptrdiff_t>(d), side_end::low})) b.begin[d] = 0;
      if (is_end(member, {static_cast<std::ptrdiff_t>(d), side_end::high})) b.end[d] = length(d);
    }
    const auto width = static_cast<std::ptrdiff_t>(layout().halo(axis));
    if (!is_end(member, s)) return b.with(axis, 0, 0);
    return s.end == side_end::low ? b.with(axis, -width, 0) : b.with(axis, length(axis), length(axis) + width);
  }
  // True if ghost cells of the sides are beside halo cells, which mirror cells of the array.
  bool touch_halos() const {
    for (const side& s : sides())
      for (std::size_t d = 0; d != Rank; ++d)
        if (static_cast<std::size_t>(s.axis) != d && layout().halo(d) > 0 &&
            (layout().periodic(d) || layout().members_along(d) > 1))
          return true;
    return false;
  }

 private:
  std::ptrdiff_t length(std::size_t d) const { return static_cast<std::ptrdiff_t>(layout().extents()[d]); }
  // True if the cells of a member end where the array ends, and ghost cells follow.
  bool is_end(std::size_t member, const side& s) const {
    const auto d = static_cast<std::size_t>(s.axis);
    const box<Rank> own = layout().own(member);
    return !layout().periodic(d) && (s.end == side_end::low ? own.begin[d] == 0 : own.end[d] == length(d));
  }

  const array_type* array_;
  detail::sides_of_shards sides_;
  source_line at_;
};

/// Returns the ghost cells of a sharded array at some of its sides: the halo cells beyond the ends of axes that are not
/// periodic. Every member at a side has a part of them. Halo cells of neighbours that are ghost cells there are set on
/// each member that has them. fill() sets them by a boundary condition, parallel_for() by a functor. The array must
/// outlive the result.
/// @param a array with a halo along the axes of the sides
/// @param sides side::low(axis), side::high(axis), several in braces, or all_sides: those with a halo that are not
///   periodic
/// @param at source line of the call
/// @throws invalid_argument for an axis that does not exist or has no halo
template <class T, std::size_t Rank, memory_kind Kind>
shard_ghosts<T, Rank, Kind> ghosts(sharded_array<T, Rank, Kind>& a, const side_list& sides,
                                   source_line at = source_line::here()) {
  return {a, sides, {}, at};
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
shard_ghosts<const T, Rank, Kind> ghosts(const sharded_array<T, Rank, Kind>& a, const side_list& sides,
                                         source_line at = source_line::here()) {
  return {a, sides, {}, at};
}
/// As above, and throws invalid_argument if the widths, one for all axes of the sides or {one for each axis}, are not
/// those of the halo. So one statement serves arrays on one device and on many.
template <class T, std::size_t Rank, memory_kind Kind>
shard_ghosts<T, Rank, Kind> ghosts(sharded_array<T, Rank, Kind>& a, const side_list& sides, const ghost_widths& widths,
                                   source_line at = source_line::here()) {
  return {a, sides, widths, at};
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
shard_ghosts<const T, Rank, Kind> ghosts(const sharded_array<T, Rank, Kind>& a, const side_list& sides,
                                         const ghost_widths& widths, source_line at = source_line::here()) {
  return {a, sides, widths, at};
}

namespace detail {

// Exchanges the halos unless they are certainly up to date. All processes must make the same decision.
template <class A>
void refresh_halos(const A& a) {
  if (a.team_operand()->halos_are_filled() && !spans_processes(a.team())) return;
  const std::array<halo_plan*, 1> plans{&halo_plan_of(a)};
  detail::exchange(a.team(), plans);
  halos_are_filled(a);
}

// Returns ghost cells in the memory of a member.
template <std::size_t Rank>
ghost_slab<Rank> slab_of(const shard_layout<Rank>& l, std::size_t member, const box<Rank>& cells, const side& s) {
  ghost_slab<Rank> b{static_cast<std::size_t>(s.axis), s.end, {}, cells.extents()};
  const box<Rank> local = l.local(member);
  for (std::size_t d = 0; d != Rank; ++d) b.first[d] = cells.begin[d] - local.begin[d];
  return b;
}

// Sets the ghost cells of one member at a side of an axis of distribution from cells of another member.
template <class T, std::size_t Rank, memory_kind Kind>
void copy_opposite_cells(const shard_ghosts<T, Rank, Kind>& g, std::size_t member, const box<Rank>& cells,
                         const side& s) {
  const shard_layout<Rank>& l = g.layout();
  const auto axis = static_cast<std::size_t>(s.axis);
  const auto n = static_cast<std::ptrdiff_t>(l.extents()[axis]), by = s.end == side_end::low ? n : -n;
  auto opposite = l.own(member).begin;
  opposite[axis] = s.end == side_end::low ? n - 1 : 0;
  const std::size_t from = l.member_of(opposite);
  box<Rank> source = cells.with(axis, cells.begin[axis] + by, cells.end[axis] + by);
  copy(l.team().stream(member), cells_for_call(g.array(), from, source), cells_for_call(g.array(), member, cells),
       g.at());
}

template <class T, std::size_t Rank, memory_kind Kind, class C>
void set_shard_ghosts(const shard_ghosts<T, Rank, Kind>& g, std::size_t member, const side& s, const C& condition) {
  const shard_layout<Rank>& l = g.layout();
  const box<Rank> cells = g.cells(member, s), own = l.own(member);
  if (cells.empty()) return;
  const auto axis = static_cast<std::size_t>(s.axis);
  if constexpr (std::is_same_v<C, periodic>)
    if (own.length(axis) != l.extents()[axis]) return copy_opposite_cells(g, member, cells, s);
  set_ghosts(l.team().stream(member), cells_for_call(g.array(), member, l.local(member)), slab_of(l, member, cells, s),
             static_cast<std::ptrdiff_t>(own.length(axis)), condition, g.at());
}

inline namespace FERRY_UNIT {

// The loops of a call that passed its checks.
template <class... P, class G, class F, class... A>
void call_over_ghosts(accepted_call<P...>, const G& g, const F& f, A&&... a) {
  const auto run = [&](const auto&... argument) {
    const auto& l = g.layout();
    for (const side& s : g.sides())
      l.team().for_each([&](std::size_t m) {
        const shard_part<G::array_type::rank> part{g.cells(m, s), 0, 0, 0};
        if (part.bounding_box.empty()) return;
        run_on_shard(l.team().stream(m), space_of_part(owned(g.array()), part), f,
                     argument_of(m, l, part, argument)...);
      });
  };
  run(as_shard_argument<P>(a)...);
}
template <class... Any>
void call_over_ghosts(refused_call, const Any&...) {}

}  // namespace FERRY_UNIT
}  // namespace detail

/// Sets ghost cells by a boundary condition: one submission for each side and member that has ghost cells there, on the
/// streams of the team, axis by axis. Exchanges the halos of the array before, if the condition reads them and they may
/// be out of date. Never blocks, except as exchange_halos does. periodic{} along axes that are periodic in the layout
/// is an exchange of halos; along axes of distribution it copies cells between two members.
/// @param g the cells, see ghosts()
/// @param condition fixed_value{x}, zero_gradient{}, reflecting{} or periodic{}
/// @throws invalid_argument for an odd parity of elements without a sign, and for another condition than periodic{} at
///   named sides of periodic axes
/// @throws not_supported for periodic{} between two processes: make the axis periodic in the layout
template <class T, std::size_t Rank, memory_kind Kind, class C>
void fill(const shard_ghosts<T, Rank, Kind>& g, const C& condition) {
  detail::need_condition<T, C>();
  if constexpr (detail::can_fill<T, C>) {
    const shard_layout<Rank>& l = g.layout();
    const detail::array_look look = g.array().look();
    detail::need_sign<T>(condition, look);
    constexpr bool is_periodic = std::is_same_v<C, periodic>;
    if (!is_periodic) detail::refuse_mirrored_sides(g.all_sides(), look);
    if constexpr (is_periodic)
      for (const side& s : g.sides())
        if (l.members_along(static_cast<std::size_t>(s.axis)) > 1 && detail::spans_processes(l.team()))
          detail::throw_between_processes(s, look);
    if (l.extents().count() == 0) return;
    if ((is_periodic && !g.all_sides().mirrored.empty()) || (g.touch_halos() && !detail::is_fixed_value<C>))
      detail::refresh_halos(g.array());
    for (const side& s : g.sides())
      l.team().for_each([&](std::size_t m) { detail::set_shard_ghosts(g, m, s, condition); });
  }
}

inline namespace FERRY_UNIT {

/// Calls f(index..., arguments...) for every ghost cell of some sides of a sharded array. Indices are those of the
/// whole array: static_cast<std::ptrdiff_t>(i) is negative before the first cell. Each member processes the ghost cells
/// that it has, on its stream, side by side in the order of the axes. Exchanges the halos of the array before, if they
/// may be out of date. Never blocks, except as exchange_halos does. Pass the array as inout(a).
/// @param g the cells
/// @param f the function of a cell
/// @param arguments arrays and values for f, as in other loops over shards
template <class T, std::size_t Rank, memory_kind Kind, class F, class... Arguments>
void parallel_for(const shard_ghosts<T, Rank, Kind>& g, const F& f, Arguments&&... arguments) {
  detail::refuse_mirrored_sides(g.all_sides(), g.array().look());
  if (g.layout().extents().count() == 0) return;
  if (g.touch_halos()) detail::refresh_halos(g.array());
  detail::call_over_ghosts(detail::checked<detail::shard_loop_check<shard_region<Rank>, F, Arguments...>>(), g, f,
                           std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
