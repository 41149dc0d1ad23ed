#include "ferry/multigpu/detail/expressions/sharded_assignment.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expressions/stale_operands.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/error.hpp"
#include "ferry/multigpu/halo_exchange.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

using assignments = std::span<const sharded_assignment>;

const team_operand* team_operand_of(const program_operand& o) {
  return o.is_placeholder ? static_cast<const team_operand*>(&placeholder_of(o)) : nullptr;
}

void need_fitting_shape(const sharded_assignment& a, const program_shape& to, const sharded_operand& first) {
  const program_shape& e = a.value->shape;
  bool fits = e.rank <= to.rank;
  for (std::size_t d = 0; fits && d != e.rank; ++d) fits = e.extent[d] == to.extent[d] || e.extent[d] == 1;
  if (!fits)
    throw invalid_argument("cannot assign '" + text_of(*a.value) + "' of " + text_of(e) + " to " + a.to->described() +
                           ": the destination is not stretched, and each extent must be equal, or 1 in the expression");
  if (a.to->team() != first.team() || !a.to->distribution().is_like(first.distribution()))
    throw invalid_argument("fr::assign: " + a.to->described() +
                           " is distributed otherwise than the first destination, " + first.described() +
                           ": assign it in a call of its own, or reshard it");
}

// True if an operand reads memory of an array.
bool reads(const program_operand& o, const sharded_operand& array) {
  if (const team_operand* const spread = team_operand_of(o)) return spread->array() == &array;
  const team& t = array.team();
  for (std::size_t m = t.first_local(); m != t.first_local() + t.local_size(); ++m)
    if (o.bytes().overlaps(array.memory(m))) return true;
  return false;
}

// True if a program reads cells of a destination at another place than they are assigned to.
bool is_hazard(assignments all) {
  for (const sharded_assignment& a : all)
    for (const program_operand& o : a.value->operands) {
      const team_operand* const spread = team_operand_of(o);
      if (spread && spread->shift() == axis_offsets{}) continue;
      for (const sharded_assignment& to : all)
        if (reads(o, *to.to)) return true;
    }
  return false;
}

// Returns the part of a temporary for the cells of `part`. own: the cells of the whole temporary.
program_operand part_of_temporary(const program_operand& t, const program_part& own, const program_part& part) {
  program_part inside = part;
  for (std::size_t d = 0; d != own.shape.rank; ++d) inside.first[d] -= own.first[d];
  return sliced(t, inside);
}

class sharded_evaluation {
 public:
  explicit sharded_evaluation(assignments all)
      : all_(all),
        team_(all.front().to->team()),
        uses_temporaries_(is_hazard(all)) {
    if (!uses_temporaries_) return;
    temporaries_.resize(team_.local_size());
    for (std::size_t m = first(); m != first() + team_.local_size(); ++m) {
      const program_part own = all_.front().to->own(m);
      if (own.is_empty()) continue;
      for (const sharded_assignment& a : all_)
        temporaries_[m - first()].push_back(new_elements(own.shape, a.to->cells(own).type, team_.device(m)));
    }
  }
  // Submits the evaluation of some cells of a member.
  void run(const program_part& p) const {
    if (p.is_empty()) return;
    std::vector<expression_program> programs;
    programs.reserve(all_.size());
    std::vector<assignment> pairs;
    for (std::size_t k = 0; k != all_.size(); ++k) {
      programs.push_back(part_program(*all_[k].value, p));
      pairs.push_back({uses_temporaries_
                           ? part_of_temporary(temporaries_[p.member - first()][k], all_.front().to->own(p.member), p)
                           : all_[k].to->cells(p),
                       &programs.back()});
    }
    const stream_ref s = team_.stream(p.member);
    assign_programs(&s, pairs, {});
  }
  // Copies the temporaries of all members to the destinations, if there are any. Call it when all evaluations have been
  // submitted.
  void finish() const {
    if (!uses_temporaries_) return;
    team_.for_each([&](std::size_t m) {
      const program_part own = all_.front().to->own(m);
      if (own.is_empty()) return;
      std::vector<expression_program> programs;
      programs.reserve(all_.size());
      std::vector<assignment> pairs;
      for (std::size_t k = 0; k != all_.size(); ++k) {
        programs.push_back(array_program(temporaries_[m - first()][k]));
        pairs.push_back({all_[k].to->cells(own), &programs.back()});
      }
      const stream_ref s = team_.stream(m);
      assign_programs(&s, pairs, {});
    });
  }

