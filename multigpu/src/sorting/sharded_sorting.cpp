#include "ferry/multigpu/detail/sorting/sharded_sorting.hpp"

#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/sorting/sorting_request.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/moving.hpp"
#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"
#include "sorting/key_splits.hpp"
#include "sorting/part_exchange.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

auto positions_in(const program_operand& o) { return elements_in<std::int64_t>(o, 0, o.shape.extent[0]); }

class sorting_of_shards {
 public:
  sorting_of_shards(const sorting_over_team& r, const sharded_operand& to)
      : r_(r),
        to_(to),
        team_(to.team()),
        cells_(team_.local_size()) {
    for (std::size_t m = first(); m != first() + team_.local_size(); ++m) cells_[m - first()] = to.cells(to.own(m));
  }
  // Each member sorts the lines that it owns.
  void sort_lines() const {
    team_.for_each([&](std::size_t m) {
      if (to_.own(m).is_empty()) return;
      expression_program p = part_program(r_.elements, to_.own(m));
      sort(m, p, r_.axis, r_.are_positions ? nullptr : &here(cells_, m), r_.are_positions ? &here(cells_, m) : nullptr);
    });
  }
  // Sorts one dimension.
  void sort_all() {
    refuse_inside_capture(concat("fr::", r_.name, " of a sharded array of one dimension"));
    sorted_ = {r_.type, r_.is_descending, r_.are_positions, to_.distribution().extents.extent[0], {}};
    sorted_.parts.resize(team_.local_size());
    arrived_.resize(team_.local_size());
    if (r_.are_positions) places_.resize(team_.local_size()), arrived_places_.resize(team_.local_size());
    team_.for_each([&](std::size_t m) { sort_own(m); });
    const key_splits splits(team_, sorted_);
    std::vector<moved_elements> moved{{&sorted_.parts, &arrived_}};
    if (r_.are_positions) moved.push_back({&places_, &arrived_places_});
    exchange_parts(
        team_, [&](std::size_t from, std::size_t to) { return splits.sent(from, to); }, moved);
    team_.for_each([&](std::size_t m) { sort_arrived(m); });
  }

 private:
  std::size_t first() const { return team_.first_local(); }
  program_operand& here(each_member& of, std::size_t m) const { return of[m - first()]; }
  const program_operand& here(const each_member& of, std::size_t m) const { return of[m - first()]; }
  program_operand room(std::size_t m, scalar_type t) const {
    return new_elements(to_.own(m).shape, t, team_.device(m));
  }
  // values, positions: null if they are not wanted.
  void sort(std::size_t m, expression_program& p, int axis, const program_operand* values,
            const program_operand* positions) const {
    sorting_request r;
    r.name = r_.name, r.kind = positions ? sorting_kind::order : sorting_kind::sort, r.type = r_.type;
    r.axis = axis, r.is_descending = r_.is_descending;
    r.from = &p, r.values = values, r.positions = positions;
    const stream_ref s = team_.stream(m);
    submit_sorting(&s, r, {});
  }

  void sort_own(std::size_t m) {
    const program_part own = to_.own(m);
    here(sorted_.parts, m) = own.is_empty() ? dense_operand(own.shape, r_.type) : room(m, r_.type);
    if (own.is_empty()) return;
    expression_program p = part_program(r_.elements, own);
    if (r_.are_positions) {
      here(places_, m) = room(m, scalar_type::int64);
      here(arrived_, m) = room(m, r_.type);
      here(arrived_places_, m) = room(m, scalar_type::int64);
      sort(m, p, 0, &here(sorted_.parts, m), &here(places_, m));
      auto places = positions_in(here(places_, m));
      assign(team_.stream(m), places, places + static_cast<std::int64_t>(own.first[0]));
    } else {
      here(arrived_, m) = here(cells_, m);
      sort(m, p, 0, &here(sorted_.parts, m), nullptr);
    }
  }

  // What arrived is in the order of members: equal elements are in the order of their positions.
  void sort_arrived(std::size_t m) const {
    if (to_.own(m).is_empty()) return;
    expression_program p = array_program(here(arrived_, m));
    if (!r_.are_positions) return sort(m, p, 0, &here(cells_, m), nullptr);
    const program_operand places = room(m, scalar_type::int64);
    sort(m, p, 0, nullptr, &places);
    auto to = positions_in(here(cells_, m));
    assign(team_.stream(m), to, take(positions_in(here(arrived_places_, m)), positions_in(places)));
  }

  const sorting_over_team& r_;
  const sharded_operand& to_;
  const team& team_;
  each_member cells_;  // of the destination
  sorted_parts sorted_;
  each_member places_, arrived_, arrived_places_;
};

}  // namespace

void sort_sharded(const sorting_over_team& r, const sharded_operand& to) {
  const std::string called = concat("fr::", r.name, "('", text_of(r.elements), "')");
  const team& t = team_of(r.elements);
  const sharded_operand& array = *first_array_of(r.elements);
  const shard_distribution distribution = array.distribution();
  const std::size_t rank = distribution.extents.rank, axis = rank - 1 - sorted_axis(r.name, r.axis, rank);
  if (to.team() != t || !to.distribution().is_like(distribution))
    throw invalid_argument(called + " to " + to.described() +
                           ": it needs the team, the shape and the distribution of " + array.described());
  if (rank > 1 && distribution.grid.is_cut(axis))
    throw invalid_argument(concat(called, " along axis ", rank - 1 - axis, ", along which ", array.described(),
                                  " is distributed: reshard it along another axis"));
  refuse_inside_submission(called);
  if (distribution.extents.is_empty()) return;
  const expression_program* const elements = &r.elements;
  exchange_for(t, {&elements, 1});
  sorting_of_shards sorting(r, to);
  if (rank == 1 && t.size() > 1)
    sorting.sort_all();
  else
    sorting.sort_lines();
  to.note_changed();
}

}  // namespace ferry::inline FERRY_ABI::detail
