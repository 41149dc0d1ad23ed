#include "ferry/multigpu/detail/expressions/sharded_scan.hpp"

#include <bit>
#include <optional>
#include <vector>

#include "expressions/joined_parts.hpp"
#include "expressions/member_parts.hpp"
#include "ferry/core/error.hpp"
#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

reduction_function joined_by(reduction_operation o) {
  switch (o) {
    case reduction_operation::product: return reduction_function::prod;
    case reduction_operation::minimum: return reduction_function::min;
    case reduction_operation::maximum: return reduction_function::max;
    default: return reduction_function::sum;
  }
}

// Returns the last cells of a part along an axis.
program_part last_along(const program_part& p, std::size_t axis) {
  program_part last = p;
  last.first[axis] += static_cast<std::ptrdiff_t>(p.shape.extent[axis]) - 1;
  last.shape.extent[axis] = 1;
  return last;
}
program_operand last_along(const program_operand& o, std::size_t axis) {
  program_operand last = o;
  last.data += static_cast<std::ptrdiff_t>(o.shape.extent[axis] - 1) * o.stride_bytes[axis];
  last.shape.extent[axis] = 1, last.stride_bytes[axis] = 0;
  return last;
}

// Returns the axis that is scanned, counted from the last.
std::size_t scanned_axis(const scan_over_team& r) { return static_cast<std::size_t>(std::countr_zero(r.over.axes)); }

// What member m scans.
reduction_program scan_of_member(const scan_over_team& r, const sharded_operand& array, std::size_t m) {
  reduction_program here = part_of_reduction(r.over, array.own(m));
  if (m > 0 && is_scanned_along_members(r, array)) here.how.initial = r.identity;
  return here;
}

class scan_of_members {
 public:
  scan_of_members(const scan_over_team& r, const sharded_operand& to)
      : r_(r),
        to_(to),
        team_(to.team()),
        array_(*first_array_of(r.elements)),
        distribution_(array_.distribution()),
        axis_(scanned_axis(r)) {}

  void run() {
    const expression_program* const elements = &r_.elements;
    exchange_for(team_, {&elements, 1});
    const bool uses_temporaries =
        reads_memory_of(r_.elements, to_) || to_.cells(to_.own(first())).type != r_.over.result;
    for (std::size_t m = first(); m != first() + team_.local_size(); ++m) {
      const program_part own = to_.own(m);
      if (uses_temporaries && !own.is_empty())
        scanned_.push_back(new_elements(own.shape, r_.over.result, team_.device(m)));
      else
        scanned_.push_back(to_.cells(own));
    }
    team_.for_each([&](std::size_t m) { scan_own(m); });
    std::optional<member_parts> totals;
    if (is_scanned_along_members(r_, array_) && team_.size() > 1) totals.emplace(gathered_totals());
    team_.for_each([&](std::size_t m) {
      if (!has_cells(m)) return;
      if (totals && m > 0)
        add_totals(m, *totals);
      else if (uses_temporaries)
        assign_own(m, array_program(scanned(m)));
    });
    to_.note_changed();
  }

 private:
  std::size_t first() const { return team_.first_local(); }
  bool has_cells(std::size_t m) const { return !array_.own(m).is_empty(); }
  const program_operand& scanned(std::size_t m) const { return scanned_[m - first()]; }

