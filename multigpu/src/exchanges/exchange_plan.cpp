#include "ferry/multigpu/exchange_plan.hpp"

#include <algorithm>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/moving.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"
#include "sorting/part_exchange.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

using index_lists = std::vector<std::vector<std::size_t>>;

struct exchange_plan::state {
  explicit state(dealt_rows d) : dealt(std::move(d)) {}
  dealt_rows dealt;
  index_lists ghosts;      // of local members, ascending
  std::vector<part> sent;  // [from * members + to]: of the elements that leave `from`, in their order
  std::vector<device_array<std::int64_t>> leaving;  // for each local member: which of its elements, by receiving member
  std::vector<std::shared_ptr<ghost_rows>> arrays;  // exchanged so far

  std::size_t first() const { return dealt.team.first_local(); }
  const part& between(std::size_t from, std::size_t to) const { return sent[from * dealt.team.size() + to]; }
  std::shared_ptr<ghost_rows> find(const void* store);
  std::shared_ptr<ghost_rows> find_or_make(const exchanged_rows& a);
};

namespace {

std::string member_text(std::size_t m) { return concat("member ", m); }

void check_lists(const dealt_rows& dealt, const index_lists& needed, const std::string& name, source_line at) {
  const team& t = dealt.team;
  if (needed.size() != t.local_size())
    throw invalid_argument(concat("an exchange plan of ", quoted_name(name, "sharded array"), in_line(at), " got ",
                                  needed.size(), " lists of indices for ", t.local_size(),
                                  " members of this process: pass one list for each, also if it is empty"));
  for (std::size_t i = 0; i != needed.size(); ++i)
    for (const std::size_t index : needed[i])
      if (index >= dealt.count)
        throw invalid_argument(concat("an exchange plan of ", quoted_name(name, "sharded array"), in_line(at), ": ",
                                      member_text(t.first_local() + i), " needs index ",
                                      static_cast<std::ptrdiff_t>(index), ", and the first axis has the extent ",
                                      dealt.count));
}

// The indices of each list that the member does not own, ascending, each once.
index_lists foreign_indices(const dealt_rows& dealt, index_lists lists) {
  for (std::size_t i = 0; i != lists.size(); ++i) {
    std::vector<std::size_t>& list = lists[i];
    const part own = dealt.of_member[dealt.team.first_local() + i];
    std::erase_if(list, [&](std::size_t index) { return index >= own.begin && index < own.end; });
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return lists;
}

// The lists of all members, in all processes.
index_lists lists_of_all(const team& t, const index_lists& mine) {
  if (!spans_processes(t)) return mine;
  std::vector<std::uint64_t> numbers;
  for (const auto& list : mine) {
    numbers.push_back(list.size());
    numbers.insert(numbers.end(), list.begin(), list.end());
  }
  std::uint64_t count = 0;
  for_each_process(t, std::uint64_t{numbers.size()}, "an exchange plan", [&](std::uint64_t n) { count += n; });
  std::vector<std::uint64_t> joined(count);
  join_processes(t, std::as_bytes(std::span(numbers)), std::as_writable_bytes(std::span(joined)), "an exchange plan");
  index_lists all;
  for (std::size_t at = 0; at != joined.size();) {
    const auto* const begin = joined.data() + at + 1;
    all.emplace_back(begin, begin + joined[at]);
    at += 1 + joined[at];
  }
  return all;
}

template <class T>
array_view<T, 1, memory_kind::device> units_in(const array_view<std::byte, 1, memory_kind::device>& a) {
  return {a.owner(), reinterpret_cast<T*>(a.unsynchronized_data()), extents<1>(a.size() / sizeof(T)), {1}};
}

// Packs rows, as numbers of type U. Elements of any type are bytes here.
template <class U>
void pack(stream_ref s, const exchanged_rows::bytes_view& from, std::size_t row_bytes,
          const device_array<std::int64_t>& which, array_view<std::byte, 1, memory_kind::device> to) {
  const std::size_t units = row_bytes / sizeof(U), rows = from.size() / row_bytes;
  const auto* const data = reinterpret_cast<const U*>(from.unsynchronized_data());
  array_view<U, 1, memory_kind::device> packed = units_in<U>(to);
  if (units == 1) {
    const array_view<const U, 1, memory_kind::device> line(from.owner(), data, extents<1>(rows), {1});
    return assign(s, packed, take(line, which));
  }
  const extents<2> shape(rows, units);
  const array_view<const U, 2, memory_kind::device> all(from.owner(), data, shape, row_major(shape));
  auto packed_rows = packed.reshape(extents<2>(which.size(), units));
  assign(s, packed_rows, take(all, which, 0));
}
void pack_rows(stream_ref s, const exchanged_rows::bytes_view& from, std::size_t row_bytes,
               const device_array<std::int64_t>& which, const array_view<std::byte, 1, memory_kind::device>& to) {
  if (row_bytes % 8 == 0)
    pack<std::uint64_t>(s, from, row_bytes, which, to);
  else if (row_bytes % 4 == 0)
    pack<std::uint32_t>(s, from, row_bytes, which, to);
  else if (row_bytes % 2 == 0)
    pack<std::uint16_t>(s, from, row_bytes, which, to);
  else
    pack<std::uint8_t>(s, from, row_bytes, which, to);
}

}  // namespace

void detail::throw_scattered_rows(const std::string& name, const std::string& layout) {
  throw invalid_argument("an exchange plan of " + quoted_name(name, "sharded array") + ", which has shape " + layout +
                         ": members must own whole elements along the first axis, without halos along other axes; "
                         "use .axis = 0, or ferry::reshard");
}

std::size_t local_numbers::find(std::size_t index) const {
  if (index >= own_.begin && index < own_.end) return index - own_.begin;
  const auto at = std::lower_bound(ghosts_.begin(), ghosts_.end(), index);
  return at != ghosts_.end() && *at == index ? owned() + static_cast<std::size_t>(at - ghosts_.begin()) : none;
}

std::size_t local_numbers::operator()(std::size_t index) const {
  const std::size_t found = find(index);
  if (found == none)
    throw invalid_argument(concat("an exchange plan has no element ", index, " for ", member_text(member_),
                                  ": name it in the member's list when the plan is made"));
  return found;
}

exchange_plan::exchange_plan(dealt_rows dealt, const index_lists& needed, const std::string& name, source_line at) {
  const ferry::team t = dealt.team;
  together(t, "an exchange plan", [&] { check_lists(dealt, needed, name, at); });
  state_ = std::make_shared<state>(std::move(dealt));
  state& s = *state_;
  s.ghosts = foreign_indices(s.dealt, needed);
  const index_lists all = lists_of_all(t, s.ghosts);
  s.sent.resize(t.size() * t.size());
  for (std::size_t from = 0; from != t.size(); ++from) {
    const part own = s.dealt.of_member[from];
    std::vector<std::int64_t> leaving;
    std::size_t end = 0;
    for (std::size_t to = 0; to != t.size(); ++to) {
      const auto begin = std::lower_bound(all[to].begin(), all[to].end(), own.begin);
      const auto last = std::lower_bound(begin, all[to].end(), own.end);
      if (t.is_local(from))
        for (auto index = begin; index != last; ++index)
          leaving.push_back(static_cast<std::int64_t>(*index - own.begin));
      const std::size_t first = std::exchange(end, end + static_cast<std::size_t>(last - begin));
      s.sent[from * t.size() + to] = {first, end};
    }
    if (t.is_local(from)) s.leaving.push_back(device_array<std::int64_t>::from(leaving, t.device(from)));
  }
}

exchange_plan::state& exchange_plan::held() const {
  if (!state_) throw_moved_from("the exchange plan");
  return *state_;
}

const team& exchange_plan::team() const { return held().dealt.team; }

local_numbers exchange_plan::local(std::size_t member) const {
  const state& s = held();
  (void)s.dealt.team.stream(member);  // throws for members of other processes
  return {member, s.dealt.of_member[member], s.ghosts[member - s.first()]};
}

void exchange_plan::need_team(const ferry::team& t, const std::string& name) const {
  if (!(t == team()))
    throw invalid_argument(quoted_name(name, "sharded array") + " is on another team than the exchange plan");
}

void exchange_plan::need_rows(const dealt_rows& rows, const std::string& name) const {
  if (!(rows == held().dealt))
    throw_other_layout(name, rows.text, "of an exchange plan for shape " + held().dealt.text);
}

std::shared_ptr<ghost_rows> exchange_plan::state::find(const void* store) {
  std::erase_if(arrays, [](const auto& g) { return g->store.expired(); });
  for (const auto& g : arrays)
    if (g->store.lock().get() == store) return g;
  return nullptr;
}

std::shared_ptr<ghost_rows> exchange_plan::state::find_or_make(const exchanged_rows& a) {
  if (auto found = find(a.store.get())) return found;
  auto made = std::make_shared<ghost_rows>(ghost_rows{a.store, a.row_bytes, 0, {}, {}});
  for (std::size_t i = 0; i != ghosts.size(); ++i) {
    const device on = dealt.team.device(first() + i);
    made->of_member.emplace_back(extents<1>(ghosts[i].size() * a.row_bytes), on);
    made->leaving.emplace_back(extents<1>(leaving[i].size() * a.row_bytes), on);
    if (!a.name.empty()) made->of_member.back().name(a.name + "'s ghosts");
  }
  arrays.push_back(made);
  return made;
}

void exchange_plan::exchange_rows(std::span<const exchanged_rows> all) const {
  state& s = held();
  const ferry::team& t = s.dealt.team;
  std::vector<std::shared_ptr<ghost_rows>> ghosts;
  std::vector<std::vector<program_operand>> leaving(all.size()), arriving(all.size());
  std::vector<moved_elements> moved;
  for (std::size_t k = 0; k != all.size(); ++k) {
    ghosts.push_back(s.find_or_make(all[k]));
    for (std::size_t i = 0; i != t.local_size(); ++i) {
      leaving[k].push_back(operand_of(units_in<std::uint8_t>(ghosts[k]->leaving[i])));
      arriving[k].push_back(operand_of(units_in<std::uint8_t>(ghosts[k]->of_member[i])));
    }
    moved.push_back({&leaving[k], &arriving[k], all[k].row_bytes});
  }
  t.for_each([&](std::size_t m) {
    const std::size_t i = m - s.first();
    for (std::size_t k = 0; k != all.size(); ++k)
      if (ghosts[k]->leaving[i].size() != 0)
        pack_rows(t.stream(m), all[k].of_member[i], all[k].row_bytes, s.leaving[i], ghosts[k]->leaving[i]);
  });
  exchange_parts(
      t, [&](std::size_t from, std::size_t to) { return s.between(from, to); }, moved);
  for (std::size_t k = 0; k != all.size(); ++k) {
    const auto exchanged = [g = ghosts[k], array = all[k].currency] { g->changes = array->changes(); };
    exchanged();
    if (current_capture() != 0) at_each_launch(exchanged);  // behind the effects of writes captured before
  }
}

std::shared_ptr<const ghost_rows> exchange_plan::ghosts_of(const void* store, std::uint64_t changes,
                                                           const std::string& name, source_line at) const {
  auto found = held().find(store);
  if (!found)
    throw invalid_argument("the ghosts of " + quoted_name(name, "sharded array") + in_line(at) +
                           " were never exchanged: call exchange_plan::exchange first");
  if (found->changes != changes && runtime::current().checks.has(check::halos)) [[unlikely]]
    throw invalid_argument("the ghosts of " + quoted_name(name, "sharded array") + in_line(at) +
                           " are out of date, because the array was written since the last exchange: call "
                           "exchange_plan::exchange first");
  return found;
}

}  // namespace ferry::inline FERRY_ABI
