// Arguments of loops over shards, and their form in each member's kernel.
#pragma once
#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/call_checks.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/kernels/kernel_uses.hpp"
#include "ferry/core/detail/kernels/simulated_launch.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/loops/components.hpp"
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

// Which cells around those of a region a kernel may access: along axes of distribution those within the width of the
// halo, along other axes all that the member has.
template <std::size_t Rank>
struct shard_reach {
  std::array<std::ptrdiff_t, Rank> width{};
  std::array<bool, Rank> is_whole{};

  shard_reach() = default;
  explicit shard_reach(const shard_layout<Rank>& l) {
    for (std::size_t d = 0; d != Rank; ++d)
      is_whole[d] = !l.is_cut(d), width[d] = is_whole[d] ? 0 : static_cast<std::ptrdiff_t>(l.halo(d));
  }
  // Returns the cells b and those within the widths around them.
  box<Rank> near(box<Rank> b) const {
    for (std::size_t d = 0; d != Rank; ++d) b.begin[d] -= width[d], b.end[d] += width[d];
    return b;
  }
  // Returns the cells within `seen` that may be accessed for the cells b.
  box<Rank> around(const box<Rank>& b, const box<Rank>& seen) const {
    box<Rank> all = near(b);
    for (std::size_t d = 0; d != Rank; ++d)
      if (is_whole[d]) all.begin[d] = seen.begin[d], all.end[d] = seen.end[d];
    return all & seen;
  }
};

// A sharded array as an argument of one kernel of one member.
template <class T, std::size_t Rank>
struct shard_argument {
  const allocation_ref* owner;
  shard_span<T, Rank> span;
  byte_range bounding_range;  // of all that the span reaches
  std::array<byte_range, 2> reads, writes;
  access_mode mode;
  bool contiguous;  // true: the written cells are contiguous
  shard_part<Rank> region{};
  std::size_t member = 0;
  shard_reach<Rank> reach{};
  const std::string* name = nullptr;
  const stale_halos<Rank>* stale = nullptr;  // lives as long as the call
};

template <class T, std::size_t Rank>
inline constexpr bool is_array_argument<shard_argument<T, Rank>> = true;
template <class T, std::size_t Rank>
inline constexpr bool only_reads<shard_span<T, Rank>> = std::is_const_v<T>;

template <class X>
struct shard_span_traits {
  static constexpr bool is = false;
};
template <class T, std::size_t R>
struct shard_span_traits<shard_span<T, R>> {
  static constexpr bool is = true;
  static constexpr std::size_t rank = R;
  static constexpr bool writes = !std::is_const_v<T>;
};
template <class T, std::size_t Rank>
struct parameter<void, shard_argument<T, Rank>> {
  using type = shard_span<T, Rank>;
  static constexpr call_fault fault = call_fault::none;
};
template <class P, class T, std::size_t Rank>
struct parameter<P, shard_argument<T, Rank>> {
  using declared = std::remove_cvref_t<P>;
  using span = shard_span_traits<declared>;
  static constexpr bool fits = [] {
    if constexpr (span::is) return span::rank == Rank;
    return true;
  }();
  static constexpr bool writes = [] {
    if constexpr (span::is) return span::writes && std::is_const_v<T>;
    return false;
  }();
  static constexpr call_fault fault = !span::is ? call_fault::no_shard_span
                                      : !fits   ? call_fault::other_rank
                                      : writes  ? call_fault::read_only
                                                : call_fault::none;
  using type = declared;
};

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
  const box<Rank> seen = a.mode == access_mode::out ? p.bounding_range : reach.around(p.bounding_range, local);
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

template <class T, std::size_t Rank>
void add_shard_use(access_collector& list, const shard_argument<T, Rank>& a) {
  for (const byte_range& r : a.reads) list.add(*a.owner, r, false);
  for (const byte_range& w : a.writes) list.add(*a.owner, w, true, a.mode == access_mode::out && a.contiguous);
}
template <class A>
void add_shard_use(access_collector& list, const A& a) {
  if constexpr (is_struct_of_shards<A>)
    a.each_array([&](const auto& x) { add_shard_use(list, x); });
  else
    add_use<A>(list, a);
}

// Returns an argument for a kernel that runs on staged copies. A member can always access its shard, which is not
// copied.
template <class A>
A moved_shard_argument(const staged_launch& launch, const A& a) {
  if constexpr (is_struct_of_shards<A>)
    return a;
  else
    return launch.moved(a);
}
template <class T, std::size_t Rank>
shard_argument<T, Rank> moved_shard_argument(const staged_launch&, const shard_argument<T, Rank>& a) {
  return a;
}

