#include "ferry/multigpu/detail/expressions/axes_reduction.hpp"

#include <optional>
#include <string>
#include <utility>

#include "expressions/reduction_over_team.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// A result that each local member has in its memory, whole or in parts.
class member_results final : public team_operand {
 public:
  member_results(const ferry::team& t, const axes_reduction& r, each_member results)
      : team_(t),
        text_(text_of(r.over)),
        results_(std::move(results)) {}
  // States that each member has only a part.
  void cut_as(const cut_shape& c) { cut_ = c; }
  const ferry::team& team() const override { return team_; }
  std::string text() const override { return text_; }
  std::optional<cut_shape> cut() const override { return cut_; }
  program_operand elements(const program_part& p) const override {
    program_part inside = p;
    if (cut_) {
      const program_part own = cut_->own(p.member);
      for (std::size_t d = 0; d != own.shape.rank; ++d) inside.first[d] -= own.first[d];
    }
    return sliced(results_[p.member - team_.first_local()], inside);
  }

 private:
  ferry::team team_;
  std::string text_;
  each_member results_;
  std::optional<cut_shape> cut_;
};

std::shared_ptr<const team_operand> results_in(each_member room, const reduction_over_team& reduction) {
  auto results = std::make_shared<member_results>(reduction.members(), reduction.request(), std::move(room));
  if (reduction.is_cut()) results->cut_as(reduction.cut());
  return results;
}

}  // namespace

std::shared_ptr<const team_operand> reduce_along_axes(const axes_reduction& r) {
  const reduction_over_team reduction(r);
  each_member room = reduction.room();
  reduction.run(room);
  return results_in(std::move(room), reduction);
}
std::shared_ptr<const team_operand> room_along_axes(const axes_reduction& r) {
  const reduction_over_team reduction(r);
  return results_in(reduction.room(), reduction);
}

void reduce_along_axes(const axes_reduction& r, const sharded_operand& to) {
  if (to.distribution().extents != r.shape())
    throw invalid_argument("cannot assign '" + text_of(r.over) + "' of " + text_of(r.shape()) + " to " +
                           to.described() + ": the shapes must be equal");
  const reduction_over_team reduction(r);
  if (to.team() != reduction.members())
    throw invalid_argument("'" + text_of(r.over) + "' cannot be assigned to " + to.described() +
                           ", which belongs to another team than " + first_array_of(r.elements)->described() +
                           ": make both on one team, or copy the cells by reshard");
  if (reduction.is_cut() && !reduction.cut().fits(to.distribution()))
    throw invalid_argument("'" + text_of(r.over) + "': the members' parts of " +
                           first_array_of(r.elements)->described() + " do not fit " + to.described() +
                           (reduction.is_joined()
                                ? ": assign the result with keep_dims to an array that is cut as the elements"
                                : ": assign the result to an array that is cut along " +
                                      text_of(reduction.cut().grid, r.shape().rank) + ", and reshard that"));
  if (reduction.can_write(to)) {
    reduction.run(reduction.cells_of(to));
    return to.note_changed();
  }
  const std::shared_ptr<const team_operand> results = reduce_along_axes(r);
  const expression_program p = placeholder_program(*results, r.shape(), r.over.result, memory_kind::device);
  const sharded_assignment one{&to, &p};
  assign_sharded({&one, 1});
}

void reduce_along_axes(const axes_reduction& r, const team& t, std::span<const program_operand> copies) {
  const reduction_over_team reduction(r);
  if (t != reduction.members())
    throw invalid_argument("'" + text_of(r.over) +
                           "' is assigned to copies on another team: make them on the team of " +
                           first_array_of(r.elements)->described());
  if (reduction.is_cut())
    throw invalid_argument(
        "'" + text_of(r.over) + "' keeps the " + (reduction.array().distribution().grid.cuts() > 1 ? "axes" : "axis") +
        " along which " + first_array_of(r.elements)->described() +
        " is distributed, so each member has a part: assign it to a sharded array of " + text_of(r.shape()));
  if (copies.front().shape != r.shape())
    throw invalid_argument("cannot assign '" + text_of(r.over) + "' of " + text_of(r.shape()) +
                           " to a replicated array of " + text_of(copies.front().shape) + ": the shapes must be equal");
  reduction.run({copies.begin(), copies.end()});
}

}  // namespace ferry::inline FERRY_ABI::detail
