/// @file
/// Reads of sharded arrays at any indices: the elements of other members that each member needs, exchanged by a plan.
#pragma once
#include <concepts>
#include <memory>
#include <span>
#include <vector>

#include "ferry/core/copy.hpp"
#include "ferry/multigpu/detail/exchanges/exchanged_rows.hpp"
#include "ferry/multigpu/detail/exchanges/gathered_argument.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

class exchange_plan;

/// The numbers that one member has for elements: 0, 1, ... for those that it owns, then its ghosts, in the order of
/// their indices. Refers to the plan.
class local_numbers {
 public:
  /// Returns the local number of an element.
  /// @param index of the element in the whole array, along the first axis
  /// @throws invalid_argument if the member neither owns it nor has it as a ghost
  std::size_t operator()(std::size_t index) const;
  /// True if the member owns the element or has it as a ghost.
  bool contains(std::size_t index) const { return find(index) != none; }
  /// Number of elements that the member owns: the local number of its first ghost.
  std::size_t owned() const { return own_.size(); }
  /// Indices of the ghosts, in ascending order.
  std::span<const std::size_t> ghosts() const { return ghosts_; }
  /// Number of local numbers.
  std::size_t size() const { return owned() + ghosts_.size(); }

 private:
  friend class exchange_plan;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  local_numbers(std::size_t member, part own, std::span<const std::size_t> ghosts)
      : member_(member),
        own_(own),
        ghosts_(ghosts) {}
  std::size_t find(std::size_t index) const;
  std::size_t member_;
  part own_;
  std::span<const std::size_t> ghosts_;
};

/// A sharded array as an argument of a loop that reads it at local numbers; see exchange_plan::reads(). For use within
/// the call.
template <class T, std::size_t Rank, memory_kind Kind>
struct exchanged_argument {
  const sharded_array<T, Rank, Kind>* what;
  std::shared_ptr<const detail::ghost_rows> ghosts;
  source_line at;
  /// Returns the elements of a member as an argument.
  detail::gathered_argument<const T, Rank> of_member(std::size_t member) const {
    auto own = detail::make_argument<const T>(what->shard(member), detail::access_mode::in, at);
    own.owner = &what->shard_owner(member);
    const auto& bytes = ghosts->of_member[member - what->team().first_local()];
    extents<Rank> e = what->extents();
    e[0] = ghosts->row_bytes == 0 ? 0 : bytes.size() / ghosts->row_bytes;
    return {own,
            {&bytes.owner(),
             mdspan<const T, Rank>(reinterpret_cast<const T*>(bytes.unsynchronized_data()), e, row_major(e),
                                   own.span.label()),
             bytes.bytes(), detail::access_mode::in, true, at}};
  }
};

namespace detail {

// Throws invalid_argument unless members own whole elements along the first axis.
template <std::size_t Rank>
dealt_rows dealt_rows_of(const shard_layout<Rank>& l, const std::string& name) {
  dealt_rows d{l.team(), {}, l.extents()[0], l.text()};
  for (std::size_t m = 0; m != l.team().size(); ++m) {
    const box<Rank> own = l.own(m);
    for (std::size_t k = 1; k != Rank; ++k)
      if (own.length(k) != l.extents()[k]) throw_scattered_rows(name, d.text);
    d.of_member.push_back({static_cast<std::size_t>(own.begin[0]), static_cast<std::size_t>(own.end[0])});
  }
  return d;
}
template <class T, std::size_t Rank, memory_kind Kind>
exchanged_rows rows_of(const sharded_array<T, Rank, Kind>& a) {
  exchanged_rows r{a.team_operand(), sizeof(T), a.currency(), {}, a.name()};
  for (std::size_t d = 1; d != Rank; ++d) r.row_bytes *= a.extent(d);
  for (std::size_t i = 0; i != a.team().local_size(); ++i) {
    const std::size_t m = a.team().first_local() + i;
    const auto v = a.shard(m);
    if (!v.is_contiguous()) throw_scattered_rows(a.name(), a.layout().text());
    r.of_member.emplace_back(a.shard_owner(m), reinterpret_cast<const std::byte*>(v.unsynchronized_data()),
                             extents<1>(v.size_bytes()), strides<1>{1});
  }
  return r;
}
// The indices in a table, for each local member those in its shard. Negative ones name no element.
template <std::integral Int, std::size_t Rank, memory_kind Kind>
std::vector<std::vector<std::size_t>> indices_in(const sharded_array<Int, Rank, Kind>& table, source_line at) {
  std::vector<std::vector<std::size_t>> all(table.team().local_size());
  for (std::size_t i = 0; i != all.size(); ++i)
    for (const Int x : to_vector(table.shard(table.team().first_local() + i), at))
      if (std::cmp_greater_equal(x, 0)) all[i].push_back(static_cast<std::size_t>(x));
  return all;
}

}  // namespace detail

