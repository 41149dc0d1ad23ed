// Relatives of sorting over shards: greatest elements, different elements, searches.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "ferry/core/copy.hpp"
#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/detail/sorting/sorting_request.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/moving.hpp"
#include "ferry/core/scalar.hpp"
#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"
#include "ferry/multigpu/detail/sorting/sharded_sorting.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"
#include "sorting/part_exchange.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

program_operand line_of(std::size_t n, scalar_type type, const device& on) {
  program_shape s;
  s.rank = 1, s.extent[0] = n;
  return n == 0 ? dense_operand(s, type) : new_elements(s, type, on);
}

// The first elements of a program in order, as many as `positions` has, and their positions.
void order_elements(const stream_ref& s, const sorting_over_team& r, expression_program p,
                    const program_operand& values, const program_operand& positions) {
  sorting_request o;
  o.name = r.name, o.kind = sorting_kind::order, o.type = r.type, o.axis = 0, o.is_descending = r.is_descending;
  o.from = &p, o.values = &values, o.positions = &positions;
  submit_sorting(&s, o, {});
}

// A value as bits.
std::uint64_t element_at(const stream_ref& s, const program_operand& o, std::size_t i) {
  std::uint8_t bytes[sizeof(std::uint64_t)] = {};
  const auto from = elements_in<std::uint8_t>(o, i, 1);
  copy(s, from, std::span(bytes, size_of(o.type)), source_line{});
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

// What a member tells the others of its different elements.
struct distinct_ends {
  std::uint64_t count = 0, first = 0, last = 0;
};

}  // namespace

void find_top_elements(const sorting_over_team& r, std::size_t k, std::span<const program_operand> values,
                       std::span<const program_operand> positions) {
  refuse_inside_submission(concat("fr::", r.name));
  const team& t = team_of(r.elements);
  const sharded_operand& array = *first_array_of(r.elements);
  const std::size_t count = array.distribution().extents.extent[0], first = t.first_local();
  (void)sorted_axis(r.name, r.axis, 1);
  need_top(k, count);
  if (k == 0) return;
  const expression_program* const elements = &r.elements;
  exchange_for(t, {&elements, 1});
  const auto found_by = [&](std::size_t m) { return std::min(k, t.part_of(m, count).size()); };
  std::size_t all = 0;
  for (std::size_t m = 0; m != t.size(); ++m) all += found_by(m);
  each_member own(t.local_size()), own_places = own, arrived = own, arrived_places = own;
  t.for_each([&](std::size_t m) {
    const std::size_t i = m - first, n = found_by(m);
    own[i] = line_of(n, r.type, t.device(m)), own_places[i] = line_of(n, scalar_type::int64, t.device(m));
    arrived[i] = line_of(all, r.type, t.device(m)), arrived_places[i] = line_of(all, scalar_type::int64, t.device(m));
    if (n == 0) return;
    const program_part cells = array.own(m);
    order_elements(t.stream(m), r, part_program(r.elements, cells), own[i], own_places[i]);
    auto places = elements_in<std::int64_t>(own_places[i], 0, n);
    assign(t.stream(m), places, places + static_cast<std::int64_t>(cells.first[0]));
  });
  exchange_parts(t,
                 [&](std::size_t from, std::size_t) {
                   return part{0, found_by(from)};
                 },
                 {{&own, &arrived}, {&own_places, &arrived_places}});
  t.for_each([&](std::size_t m) {
    const std::size_t i = m - first;
    const program_operand places = line_of(k, scalar_type::int64, t.device(m));
    order_elements(t.stream(m), r, array_program(arrived[i]), values[i], places);
    auto to = elements_in<std::int64_t>(positions[i], 0, k);
    assign(t.stream(m), to,
           take(elements_in<std::int64_t>(arrived_places[i], 0, all), elements_in<std::int64_t>(places, 0, k)));
  });
}

