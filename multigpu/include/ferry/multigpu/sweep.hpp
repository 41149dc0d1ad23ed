/// @file
/// Sweeps: loops that also exchange the halos of the arrays that they write. The boundary comes first; its cells travel
/// while the devices process the interior.
#pragma once
#include "ferry/multigpu/halo_exchange.hpp"
#include "ferry/multigpu/reproducible.hpp"
#include "ferry/multigpu/shard_reduce.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// A region whose loops exchange the halos of the sharded arrays that they write. Made by sweep().
template <class Space>
struct swept {
  Space space;
};
/// Returns a sweep over all cells of an array.
template <class T, std::size_t Rank, memory_kind Kind>
swept<shard_region<Rank>> sweep(const sharded_array<T, Rank, Kind>& a) {
  return {owned(a)};
}
/// Returns a sweep over tiles. Their region must be owned(a), or a part of it by within().
inline swept<shard_tiles> sweep(const shard_tiles& tiles) { return {tiles}; }
/// Returns a sweep over a region: owned(a), or a part of it by within().
template <std::size_t Rank>
swept<shard_region<Rank>> sweep(const shard_region<Rank>& r) {
  return {r};
}

namespace detail {

[[noreturn]] void throw_narrow_sweep(const std::string& name);
[[noreturn]] void throw_partial_sweep();

template <class A>
void note_swept(const A& a) {
  each_sharded(a, [](const auto& x) {
    if (x.mode != access_mode::in) halos_are_filled(*x.what);
  });
}

// The halos of the arrays that a sweep writes. Throws if an array is distributed differently, or has wider halos than
// the region.
template <std::size_t Rank, std::size_t Most>
struct written_halos {
  const shard_layout<Rank>& region;
  std::array<halo_plan*, Most> plans{};
  std::size_t count = 0;

  template <class T, std::size_t ArrayRank, memory_kind Kind>
  void look(const sharded_argument<T, ArrayRank, Kind>& a) {
    const auto& layout = a.what->layout();
    const auto components = components_of(a.what->name(), layout, region);
    for (std::size_t d = 0; d != Rank; ++d)
      if (layout.halo(components.of_cells(d)) > region.halo(d)) throw_narrow_sweep(a.what->name());
    if (a.mode == access_mode::in || !layout.has_halo()) return;
    halo_plan* const plan = &halo_plan_of(*a.what);
    for (std::size_t i = 0; i < count; ++i)
      if (plans[i] == plan) return;
    plans[count++] = plan;
  }
  std::span<halo_plan* const> get() const { return {plans.data(), count}; }
};

}  // namespace detail