// For memory checks: adds the cells that one kernel promises to write (see output_poison). Arrays that are not sharded
// are omitted, because several kernels write them.
template <class A>
void add_shard_outputs(std::vector<output_elements>&, const A&) {}
template <class T, std::size_t Rank>
void add_shard_outputs(std::vector<output_elements>& list, const shard_argument<T, Rank>& a) {
  if constexpr (!std::is_const_v<T>) {
    if (a.mode != access_mode::out) return;
    for (std::size_t i = 0; i < a.region.slabs(); ++i) {
      const box<Rank> cells = a.region.slab(i);
      if (cells.empty()) continue;
      output_elements e{{reinterpret_cast<std::byte*>(a.span.data()), {}}, {sizeof(T), Rank, {}}};
      for (std::size_t d = 0; d != Rank; ++d) {
        e.at.stride_bytes[d] = a.span.stride(d) * static_cast<std::ptrdiff_t>(sizeof(T));
        e.at.base += (cells.begin[d] - a.span.begin(d)) * e.at.stride_bytes[d];
        e.shape.extent[d] = cells.length(d);
      }
      list.push_back(e);
    }
  }
}
// As is_read_beside, among sharded arrays.
template <class X, class Other>
bool reads_cells_of(const X&, const Other&) {
  return false;
}
template <class T, class U, std::size_t Rank, std::size_t OtherRank>
bool reads_cells_of(const shard_argument<T, Rank>& x, const shard_argument<U, OtherRank>& o) {
  return o.mode != access_mode::out && o.bounding_range.overlaps(x.bounding_range);
}
template <class X, class... A>
bool is_shard_read_beside(const X& x, const A&... all) {
  bool reads = false;
  (each_shard(all, [&](const auto& o) { reads = reads || reads_cells_of(x, o); }), ...);
  return reads;
}
template <class... A>
void poison_shard_outputs(output_poison& enqueue, const A&... a) {
  if (runtime::current().checks.has(check::poison)) [[unlikely]]
    (each_shard(a,
                [&](const auto& x) {
                  if (!is_shard_read_beside(x, a...)) add_shard_outputs(enqueue.outputs_to_poison(), x);
                }),
     ...);
}

// For check::uses: adds the cells that `out` promises to write, and those that `in` may read.
template <class T, std::size_t Rank>
void add_watched(use_watch& w, const shard_argument<T, Rank>& a) {
  const auto add = [&](const box<Rank>& cells) {
    if (cells.empty()) return;
    extents<Rank> e;
    strides<Rank> s;
    std::ptrdiff_t offset = 0;
    for (std::size_t d = 0; d != Rank; ++d) {
      e[d] = cells.length(d), s[d] = a.span.stride(d);
      offset += (cells.begin[d] - a.span.begin(d)) * s[d];
    }
    watched_elements some = elements_of(a.mode, mdspan<T, Rank>(a.span.data() + offset, e, s, a.span.label()), {});
    for (std::size_t d = 0; d != Rank; ++d) some.first[d] = cells.begin[d];
    w.add(some);
  };
  if (a.mode == access_mode::out)
    for (std::size_t i = 0; i < a.region.slabs(); ++i) add(a.region.slab(i));
  if (a.mode == access_mode::out) return;
  box<Rank> seen;
  for (std::size_t d = 0; d != Rank; ++d) {
    seen.begin[d] = a.span.begin(d);
    seen.end[d] = seen.begin[d] + static_cast<std::ptrdiff_t>(a.span.length(d));
  }
  for (std::size_t i = 0; i < a.region.slabs(); ++i)  // other kernels may write the cells between the slabs
    add(a.reach.near(a.region.slab(i)) & seen);
}

// The uses of a simulated kernel: the addresses of a shard, which are relative to its beginning, then the accesses.
template <class T, std::size_t Rank>
inline constexpr std::size_t most_kernel_uses<shard_argument<T, Rank>> = 5;
template <class T, std::size_t Rank>
void add_kernel_use(kernel_use_collector& uses, const shard_argument<T, Rank>& a) {
  const auto add = [&](const byte_range& r, bool reads, bool writes) {
    if (r.begin != r.end) uses.add({r.begin, r.size(), reads, writes, a.span.label()});
  };
  add(a.bounding_range, false, false);
  for (const byte_range& r : a.reads) add(r, true, false);
  for (const byte_range& w : a.writes) add(w, !a.contiguous, true);
}

}  // namespace ferry::inline FERRY_ABI::detail
