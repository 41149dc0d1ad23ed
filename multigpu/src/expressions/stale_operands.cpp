#include "expressions/stale_operands.hpp"

#include <algorithm>

#include "ferry/multigpu/detail/teams/across_processes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// True if the operand reads halo cells that mirror cells of the array.
bool reads_mirrors(const shard_distribution& d, const axis_offsets& by) {
  for (std::size_t k = 0; k != d.extents.rank; ++k)
    if (by[k] != 0 && (d.periodic[k] || d.grid.members[k] > 1)) return true;
  return false;
}

// Returns the cells [from, from + count) along an axis.
program_part along(const program_part& own, std::size_t axis, std::size_t from, std::size_t count) {
  program_part p = own;
  p.first[axis] += static_cast<std::ptrdiff_t>(from);
  p.shape.extent[axis] = count;
  return p;
}

}  // namespace

void stale_operands::add(const expression_program& p) {
  for (const program_operand& o : p.operands)
    if (o.is_placeholder) add(static_cast<const team_operand&>(placeholder_of(o)), false);
}
void stale_operands::add_filled(const expression_program& p) {
  for (const program_operand& o : p.operands)
    if (o.is_placeholder) add(static_cast<const team_operand&>(placeholder_of(o)), true);
}

void stale_operands::add(const team_operand& o, bool even_if_filled) {
  const sharded_operand* const array = o.array();
  if (!array) return;
  const shard_distribution d = array->distribution();
  const axis_offsets by = o.shift();
  if (d.extents.is_empty() || !reads_mirrors(d, by)) return;
  // All processes must make the same decision, and do not know which views other processes handed out.
  if (!even_if_filled && array->halos_are_filled() && !spans_processes(o.team())) return;
  for (std::size_t k = 0; k != d.extents.rank; ++k) {
    if (by[k] < 0) low_[k] = std::max(low_[k], static_cast<std::size_t>(-by[k]));
    if (by[k] > 0) high_[k] = std::max(high_[k], static_cast<std::size_t>(by[k]));
    is_periodic_[k] = is_periodic_[k] || d.periodic[k];
  }
  if (std::find(arrays_.begin(), arrays_.end(), array) != arrays_.end()) return;
  arrays_.push_back(array);
  plans_.push_back(array->plan());
}

evaluated_parts stale_operands::parts_of(const sharded_operand& to, std::size_t member) const {
  const shard_distribution d = to.distribution();
  evaluated_parts parts{d.own(member)};
  program_part& rest = parts.interior;  // cells that earlier axes leave
  for (std::size_t k = d.extents.rank; k-- > 0;) {
    if (!d.grid.is_cut(k)) continue;
    const std::size_t n = rest.shape.extent[k];
    const auto begin = static_cast<std::size_t>(rest.first[k]);
    // Beyond the ends of an axis that is not periodic, nothing is exchanged.
    const std::size_t low = is_periodic_[k] || begin > 0 ? std::min(low_[k], n) : 0;
    const std::size_t high = is_periodic_[k] || begin + n < d.extents.extent[k] ? std::min(high_[k], n - low) : 0;
    parts.edges.push_back(along(rest, k, 0, low));
    parts.edges.push_back(along(rest, k, n - high, high));
    rest = along(rest, k, low, n - low - high);
  }
  return parts;
}

void stale_operands::note_filled() const {
  for (const sharded_operand* a : arrays_) a->note_filled();
}

}  // namespace ferry::inline FERRY_ABI::detail