namespace detail {
inline namespace FERRY_UNIT {

template <class Region, class... A>
auto halos_of_sweep(const Region& region, const A&... a) {
  if (region.which() != shard_cells::owned) detail::throw_partial_sweep();
  detail::written_halos<Region::rank, (most_arrays<typename detail::member_argument<A>::type> + ... + 0)> halos{
      region.layout()};
  (each_sharded(a, [&](const auto& x) { halos.look(x); }), ...);
  return halos;
}

// on_part(member, space, is_last) submits the loop over a part of the region.
template <class Space, class OnPart, class... A>
void run_sweep(const Space& space, OnPart on_part, const A&... a) {
  const auto& region = detail::region_of(space);
  const auto halos = halos_of_sweep(region, a...);
  const team& t = region.layout().team();
  const auto edges = detail::with_region(space, region.with(shard_cells::boundary));
  const auto inside = detail::with_region(space, region.with(shard_cells::interior));
  t.for_each([&](std::size_t m) { on_part(m, edges, false); });
  t.for_each([&](std::size_t m) {
    detail::halo_plan::start(halos.get(), t, m, detail::halo_streams::side);
    on_part(m, inside, true);
  });
  detail::halo_plan::carry(halos.get(), t, detail::halo_streams::side);
  detail::finish_exchange(t, halos.get());
  (detail::note_swept(a), ...);
}

template <class Space, class F, class... A>
void loop_of_sweep(const Space& space, const F& f, const A&... a) {
  run_sweep(
      space, [&](std::size_t m, const auto& part, bool) { run_on_member(m, part, f, a...); }, a...);
}

// One reduction over boundary and interior.
template <class Space, class F, class Op, class... A>
auto reduction_of_sweep(const Space& space, const F& f, const Op& op, const A&... a) {
  using T = typename shard_result<Space, F, Op, A...>::type;
  const auto& region = detail::region_of(space);
  team_reduction<T, Op> all(region.layout().team(), op);
  all.expect(detail::with_region(space, region.with(shard_cells::boundary)));
  all.expect(detail::with_region(space, region.with(shard_cells::interior)));
  run_sweep(
      space,
      [&](std::size_t m, const auto& part, bool is_last) {
        all.run(m, part, f, a...);
        if (is_last) all.finish(m);
      },
      a...);
  return std::move(all).result();
}

template <std::size_t Rank, class F, class Op, class... A>
auto reproducible_sweep(const shard_region<Rank>& region, const F& f, const Op& op, const A&... a) {
  const auto halos = halos_of_sweep(region, a...);
  auto result = reduce_reproducibly_on_team(region, f, op, a...);
  detail::exchange(region.layout().team(), halos.get());
  (detail::note_swept(a), ...);
  return result;
}

// The sweeps of calls that passed their checks.
template <class... P, class Space, class F, class... A>
void call_sweep(detail::accepted_call<P...>, const swept<Space>& s, const F& f, A&&... a) {
  loop_of_sweep(s.space, f, detail::as_shard_argument<P>(a)...);
}
template <class... P, class Space, class F, class Op, class... A>
auto call_reducing_sweep(detail::accepted_call<P...>, const swept<Space>& s, const F& f, const Op& op, A&&... a) {
  return reduction_of_sweep(s.space, f, op, detail::as_shard_argument<P>(a)...);
}
template <class... P, class Space, class F, class Op, class... A>
auto call_reproducible_sweep(detail::accepted_call<P...>, const swept<Space>& s, const F& f, const Op& op, A&&... a) {
  return reproducible_sweep(s.space, f, op, detail::as_shard_argument<P>(a)...);
}
template <class... Any>
void call_sweep(detail::refused_call, const Any&...) {}
template <class... Any>
scalar<double> call_reducing_sweep(detail::refused_call, const Any&...) {
  return scalar<double>();
}
template <class... Any>
scalar<double> call_reproducible_sweep(detail::refused_call, const Any&...) {
  return scalar<double>();
}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// As parallel_for over all cells of the region. Afterwards the halos of the arrays that it writes are up to date. The
/// boundary comes first. Its halo cells travel on the side streams of the team while the interior is processed. Strided
/// cells, as in columns, are packed for that, which costs a kernel. Blocks only where parallel_for over one device
/// does, and at the first exchange of a shape of halos (see exchange_halos).
/// @param s the sweep; the array of its region must have the widest halos of all arguments
/// @param f the function of a cell
/// @param arguments arrays and values for f
/// @throws invalid_argument if an argument has a wider halo than the array of the region, or another distribution
template <detail::shard_space Space, class F, class... Arguments>
void parallel_for(const swept<Space>& s, const F& f, Arguments&&... arguments) {
  detail::call_sweep(detail::checked<detail::shard_loop_check<Space, F, Arguments...>>(), s, f,
                     std::forward<Arguments>(arguments)...);
}

/// As the sweep by parallel_for, with one reduction over boundary and interior.
template <detail::shard_space Space, class F, class Op, class... Arguments>
auto parallel_reduce(const swept<Space>& s, const F& f, const Op& op, Arguments&&... arguments) {
  return detail::call_reducing_sweep(detail::checked<detail::shard_reduction_check<Space, F, Arguments...>>(), s, f, op,
                                     std::forward<Arguments>(arguments)...);
}

/// As the reducing sweep, with the same bits on any number of devices; see reproducible(). Its chunks contain cells of
/// boundary and interior, so halos travel after all of them.
template <std::size_t Rank, class F, class Op, class... Arguments>
auto parallel_reduce(const swept<shard_region<Rank>>& s, const F& f, const reproducible_op<Op>& op,
                     Arguments&&... arguments) {
  return detail::call_reproducible_sweep(
      detail::checked<detail::shard_reduction_check<shard_region<Rank>, F, Arguments...>>(), s, f, op.op,
      std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