distinct_elements find_distinct_elements(const sharded_operand& sorted) {
  const team& t = sorted.team();
  const std::size_t first = t.first_local();
  distinct_elements found{each_member(t.local_size()), std::vector<part>(t.size()), 0};
  std::vector<scalar<std::uint64_t>> counts;
  for (std::size_t i = 0; i != t.local_size(); ++i) counts.emplace_back(t.device(first + i));
  t.for_each([&](std::size_t m) {
    const program_operand cells = sorted.cells(sorted.own(m));
    if (cells.shape.is_empty()) return;
    program_operand& values = found.values[m - first];
    values = line_of(cells.shape.extent[0], cells.type, t.device(m));
    expression_program p = array_program(cells);
    const program_operand count = operand_of(counts[m - first].as_array());
    sorting_request r;
    r.name = "unique", r.kind = sorting_kind::unique, r.type = cells.type;
    r.from = &p, r.values = &values, r.found = &count;
    const stream_ref s = t.stream(m);
    submit_sorting(&s, r, {});
  });
  std::vector<distinct_ends> mine(t.local_size()), all(t.size());
  for (std::size_t i = 0; i != mine.size(); ++i) {
    const program_operand& values = found.values[i];
    if (sorted.own(first + i).is_empty()) continue;
    const std::uint64_t n = counts[i].value();
    const stream_ref s = t.stream(first + i);
    mine[i] = {n, element_at(s, values, 0), element_at(s, values, n - 1)};
  }
  if (spans_processes(t))
    join_processes(t, std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), "unique");
  else
    all = std::move(mine);
  const distinct_ends* before = nullptr;
  for (std::size_t m = 0; m != t.size(); ++m) {
    if (all[m].count == 0) continue;
    const bool is_known = before && before->last == all[m].first;
    found.kept[m] = {is_known ? std::size_t{1} : 0, all[m].count};
    found.count += found.kept[m].size();
    before = &all[m];
  }
  return found;
}

void store_distinct_elements(const distinct_elements& all, const sharded_operand& to) {
  const team& t = to.team();
  each_member cells;
  for (std::size_t i = 0; i != t.local_size(); ++i) cells.push_back(to.cells(to.own(t.first_local() + i)));
  std::vector<std::size_t> begin{0};  // of each member's elements among all
  for (const part& p : all.kept) begin.push_back(begin.back() + p.size());
  const auto sent = [&](std::size_t from, std::size_t receiver) {
    const part own = t.part_of(receiver, all.count);
    const std::size_t first = std::max(own.begin, begin[from]), end = std::min(own.end, begin[from + 1]);
    if (first >= end) return part{};
    const std::size_t offset = all.kept[from].begin;
    return part{first - begin[from] + offset, end - begin[from] + offset};
  };
  exchange_parts(t, sent, {{&all.values, &cells}});
  to.note_changed();
}

void search_sharded(const expression_program& sorted, const expression_program& values, scalar_type type,
                    bool is_after_equal, const sharded_operand& to) {
  if (const sharded_operand* const cut = first_array_of(sorted))
    throw invalid_argument("fr::searchsorted in '" + text_of(sorted) + "': every member needs all elements of " +
                           cut->described() + ": copy them to a replicated array");
  for (const program_operand& o : sorted.operands)
    if (o.is_placeholder && static_cast<const team_operand&>(placeholder_of(o)).team() != to.team())
      throw invalid_argument("fr::searchsorted in '" + text_of(sorted) +
                             "', which belongs to another team than the values: make both on one team");
  const expression_program* const elements = &values;
  exchange_for(to.team(), {&elements, 1});
  to.team().for_each([&](std::size_t m) {
    const program_part own = to.own(m);
    if (own.is_empty()) return;
    expression_program from = part_program(sorted, {m, sorted.shape, sorted.shape, {}});
    expression_program wanted = part_program(values, own);
    const program_operand cells = to.cells(own);
    sorting_request r;
    r.name = "searchsorted", r.kind = sorting_kind::search, r.type = type, r.is_after_equal = is_after_equal;
    r.from = &from, r.other = &wanted, r.positions = &cells;
    const stream_ref s = to.team().stream(m);
    submit_sorting(&s, r, {});
  });
  to.note_changed();
}

}  // namespace ferry::inline FERRY_ABI::detail
