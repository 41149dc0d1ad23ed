#include "ferry/multigpu/detail/expressions/explain_sharded.hpp"

#include <utility>
#include <vector>

#include "expressions/reduction_over_team.hpp"
#include "expressions/stale_operands.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns a line for each array whose halos a statement would exchange now.
std::string exchanges_of(const expression_program& p) {
  stale_operands stale;
  stale.add(p);
  std::string text;
  for (const sharded_operand* a : stale.arrays()) text += "  exchanges the halos of " + a->described() + "\n";
  return text;
}

// Returns the first local member that owns cells; the number of members if there is none.
std::size_t shown_member(const sharded_operand& a) {
  const team& t = a.team();
  for (std::size_t m = t.first_local(); m != t.first_local() + t.local_size(); ++m)
    if (!a.own(m).is_empty()) return m;
  return t.size();
}
std::string headline_of(const sharded_operand& a, std::size_t member) {
  const shard_distribution d = a.distribution();
  const program_part own = d.own(member);
  std::string text = concat("member ", member, ": cells ");
  bool is_first = true;
  for (std::size_t k = d.extents.rank; k-- > 0;) {
    if (!d.grid.is_cut(k)) continue;
    text +=
        concat(is_first ? "[" : " and [", own.first[k], ", ",
               own.first[k] + static_cast<std::ptrdiff_t>(own.shape.extent[k]), ") of axis ", d.extents.rank - 1 - k);
    is_first = false;
  }
  return text + "\n";
}
std::string over_a_team(const team& t) { return concat(" over a team of ", t.size(), "\n"); }

std::string how_members_join(const axes_reduction& r) {
  const reduction_over_team reduction(r);
  if (!reduction.is_joined()) return "  each member has its part\n";
  if (reduction.is_cut())
    return "  each member has a part, and joins the results of the members that have the same one\n";
  const bool is_position = r.what == reduction_function::argmin || r.what == reduction_function::argmax;
  if (r.shape().rank == 0 && !is_position) return "  each member has a part; readers join the parts\n";
  return "  every member joins the results of all\n";
}

// Returns an operand with the layout of an array's cells, and another type.
program_operand like_cells(const sharded_operand& a, const program_part& p, scalar_type type) {
  program_operand o = a.cells(p);
  const auto before = static_cast<std::ptrdiff_t>(size_of(o.type)), now = static_cast<std::ptrdiff_t>(size_of(type));
  for (std::ptrdiff_t& stride : o.stride_bytes) stride = stride / before * now;
  o.type = type;
  return o;
}

}  // namespace

std::string explain_sharded(const expression_program& p, scalar_type type) {
  const team& t = team_of(p);
  const sharded_operand& a = *first_array_of(p);
  std::string text = concat("expression ", text_of(p), over_a_team(t), "  result: ", text_of(p.shape), " of ",
                            name_of(type), "\n", exchanges_of(p));
  const std::size_t m = shown_member(a);
  return m == t.size() ? text : text + headline_of(a, m) + explain_program(part_program(p, a.own(m)), type);
}

std::string explain_axes_reduction(const axes_reduction& r) {
  const team& t = team_of(r.elements);
  const sharded_operand& a = *first_array_of(r.elements);
  std::string text = concat("reduction ", text_of(r.over), over_a_team(t), "  result: ", text_of(r.shape()), " of ",
                            name_of(r.over.result), "\n", how_members_join(r), exchanges_of(r.elements));
  const std::size_t m = shown_member(a);
  if (m == t.size()) return text;
  return text + headline_of(a, m) + explain_reduction(part_of_reduction(r.over, a.own(m)));
}

std::string explain_scan(const scan_over_team& r) {
  const team& t = team_of(r.elements);
  const sharded_operand& a = *first_array_of(r.elements);
  need_one_cut_along_scan(r, a);
  const bool is_along_members = is_scanned_along_members(r, a);
  std::string text = concat(
      "scan ", text_of(r.over), over_a_team(t), "  result: ", text_of(r.over.shape()), " of ", name_of(r.over.result),
      "\n", is_along_members ? "  each member adds the totals of those before it\n" : "", exchanges_of(r.elements));
  const std::size_t m = shown_member(a);
  if (m == t.size()) return text;
  return text + headline_of(a, m) + explain_reduction(part_of_reduction(r.over, a.own(m)));
}

bool precompile_axes_reduction(const axes_reduction& r) { return reduction_over_team(r).precompile(); }

bool precompile_totals(std::span<const axes_reduction* const> all) {
  std::vector<reduction_over_team> reductions;
  reductions.reserve(all.size());
  for (const axes_reduction* r : all) reductions.emplace_back(*r);
  const sharded_operand& array = reductions.front().array();
  std::vector<reduction_program> parts;
  bool are_compiled = true;
  for (const reduction_over_team& r : reductions) {
    need_one_distribution(array, r.request().elements);
    are_compiled = r.precompile_mean() && are_compiled;
    for (reduction_program& p : r.parts(purpose::compile)) parts.push_back(std::move(p));
  }
  return precompile_cells(array, parts) && are_compiled;
}

bool precompile_sharded(const expression_program& p, scalar_type type) {
  const team& t = team_of(p);
  const sharded_operand& a = *first_array_of(p);
  stale_operands shifted;
  shifted.add_filled(p);
  bool is_compiled = true;
  for (std::size_t m = t.first_local(); m != t.first_local() + t.local_size(); ++m) {
    const program_part own = a.own(m);
    const evaluated_parts parts = shifted.parts_of(a, m);
    const auto compile = [&](const program_part& part) {
      if (part.is_empty()) return;
      const bool done = precompile_assignment(part_program(p, part), like_cells(a, part, type), t.device(m));
      is_compiled = is_compiled && done;
    };
    compile(own);  // for statements that find the halos up to date
    if (parts.interior.shape == own.shape) continue;
    compile(parts.interior);
    for (const program_part& edge : parts.edges.get()) compile(edge);
  }
  return is_compiled;
}

}  // namespace ferry::inline FERRY_ABI::detail