/// Which elements of other members each member of a team reads, for indirect access along the first axis: neighbours in
/// a mesh, columns of a sparse matrix, particles. Made once from index lists, and used for all arrays that are
/// distributed in the same way. exchange() brings the elements, packed in one message for each pair of members and
/// array; loops read them by local numbers, through reads(). A plan is a handle: copies refer to the same plan.
/// Processes of a team that spans several make the same calls.
class exchange_plan {
 public:
  /// No plan, until one is assigned.
  exchange_plan() = default;
  /// Makes a plan. Blocks until the lists are on the devices and, between processes, until all have called it.
  /// @param a an array with the distribution of the plan. It must be cut along the first axis only
  /// @param needed for each local member, the indices of the elements that its loops read: in any order, also several
  ///   times, and with those that the member owns
  /// @param at the caller's source line, for messages
  /// @throws invalid_argument for another number of lists, an index outside of the array, or another distribution; in
  ///   all processes
  template <class T, std::size_t Rank, memory_kind Kind>
  exchange_plan(const sharded_array<T, Rank, Kind>& a, const std::vector<std::vector<std::size_t>>& needed,
                source_line at = source_line::here())
      : exchange_plan(detail::dealt_rows_of(a.layout(), a.name()), needed, a.name(), at) {}
  /// Makes a plan from a table of indices, such as the cells at the ends of each edge of a mesh: each member reads
  /// those in its shard of the table. Negative entries name no element.
  template <class T, std::size_t Rank, memory_kind Kind, std::integral Int, std::size_t TableRank,
            memory_kind TableKind>
  exchange_plan(const sharded_array<T, Rank, Kind>& a, const sharded_array<Int, TableRank, TableKind>& table,
                source_line at = source_line::here())
      : exchange_plan(a, detail::indices_in(table, at), at) {}

  /// Returns the team.
  /// @throws invalid_argument if there is no plan; so do the following members
  const ferry::team& team() const;
  /// Returns the numbers that a local member has for elements.
  /// @throws invalid_argument for a member of another process
  local_numbers local(std::size_t member) const;
  /// Replaces the indices in a table by the local numbers of the member whose shard they are in. Negative entries do
  /// not change. Blocks.
  /// @throws invalid_argument for an index that is not in the plan
  template <std::integral Int, std::size_t Rank, memory_kind Kind>
  void renumber(sharded_array<Int, Rank, Kind>& table, source_line at = source_line::here()) const {
    need_team(table.team(), table.name());
    for (std::size_t i = 0; i != table.team().local_size(); ++i) {
      const std::size_t m = table.team().first_local() + i;
      const local_numbers number = local(m);
      std::vector<Int> all = to_vector(std::as_const(table).shard(m), at);
      if (all.empty()) continue;
      for (Int& x : all)
        if (std::cmp_greater_equal(x, 0)) x = static_cast<Int>(number(static_cast<std::size_t>(x)));
      copy(table.team().stream(m), std::span<const Int>(all), detail::cells_for_call(table, m), at);
    }
    table.note_changed();
  }

  /// Brings the elements of arrays to the members that read them. Ordered on the streams of the team as any other work.
  /// Does not block, except for the first exchange of an array, which allocates its buffers, and between processes as
  /// collectives do.
  /// @param first the first array
  /// @param more further arrays, of any element types and further extents
  /// @throws invalid_argument for an array with another distribution than the plan
  template <class First, class... More>
  void exchange(const First& first, const More&... more) const {
    (need_rows(detail::dealt_rows_of(first.layout(), first.name()), first.name()), ...,
     need_rows(detail::dealt_rows_of(more.layout(), more.name()), more.name()));
    const detail::exchanged_rows all[] = {detail::rows_of(first), detail::rows_of(more)...};
    exchange_rows(all);
  }
  /// Returns an argument of loops over shards: the elements that a member owns, and its ghosts as of the last exchange.
  /// The functor takes it as `gathered_span<const T, Rank>`.
  /// @throws invalid_argument if the array was never exchanged; and, with check::halos, if it was written since. Writes
  ///   behind the exchange in a graph that also writes before it are not found
  template <class T, std::size_t Rank, memory_kind Kind>
  exchanged_argument<T, Rank, Kind> reads(const sharded_array<T, Rank, Kind>& a,
                                          source_line at = source_line::here()) const {
    return {&a, ghosts_of(a.team_operand().get(), a.currency()->changes(), a.name(), at), at};
  }

 private:
  struct state;
  exchange_plan(detail::dealt_rows dealt, const std::vector<std::vector<std::size_t>>& needed, const std::string& name,
                source_line at);
  state& held() const;
  void need_team(const ferry::team& t, const std::string& name) const;
  void need_rows(const detail::dealt_rows& rows, const std::string& name) const;
  void exchange_rows(std::span<const detail::exchanged_rows> all) const;
  std::shared_ptr<const detail::ghost_rows> ghosts_of(const void* store, std::uint64_t changes, const std::string& name,
                                                      source_line at) const;
  std::shared_ptr<state> state_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
