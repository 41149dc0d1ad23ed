// What a kernel of a loop over shards accesses, for ordering, staged copies, memory checks and simulated kernels.
#pragma once
#include <cstddef>
#include <type_traits>
#include <vector>

#include "ferry/core/detail/kernels/kernel_uses.hpp"
#include "ferry/core/detail/kernels/simulated_launch.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/loops/shard_argument.hpp"
#include "ferry/multigpu/detail/loops/shard_arguments.hpp"

namespace ferry::inline FERRY_ABI::detail {

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
