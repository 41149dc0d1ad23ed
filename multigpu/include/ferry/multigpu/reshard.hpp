// Cells dealt out another way: along another axis, or over another team.
#pragma once
#include <vector>

#include "ferry/multigpu/across_processes.hpp"
#include "ferry/multigpu/collective_group.hpp"
#include "ferry/multigpu/halo_exchange.hpp"
#include "ferry/multigpu/shard_copy.hpp"

namespace ferry {

namespace detail {

// Throws invalid_argument unless each member of one team is in the same process, on the same device, as in the other.
void need_same_ranks(const team& from, const team& to);

// What goes between members of different processes: packed, as one group of messages, and unpacked.
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
      if (both.empty() || t.is_local(m) == t.is_local(source)) continue;  // is here, or neither end is
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
  for (const arrival& a : arrivals) copy(t.stream(a.member), a.packed, to.cells(a.member, a.cells), source_line{});
}

// Box b as seen from the first cell of `whole`.
template <std::size_t Rank>
box<Rank> within(box<Rank> b, const box<Rank>& whole) {
  for (std::size_t d = 0; d != Rank; ++d) b.begin[d] -= whole.begin[d], b.end[d] -= whole.begin[d];
  return b;
}

// What other processes have of `from`, to an array that each process has: shard by shard, packed, to one member of each
// process, and from there to the cells.
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
        copy(to.team().stream(m), slice_box(packed, within(both, own)), to.cells(m, both), source_line{});
    });
  }
}

}  // namespace detail

// Copies every cell to where `to` has it; shapes must be equal. Halos of `to` are left alone. Each member of `to` fetches
// what it needs on its stream, ordered behind what wrote it; never blocks, but copies of strided pieces between devices that
// are no peers may allocate. Between processes, all of which make this call, pieces travel as messages and pass through
// device memory, as much as goes and comes; that waits where processes talk by the CPU. An array on a team of one process is
// each process' own, and whole: from it, each takes what its members of the other team own; to it, each gets all cells,
// and waits for the others to make this call. Throws invalid_argument for shapes that differ, and for two teams that span
// processes with other members in them; process_error.
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
      copy(to.team().stream(m), from.cells(source, both), to.cells(m, both), source_line{});
    }
  });
  if (from_many && to_many) detail::reshard_across(from, to);
  if (from_many && !to_many) detail::reshard_to_each(from, to);
  if (to.validity()) to.validity()->changed();
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
