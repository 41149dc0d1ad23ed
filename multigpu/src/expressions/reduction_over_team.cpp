#include "expressions/reduction_over_team.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "expressions/joined_parts.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/operations/promotion.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

using function = reduction_function;

// Returns the number, in the result, of an axis of the elements.
std::size_t result_axis(const axes_reduction& r, std::size_t axis) {
  if (r.over.are_kept) return axis;
  std::size_t at = 0;
  for (std::size_t d = 0; d != axis; ++d) at += r.keeps(d);
  return at;
}

// Returns the reduction by function f, along the same axes.
reduction_program reduced_by(function f, const axes_reduction& r, expression_program elements, scalar_type type,
                             bool keep = false) {
  std::vector<int> axes;
  for (std::size_t d = 0; d != elements.shape.rank; ++d)
    if (!r.keeps(d)) axes.push_back(-1 - static_cast<int>(d));
  return reduce_program(f, std::move(elements), type, {axes, false, r.over.are_kept || keep});
}

}  // namespace

reduction_over_team::reduction_over_team(const axes_reduction& r)
    : r_(r),
      team_(team_of(r.elements)),
      array_(*first_array_of(r.elements)),
      distribution_(array_.distribution()),
      kept_cuts_(count_kept_cuts()) {
  const bool is_extreme = r.what == function::min || r.what == function::max || is_position();
  if (is_extreme && is_over_nothing() && !r.shape().is_empty())
    throw invalid_argument(concat("'", text_of(r.over), "' is over no elements: ", array_.described(), ", and ",
                                  r.over.name, " of nothing is undefined"));
}

std::size_t reduction_over_team::count_kept_cuts() const {
  std::size_t kept = 0;
  for (std::size_t d = 0; d != distribution_.extents.rank; ++d) kept += distribution_.grid.is_cut(d) && r_.keeps(d);
  return kept;
}
bool reduction_over_team::joins(std::size_t m, std::size_t member) const {
  bool are_beside = distribution_.has_part(member);
  for (std::size_t d = 0; d != distribution_.extents.rank; ++d) {
    const std::size_t members = distribution_.grid.members[d], step = distribution_.grid.step[d];
    if (members != 0 && r_.keeps(d)) are_beside = are_beside && m / step % members == member / step % members;
  }
  return are_beside;
}
cut_shape reduction_over_team::cut() const {
  cut_shape c{r_.shape(), {}};
  for (std::size_t d = 0; d != distribution_.extents.rank; ++d) {
    if (!distribution_.grid.is_cut(d) || !r_.keeps(d)) continue;
    const std::size_t axis = result_axis(r_, d);
    c.grid.members[axis] = distribution_.grid.members[d], c.grid.step[axis] = distribution_.grid.step[d];
  }
  return c;
}
bool reduction_over_team::is_position() const { return r_.what == function::argmin || r_.what == function::argmax; }
bool reduction_over_team::is_computed_from_sums() const {
  return r_.what == function::mean || r_.what == function::var || r_.what == function::std;
}
bool reduction_over_team::is_over_nothing() const {
  for (std::size_t d = 0; d != distribution_.extents.rank; ++d)
    if (!r_.keeps(d) && distribution_.extents.extent[d] == 0) return true;
  return false;
}
double reduction_over_team::count() const {
  double n = 1;
  for (std::size_t d = 0; d != distribution_.extents.rank; ++d)
    if (!r_.keeps(d)) n *= static_cast<double>(distribution_.extents.extent[d]);
  return n;
}
program_operand reduction_over_team::room_of(std::size_t m) const {
  const program_shape s = part_shape(m);
  return s.is_empty() ? dense_operand(s, r_.over.result) : new_elements(s, r_.over.result, team_.device(m));
}

each_member reduction_over_team::room() const {
  each_member to;
  for (std::size_t m = first(); m != first() + team_.local_size(); ++m) to.push_back(room_of(m));
  return to;
}
bool reduction_over_team::can_write(const sharded_operand& to) const {
  if (is_joined() || reads_memory_of(r_.elements, to)) return false;
  return to.cells(to.own(first())).type == r_.over.result;
}
each_member reduction_over_team::cells_of(const sharded_operand& to) const {
  each_member cells;
  for (std::size_t m = first(); m != first() + team_.local_size(); ++m) cells.push_back(to.cells(to.own(m)));
  return cells;
}
void reduction_over_team::run(const each_member& to) const {
  const expression_program* const elements = &r_.elements;
  exchange_for(team_, {&elements, 1});
  if (!is_joined() || distribution_.is_empty_along_cuts()) {
    team_.for_each([&](std::size_t m) { reduce_cells(array_, m, {&r_.over, 1}, {&to[m - first()], 1}); });
  } else if (!r_.shape().is_empty()) {
    join(to);
  }
}

std::vector<reduction_program> reduction_over_team::parts(purpose why) const {
  const scalar_type result = r_.over.result;
  switch (r_.what) {
    case function::mean: return {reduced_by(function::sum, r_, cast_program(r_.elements, result), result)};
    case function::var:
    case function::std: return {reduced_by(function::sum, r_, squared_distances(why), result)};
    case function::argmin: return {r_.over, reduced_by(function::min, r_, r_.elements, r_.type)};
    case function::argmax: return {r_.over, reduced_by(function::max, r_, r_.elements, r_.type)};
    default: return {r_.over};
  }
}
axes_reduction reduction_over_team::mean() const {
  return {function::mean, r_.type, r_.elements, reduced_by(function::mean, r_, r_.elements, r_.type, true)};
}
// Of the elements from their mean.
expression_program reduction_over_team::squared_distances(purpose why) const {
  const axes_reduction mean = this->mean();
  const scalar_type t = computed_as(mean.over.result);
  mean_ = why == purpose::run ? reduce_along_axes(mean) : room_along_axes(mean);
  program_shape shape = r_.elements.shape;
  for (std::size_t d = 0; d != shape.rank; ++d)
    if (!r_.keeps(d)) shape.extent[d] = 1;
  const expression_program middle = placeholder_program(*mean_, shape, mean.over.result, memory_kind::device);
  const expression_program distance = apply(operation::subtract, t, r_.elements, middle);
  if (is_complex(t)) return apply(operation::norm, t, distance);
  return apply(operation::multiply, t, distance, distance);
}