 private:
  std::size_t first() const { return team_.first_local(); }
  assignments all_;
  const team& team_;
  bool uses_temporaries_;
  std::vector<std::vector<program_operand>> temporaries_;  // of each local member
};

}  // namespace

bool reads_memory_of(const expression_program& p, const sharded_operand& array) {
  return std::any_of(p.operands.begin(), p.operands.end(), [&](const program_operand& o) { return reads(o, array); });
}

const sharded_operand* first_array_of(const expression_program& p) {
  for (const program_operand& o : p.operands)
    if (const team_operand* const spread = team_operand_of(o); spread && spread->array()) return spread->array();
  return nullptr;
}

void need_one_distribution(const sharded_operand& to, const expression_program& p) {
  for (const program_operand& o : p.operands) {
    const team_operand* const spread = team_operand_of(o);
    if (!spread) continue;
    if (spread->team() != to.team())
      throw invalid_argument(
          "'" + text_of(p) + "' needs " + to.described() + ", but " +
          (spread->array() ? spread->array()->described() : "'" + spread->text() + "', which every member has,") +
          " belongs to another team: make both on one team, or copy the cells by reshard");
    if (spread->array() && !spread->array()->distribution().is_like(to.distribution()))
      throw invalid_argument("'" + text_of(p) + "': " + spread->array()->described() +
                             " is distributed otherwise than " + to.described() +
                             ": copy its cells into an array of that distribution by reshard");
    const std::optional<cut_shape> cut = spread->cut();
    if (cut && !cut->fits(to.distribution()))
      throw invalid_argument("'" + text_of(p) + "': the members have parts of " + spread->text() + " that do not fit " +
                             to.described() +
                             ": assign the result to a sharded array of its own shape, and reshard that");
  }
}

void assign_sharded(assignments all) {
  const sharded_operand& to = *all.front().to;
  const program_shape whole = to.distribution().extents;
  for (const sharded_assignment& a : all) need_fitting_shape(a, whole, to), need_one_distribution(to, *a.value);
  for (const sharded_assignment& a : all)
    for (const sharded_assignment* b = &a + 1; b != all.data() + all.size(); ++b)
      if (a.to == b->to) throw invalid_argument("fr::assign: " + a.to->described() + " is assigned twice in one call");
  if (whole.is_empty()) return;

  const team& t = to.team();
  stale_operands stale;
  for (const sharded_assignment& a : all) stale.add(*a.value);
  const sharded_evaluation evaluation(all);
  if (stale.plans().empty()) {
    t.for_each([&](std::size_t m) { evaluation.run(to.own(m)); });
  } else {
    t.for_each([&](std::size_t m) {
      halo_plan::start(stale.plans(), t, m, halo_streams::side);
      evaluation.run(stale.parts_of(to, m).interior);
    });
    halo_plan::carry(stale.plans(), t, halo_streams::side);
    finish_exchange(t, stale.plans());
    t.for_each([&](std::size_t m) {
      const evaluated_parts parts = stale.parts_of(to, m);
      for (const program_part& p : parts.edges.get()) evaluation.run(p);
    });
    stale.note_filled();
  }
  evaluation.finish();
  for (const sharded_assignment& a : all) a.to->note_changed();
}

void exchange_for(const team& t, std::span<const expression_program* const> programs) {
  stale_operands stale;
  for (const expression_program* p : programs) stale.add(*p);
  if (stale.plans().empty()) return;
  exchange(t, stale.plans());
  stale.note_filled();
}

}  // namespace ferry::inline FERRY_ABI::detail
