/// @file
/// Redistribution of cells: along another axis, or over another team.
#pragma once
#include <vector>

#include "ferry/multigpu/collective_group.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"
#include "ferry/multigpu/halo_exchange.hpp"
#include "ferry/multigpu/shard_copy.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {

// Throws invalid_argument unless each member has the same process and device in both teams.
void need_same_ranks(const team& from, const team& to);

// Copies cells between members of different processes: packs them, exchanges them as one group of messages, and unpacks
// them.
template <class T, std::size_t Rank, memory_kind From, memory_kind To>
void reshard_across(const sharded_array<T, Rank, From>& from, sharded_array<T, Rank, To>& to) {
  const team& t = to.team();
  struct arrival {
    std::size_t member;
    box<Rank> cells;
    device_array<T, Rank> packed;
  };
  std::vector<arrival> arrivals;
  collective_group messages(t);
  for (std::size_t source = 0; source < t.size(); ++source)
    for (std::size_t m = 0; m < t.size(); ++m) {
      const box<Rank> both = to.layout().own(m) & from.layout().own(source);
      if (both.empty() || t.is_local(m) == t.is_local(source)) continue;  // both are local, or neither is
      if (t.is_local(source)) {
        device_array<T, Rank> packed(both.extents(), t.device(source));
        copy(from.team().stream(source), from.cells(source, both), packed, source_line{});
        messages.send(packed, source, m);
      } else {
        arrivals.push_back({m, both, device_array<T, Rank>(both.extents(), t.device(m))});
        messages.receive(arrivals.back().packed, m, source);
      }
    }
  messages.submit();
  for (const arrival& a : arrivals)
    copy(t.stream(a.member), a.packed, cells_for_call(to, a.member, a.cells), source_line{});
}

// Returns box b relative to the first cell of `whole`.
template <std::size_t Rank>
box<Rank> within(box<Rank> b, const box<Rank>& whole) {
  for (std::size_t d = 0; d != Rank; ++d) b.begin[d] -= whole.begin[d], b.end[d] -= whole.begin[d];
  return b;
}

// Copies cells of other processes to an array that each process has: one shard after the other, packed, to one member
// of each process, and from there to the cells.
template <class T, std::size_t Rank, memory_kind From, memory_kind To>
void reshard_to_each(const sharded_array<T, Rank, From>& from, sharded_array<T, Rank, To>& to) {
  const team& t = from.team();
  std::vector<std::size_t> receivers;
  for_each_process(t, t.first_local(), "reshard to a team of each process",
                   [&](std::size_t first) { receivers.push_back(first); });
  for (std::size_t source = 0; source < t.size(); ++source) {
    const box<Rank> own = from.layout().own(source);
    if (own.empty()) continue;
    const bool here = t.is_local(source);
    device_array<T, Rank> packed(own.extents(), t.device(here ? source : t.first_local()));
    collective_group message(t);
    if (here) copy(t.stream(source), from.cells(source, own), packed, source_line{});
    for (const std::size_t r : receivers)
      if (here && !t.is_local(r)) message.send(packed, source, r);
    if (!here) message.receive(packed, t.first_local(), source);
    message.submit();
    to.team().for_each([&](std::size_t m) {
      const box<Rank> both = to.layout().own(m) & own;
      if (!here && !both.empty())
        copy(to.team().stream(m), slice_box(packed, within(both, own)), cells_for_call(to, m, both), source_line{});
    });
  }
}

}  // namespace detail

/// Copies every cell to its place in `to`, which has another distribution. Halos of `to` do not change. Each member of
/// `to` copies its cells on its stream, after the work that writes them. Does not block, but copies of strided parts
/// between devices that are no peers may allocate. Between processes, all of which must call it, cells travel as
/// messages through device memory, as many bytes as are sent and received. This blocks if the processes communicate
/// through the CPU. An array on a team of one process belongs to each process, as a whole. If `from` is such an array,
/// each process takes the cells that its members of the other team own. If `to` is one, each process receives all
/// cells, and waits for the others.
/// @param from the source
/// @param to the destination, of the same shape
/// @throws invalid_argument for different shapes, or for two teams that span processes and have different members in
///   them
/// @throws process_error if another process fails
template <class T, std::size_t Rank, memory_kind From, memory_kind To>
void reshard(const sharded_array<T, Rank, From>& from, sharded_array<T, Rank, To>& to) {
  detail::need_same_shape(from.extents(), to.extents(), from, to, {});
  const bool from_many = detail::spans_processes(from.team()), to_many = detail::spans_processes(to.team());
  if (from_many && to_many) detail::need_same_ranks(from.team(), to.team());
  to.team().for_each([&](std::size_t m) {
    const box<Rank> own = to.layout().own(m);
    for (std::size_t source = 0; source < from.team().size(); ++source) {
      const box<Rank> both = own & from.layout().own(source);
      if (both.empty() || !from.team().is_local(source)) continue;
      copy(to.team().stream(m), from.cells(source, both), detail::cells_for_call(to, m, both), source_line{});
    }
  });
  if (from_many && to_many) detail::reshard_across(from, to);
  if (from_many && !to_many) detail::reshard_to_each(from, to);
  to.note_changed();
}

/// Returns a new array with the same cells in another distribution, with halos filled if `o` has any. May allocate, and
/// block for that.
/// @param from the source
/// @param t the team
/// @param o the distribution
/// @return the new array
template <class T, std::size_t Rank, memory_kind Kind>
sharded_array<T, Rank, Kind> reshard(const sharded_array<T, Rank, Kind>& from, const team& t, const shard_options& o) {
  sharded_array<T, Rank, Kind> to(t, from.extents(), o);
  reshard(from, to);
  if (to.layout().has_halo()) exchange_halos(to);
  return to;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