// Reduces the cells of each member, and joins the results of all members that have cells, in their order.
void reduction_over_team::join(const each_member& to) const {
  const std::vector<reduction_program> parts = this->parts();
  std::vector<member_parts> results;
  std::vector<program_shape> shapes;
  for (std::size_t m = 0; m != team_.size(); ++m) shapes.push_back(part_shape(m));
  for (const reduction_program& p : parts) results.emplace_back(team_, shapes, p.result);
  team_.for_each([&](std::size_t m) {
    if (!distribution_.has_part(m)) return;
    each_member own;
    for (const member_parts& p : results) own.push_back(p.own(m));
    reduce_cells(array_, m, parts, own);
  });
  member_parts::gather(team_, results);
  team_.for_each([&](std::size_t m) { join_for(m, to[m - first()], results); });
}

void reduction_over_team::join_for(std::size_t m, const program_operand& to,
                                   std::span<const member_parts> parts) const {
  constexpr std::size_t most_members = 8;
  if (to.shape.is_empty()) return;
  std::size_t members = 0, joined_members = 0;
  for (std::size_t member = 0; member != team_.size(); ++member) members += joins(m, member);
  const bool has_positions = parts.size() > 1;
  const scalar_type t = computed_as(integer_promoted(parts.back().type()));
  std::vector<program_operand> results{to};
  if (has_positions && members > most_members)
    results.push_back(new_elements(part_shape(m), parts.back().type(), team_.device(m)));
  const stream_ref s = team_.stream(m);
  member_parts::copies copies;             // lives until the programs that read them are submitted
  std::vector<expression_program> joined;  // the result; for positions, also the values there
  for (std::size_t member = 0; member != team_.size(); ++member) {
    if (!joins(m, member)) continue;
    std::vector<expression_program> next;
    for (const member_parts& p : parts) next.push_back(array_program(p.part_for(m, member, copies)));
    if (has_positions) next[0] = position_in_whole(next[0], distribution_.own(member), r_.over.axes);
    if (joined.empty()) {
      joined = std::move(next);
    } else if (has_positions) {
      value_at_position found = first_found(r_.what, t, {joined[1], joined[0]}, {next[1], next[0]});
      joined[0] = std::move(found.position), joined[1] = std::move(found.value);
    } else {
      joined[0] = joined_values(r_.what, t, joined[0], next[0]);
    }
    const bool is_last = ++joined_members == members;
    if (!is_last && joined_members % most_members != 0) continue;
    if (is_last) joined[0] = finished(std::move(joined[0]));
    std::vector<assignment> all;
    for (std::size_t k = 0; k != results.size(); ++k) all.push_back({results[k], &joined[k]});
    assign_programs(&s, all, {});
    for (std::size_t k = 0; k != results.size(); ++k) joined[k] = array_program(results[k]);
  }
}

expression_program reduction_over_team::finished(expression_program sum) const {
  if (!is_computed_from_sums()) return sum;
  const scalar_type t = computed_as(r_.over.result);
  double n = count();
  if (r_.what != function::mean) {
    n -= r_.over.how.freedom;
    if (n <= 0) n = std::numeric_limits<double>::quiet_NaN();
  }
  expression_program p = apply(operation::divide, t, std::move(sum), constant_program(&n, scalar_type::float64));
  return r_.what == function::std ? apply(operation::sqrt, t, std::move(p)) : p;
}

bool reduction_over_team::precompile() const {
  if (!is_joined() || distribution_.is_empty_along_cuts()) return precompile_cells(array_, {&r_.over, 1});
  const bool has_mean = precompile_mean();
  return precompile_cells(array_, parts(purpose::compile)) && has_mean;
}
bool reduction_over_team::precompile_mean() const {
  if (r_.what != function::var && r_.what != function::std) return true;
  const axes_reduction of_elements = mean();
  return reduction_over_team(of_elements).precompile();
}

bool precompile_cells(const sharded_operand& array, std::span<const reduction_program> all) {
  const team& t = array.team();
  bool are_compiled = true;
  for (std::size_t m = t.first_local(); m != t.first_local() + t.local_size(); ++m) {
    const program_part own = array.own(m);
    if (own.is_empty()) continue;
    std::vector<reduction_program> here;
    for (const reduction_program& r : all) here.push_back(part_of_reduction(r, own));
    std::vector<const reduction_program*> one_pass;
    for (const reduction_program& r : here) one_pass.push_back(&r);
    are_compiled = precompile_reductions(one_pass, t.device(m)) && are_compiled;
  }
  return are_compiled;
}

void reduce_cells(const sharded_operand& array, std::size_t member, std::span<const reduction_program> all,
                  std::span<const program_operand> to) {
  if (to.front().shape.is_empty()) return;
  const program_part own = array.own(member);
  std::vector<reduction_program> here;
  here.reserve(all.size());
  std::vector<reduction_assignment> pairs;
  for (std::size_t k = 0; k != all.size(); ++k) {
    here.push_back(part_of_reduction(all[k], own));
    pairs.push_back({to[k], &here.back()});
  }
  const stream_ref s = array.team().stream(member);
  assign_reductions(&s, pairs, {});
}

}  // namespace ferry::inline FERRY_ABI::detail
