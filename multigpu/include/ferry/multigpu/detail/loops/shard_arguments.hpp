// Arguments of loops over shards, and their form in each member's kernel.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/call_checks.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/loops/components.hpp"
#include "ferry/multigpu/detail/loops/shard_argument.hpp"
#include "ferry/multigpu/shard_region.hpp"
#include "ferry/multigpu/shard_span.hpp"
#include "ferry/multigpu/sharded_argument.hpp"

namespace ferry::inline FERRY_ABI {
template <class T, std::size_t Rank>
class sharded_expression;
template <class T, std::size_t Rank>
class sharded_reduced;
template <class T, std::size_t Rank>
class sharded_scanned;
template <class T>
class sharded_total;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

template <class T, std::size_t Rank>
inline constexpr bool is_not_computed<sharded_expression<T, Rank>> = true;
template <class T, std::size_t Rank>
inline constexpr bool is_not_computed<sharded_reduced<T, Rank>> = true;
template <class T, std::size_t Rank>
inline constexpr bool is_not_computed<sharded_scanned<T, Rank>> = true;
template <class T>
inline constexpr bool is_not_computed<sharded_total<T>> = true;

template <class T, std::size_t Rank, memory_kind Kind>
constexpr bool is_sharded(const sharded_array<T, Rank, Kind>*) {
  return true;
}
constexpr bool is_sharded(const void*) { return false; }

// True for structs of sharded arrays, whose type has the template of the arrays as its first parameter.
template <class X>
inline constexpr bool is_sharded_struct =
    lists_members<X>&& is_sharded(static_cast<const typename array_of_struct<std::remove_cvref_t<X>>::type*>(nullptr));

// Arguments in the place of a struct of sharded arrays; see shard_struct_arguments.hpp.
template <class A>
inline constexpr bool is_struct_of_shards = false;

// Calls f for each sharded array in an argument of a call.
template <class A, class F>
void each_sharded(const A& a, const F& f) {
  if constexpr (requires { a.each_sharded(f); }) a.each_sharded(f);
}
template <class T, std::size_t Rank, memory_kind Kind, class F>
void each_sharded(const sharded_argument<T, Rank, Kind>& a, const F& f) {
  f(a);
}
// Calls f for an argument of one kernel, or for each array in a struct of sharded arrays.
template <class A, class F>
void each_shard(const A& a, const F& f) {
  if constexpr (is_struct_of_shards<A>)
    a.each_array(f);
  else
    f(a);
}

template <class X>
inline constexpr bool is_sharded_argument = false;
template <class T, std::size_t Rank, memory_kind Kind>
inline constexpr bool is_sharded_argument<sharded_argument<T, Rank, Kind>> = true;

// Adds the halos that are out of date before the call.
template <class T, std::size_t Rank, memory_kind Kind>
sharded_argument<T, Rank, Kind> with_stale_halos(sharded_argument<T, Rank, Kind> a) {
  if (const auto* v = a.what->validity(); v && a.mode != access_mode::out) [[unlikely]]
    a.stale = v->stale();
  return a;
}
// Records what a loop over a region wrote. Called when the work of the loop has been submitted.
template <class Region, class T, std::size_t Rank, memory_kind Kind>
void note_array_written(const Region& r, const sharded_argument<T, Rank, Kind>& a) {
  if (a.mode == access_mode::in) return;
  if constexpr (Region::rank == Rank) {
    a.what->note_changed(r);
  } else {
    const auto& l = a.what->layout();
    const auto c = components_of(a.what->name(), l, r.layout());
    a.what->note_changed(region_with_components<Rank, Region::rank>{r, c, l.extents()});
  }
}
template <class Region, class A>
void note_written(const Region& r, const A& a) {
  each_sharded(a, [&](const auto& x) { note_array_written(r, x); });
}

// Converts sharded and replicated arrays, and all other arguments, for a parameter P of the functor, as as_argument
// does.
template <class P = void, class A>
auto as_shard_argument(A&& a) {
  using X = std::remove_cvref_t<A>;
  constexpr bool reads = only_reads<std::remove_cvref_t<P>>, is_const = std::is_const_v<std::remove_reference_t<A>>;
  if constexpr (is_out_argument<X>) {
    if constexpr (reads)
      return refused_argument<call_fault::out_of_a_reader>();
    else
      return typename X::argument(a);
  } else if constexpr (is_sharded_struct<X>) {  // in() and inout() of sharded_struct.hpp
    if constexpr (is_const || reads)
      return as_shard_argument<P>(in(std::as_const(a), source_line{}));
    else
      return as_shard_argument<P>(inout(a, source_line{}));
  } else if constexpr (is_sharded_argument<X>) {
    if constexpr (requires { a.with_stale_sides(); })
      return a.with_stale_sides();
    else
      return with_stale_halos(X(a));
  } else if constexpr (requires { a.of_member(std::size_t{}); }) {
    return X(a);
  } else if constexpr (reads && !is_const) {
    return as_shard_argument<P>(std::as_const(a));
  } else if constexpr (is_sharded(static_cast<const X*>(nullptr))) {
    if constexpr (is_const)
      return with_stale_halos(in(a));
    else
      return with_stale_halos(inout(a));
  } else if constexpr (requires { a.as_team_argument(); }) {
    return a.as_team_argument();
  } else {
    return as_argument<P>(a);
  }
}

// Marks the sides of a span's halo that are out of date, so that accesses to them fail.
template <class T, std::size_t Rank>
void refuse_stale_sides(shard_span<T, Rank>& s, std::size_t member, const box<Rank>& own,
                        const stale_halos<Rank>& stale) {
  for (const auto& side : stale.sides) {
    if (side.member != member) continue;
    const std::size_t d = side.axis;
    const std::ptrdiff_t low = own.begin[d] - s.begin(d),
                         high = s.begin(d) + static_cast<std::ptrdiff_t>(s.length(d)) - own.end[d];
    if (side.low && low > 0) s.refuse(d, static_cast<std::uint32_t>(low), s.refused_high(d));
    if (!side.low && high > 0) s.refuse(d, s.refused_low(d), static_cast<std::uint32_t>(high));
  }
}

// The type of an argument in the kernel of one member.
template <class X>
struct member_argument {
  using type = X;
};
template <class X>
requires requires(const X& x) { x.of_member(std::size_t{}); }
struct member_argument<X> {
  using type = decltype(std::declval<const X&>().of_member(std::size_t{}));
};
template <class T, std::size_t Rank, memory_kind Kind>
struct member_argument<sharded_argument<T, Rank, Kind>> {
  using type = shard_argument<T, Rank>;
};
// The types of arguments at the functor of a loop over shards (see call_checks.hpp).
struct shard_loop_arguments : device_arguments {
  template <class P, class A>
  using given = typename member_argument<decltype(as_shard_argument<P>(std::declval<A>()))>::type;
};

// Returns the part of a sharded array that a kernel over these cells of a region on `member` may access.
template <class T, std::size_t Rank, memory_kind Kind, std::size_t RegionRank>
shard_argument<T, Rank> argument_of(std::size_t member, const shard_layout<RegionRank>& region,
                                    const shard_part<RegionRank>& part, const sharded_argument<T, Rank, Kind>& a,
                                    array_label label) {
  const auto& layout = a.what->layout();
  const shard_part<Rank> p = with_components(components_of(a.what->name(), layout, region), layout.extents(), part);
  const box<Rank> local = layout.local(member);
  const shard_reach<Rank> reach(layout);
  const box<Rank> seen = a.mode == access_mode::out ? p.bounding_box : reach.around(p.bounding_box, local);
  auto cells = cells_for_call(*a.what, member, seen);
  shard_argument<T, Rank> made{&a.what->shard_owner(member), {}, cells.bytes(), {}, {}, a.mode, true};
  made.span = {cells.unsynchronized_data(), seen, cells.strides(), layout.extents(), label};
  made.region = p, made.member = member, made.reach = reach, made.name = &a.what->name(), made.stale = a.stale.get();
  if (made.stale && runtime::current().checks.has(check::halos)) [[unlikely]]
    refuse_stale_sides(made.span, member, layout.own(member), *made.stale);
  for (std::size_t i = 0; i < p.slabs(); ++i) {
    if (a.mode != access_mode::out)
      made.reads[i] = cells_for_call(*a.what, member, reach.around(p.slab(i), local)).bytes();
    if (a.mode == access_mode::in) continue;
    const auto written = cells_for_call(*a.what, member, p.slab(i));
    made.writes[i] = written.bytes();
    made.contiguous = made.contiguous && written.is_contiguous();
  }
  return made;
}
template <class T, std::size_t Rank, memory_kind Kind, std::size_t RegionRank>
shard_argument<T, Rank> argument_of(std::size_t member, const shard_layout<RegionRank>& region,
                                    const shard_part<RegionRank>& part, const sharded_argument<T, Rank, Kind>& a) {
  return argument_of(member, region, part, a, array_label(a.what->name().c_str()));
}
template <class RegionLayout, class Part, class A>
decltype(auto) argument_of(std::size_t member, const RegionLayout& region, const Part& part, const A& a) {
  if constexpr (requires { a.of_member(member); })
    return a.of_member(member);
  else if constexpr (requires { a.of_part(member, region, part); })
    return a.of_part(member, region, part);
  else
    return A(a);
}

}  // namespace ferry::inline FERRY_ABI::detail
