#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"

#include <utility>
#include <vector>

#include "expressions/reduction_over_team.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

const team& team_of(const expression_program& p) {
  const sharded_operand* const first = first_array_of(p);
  if (!first)
    throw invalid_argument("'" + text_of(p) + "' reads no sharded array: use the copy of one member, copy_of(member)");
  need_one_distribution(*first, p);
  if (p.shape != first->distribution().extents)
    throw invalid_argument("'" + text_of(p) + "' of " + text_of(p.shape) + " stretches " + first->described() +
                           ": reductions take the shape of the sharded arrays");
  return first->team();
}

reduction_program part_of_reduction(const reduction_program& r, const program_part& part) {
  reduction_program here = r;
  const bool is_weighted = r.how.weight != evaluation_output::no_mask;
  here.program = part_program(r.program, part, is_weighted ? &here.how.weight : nullptr);
  here.shown = here.program.root;
  return here;
}

namespace {

// Several reductions over all cells, which each member computes in one pass.
class totals_of_members {
 public:
  totals_of_members(const team& t, std::span<const total_of_team> all) : all_(all), team_(t) {
    reductions_.reserve(all.size());
    for (const total_of_team& a : all) reductions_.emplace_back(*a.what);
    for (const total_of_team& a : all) need_one_distribution(array(), a.what->elements);
  }
  void run() {
    exchange_for_all();
    for (const reduction_over_team& r : reductions_)
      for (reduction_program& p : r.parts()) {
        if (r.is_position()) found_.emplace_back(team_, r.request().shape(), p.result);
        parts_.push_back(std::move(p));
      }
    team_.for_each([&](std::size_t m) { reduce_own(m); });
    member_parts::gather(team_, found_);
    team_.for_each([&](std::size_t m) { finish(m); });
  }

 private:
  const sharded_operand& array() const { return reductions_.front().array(); }
  const program_operand& to(std::size_t k, std::size_t m) const { return all_[k].parts[m - team_.first_local()]; }

  void exchange_for_all() const {
    std::vector<const expression_program*> elements;
    for (const total_of_team& a : all_) elements.push_back(&a.what->elements);
    exchange_for(team_, elements);
  }
  void reduce_own(std::size_t m) const {
    if (array().own(m).is_empty()) return set_neutral(m);
    std::vector<program_operand> here;
    std::size_t found = 0;
    for (std::size_t k = 0; k != all_.size(); ++k) {
      if (!reductions_[k].is_position())
        here.push_back(to(k, m));
      else
        for (const std::size_t end = found + 2; found != end; ++found) here.push_back(found_[found].own(m));
    }
    reduce_cells(array(), m, parts_, here);
  }
  void set_neutral(std::size_t m) const {
    std::vector<expression_program> values;
    values.reserve(all_.size());
    std::vector<assignment> pairs;
    for (std::size_t k = 0; k != all_.size(); ++k) {
      if (reductions_[k].is_position()) continue;
      values.push_back(constant_program(all_[k].neutral, all_[k].what->over.result));
      pairs.push_back({to(k, m), &values.back()});
    }
    const stream_ref s = team_.stream(m);
    if (!pairs.empty()) assign_programs(&s, pairs, {});
  }
  // Joins positions, and computes the parts of means and variances from sums.
  void finish(std::size_t m) const {
    std::vector<expression_program> values;
    values.reserve(all_.size());
    std::vector<assignment> pairs;
    std::size_t found = 0;
    for (std::size_t k = 0; k != all_.size(); ++k) {
      if (reductions_[k].is_position()) {
        reductions_[k].join_for(m, to(k, m), std::span(found_).subspan(found, 2));
        found += 2;
      } else if (reductions_[k].is_computed_from_sums()) {
        values.push_back(reductions_[k].finished(array_program(to(k, m))));
        pairs.push_back({to(k, m), &values.back()});
      }
    }
    const stream_ref s = team_.stream(m);
    if (!pairs.empty()) assign_programs(&s, pairs, {});
  }

  std::span<const total_of_team> all_;
  const team& team_;
  std::vector<reduction_over_team> reductions_;
  std::vector<reduction_program> parts_;
  std::vector<member_parts> found_;  // the position and the value there, of each reduction to a position
};

}  // namespace

void reduce_to_parts(const team& t, std::span<const total_of_team> all) { totals_of_members(t, all).run(); }

}  // namespace ferry::inline FERRY_ABI::detail