  void scan_own(std::size_t m) const {
    if (!has_cells(m)) return;
    const reduction_program here = scan_of_member(r_, array_, m);
    const reduction_assignment one{scanned(m), &here};
    const stream_ref s = team_.stream(m);
    assign_reductions(&s, {&one, 1}, {});
  }
  void assign_own(std::size_t m, const expression_program& p) const {
    const assignment one{to_.cells(to_.own(m)), &p};
    const stream_ref s = team_.stream(m);
    assign_programs(&s, {&one, 1}, {});
  }
  // Returns the program of the total of member m: the last result; if the scan is exclusive, combined with the last
  // element.
  expression_program total_of(std::size_t m) const {
    expression_program last = array_program(last_along(scanned(m), axis_));
    if (!r_.over.how.is_exclusive) return last;
    const expression_program element = part_program(r_.over.program, last_along(array_.own(m), axis_));
    return joined_values(joined_by(r_.over.how.what), computed_as(r_.over.result), last, element);
  }
  // Copies the totals of all members, because each member changes its results afterwards.
  member_parts gathered_totals() const {
    program_shape shape = distribution_.extents;
    shape.extent[axis_] = 1;
    std::vector<member_parts> totals;
    totals.emplace_back(team_, shape, r_.over.result);
    team_.for_each([&](std::size_t m) {
      if (!has_cells(m)) return;
      const expression_program total = total_of(m);
      const assignment one{totals.front().own(m), &total};
      const stream_ref s = team_.stream(m);
      assign_programs(&s, {&one, 1}, {});
    });
    member_parts::gather(team_, totals);
    return std::move(totals.front());
  }
  // Joins the totals of the members before m, then combines the result with each cell.
  void add_totals(std::size_t m, const member_parts& totals) const {
    constexpr std::size_t most_members = 8;  // of one program
    const reduction_function f = joined_by(r_.over.how.what);
    const scalar_type t = computed_as(r_.over.result);
    const stream_ref s = team_.stream(m);
    member_parts::copies copies;
    program_shape shape = distribution_.extents;
    shape.extent[axis_] = 1;
    const program_operand before = new_elements(shape, r_.over.result, team_.device(m));
    expression_program joined = array_program(totals.part_for(m, 0, copies));
    for (std::size_t member = 1; member <= m; ++member) {
      const bool is_last = member == m;
      if (is_last || member % most_members == 0) {
        const assignment one{before, &joined};
        assign_programs(&s, {&one, 1}, {});
        joined = array_program(before);
      }
      if (!is_last) joined = joined_values(f, t, joined, array_program(totals.part_for(m, member, copies)));
    }
    assign_own(m, joined_values(f, t, joined, array_program(scanned(m))));
  }

  const scan_over_team& r_;
  const sharded_operand& to_;
  const team& team_;
  const sharded_operand& array_;
  const shard_distribution distribution_;
  const std::size_t axis_;
  std::vector<program_operand> scanned_;  // of local members
};

}  // namespace

bool is_scanned_along_members(const scan_over_team& r, const sharded_operand& array) {
  return array.distribution().grid.is_cut(scanned_axis(r));
}

void need_one_cut_along_scan(const scan_over_team& r, const sharded_operand& array) {
  if (is_scanned_along_members(r, array) && array.distribution().grid.cuts() > 1)
    throw invalid_argument("'" + text_of(r.over) + "' is along one of several axes along which " + array.described() +
                           " is cut: reshard the array along that axis alone, or along others");
}

void scan_sharded(const scan_over_team& r, const sharded_operand& to) {
  const team& t = team_of(r.elements);
  const sharded_operand& array = *first_array_of(r.elements);
  if (to.team() != t || !to.distribution().is_like(array.distribution()))
    throw invalid_argument("cannot assign '" + text_of(r.over) + "' of " + text_of(r.over.shape()) + " to " +
                           to.described() + ": it needs the team, the shape and the distribution of " +
                           array.described());
  need_one_cut_along_scan(r, array);
  if (!to.distribution().extents.is_empty()) scan_of_members(r, to).run();
}

bool precompile_scan(const scan_over_team& r) {
  const team& t = team_of(r.elements);
  const sharded_operand& array = *first_array_of(r.elements);
  need_one_cut_along_scan(r, array);
  bool are_compiled = true;
  for (std::size_t m = t.first_local(); m != t.first_local() + t.local_size(); ++m) {
    if (array.own(m).is_empty()) continue;
    const reduction_program here = scan_of_member(r, array, m);
    const reduction_program* const alone[] = {&here};
    are_compiled = precompile_reductions(alone, t.device(m)) && are_compiled;
  }
  return are_compiled;
}

}  // namespace ferry::inline FERRY_ABI::detail
