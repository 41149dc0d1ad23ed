#include "ferry/multigpu/collective_group.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "teams/team_link.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

// Number of shares of `count` elements in a member's buffers: one, or one for each rank.
std::size_t shares_from(collective_kind k, std::size_t ranks) {
  using enum collective_kind;
  return k == reduce_scatter || k == all_to_all || k == scatter ? ranks : 1;
}
std::size_t shares_to(collective_kind k, std::size_t ranks) {
  using enum collective_kind;
  return k == all_gather || k == all_to_all || k == gather ? ranks : 1;
}

// True if a member's two buffers are placed as an operation in place requires.
bool is_in_place(const collective_call& c, std::size_t rank) {
  using enum collective_kind;
  switch (c.kind) {
    case all_reduce:
    case reduce:
    case broadcast: return c.from.data == c.to.data;
    case all_gather:
    case gather: return c.from.data == c.to.data + rank * c.bytes();
    case reduce_scatter:
    case scatter: return c.to.data == c.from.data + rank * c.bytes();
    default: return false;
  }
}

void need_separate_buffers(std::span<const collective_call> calls, std::span<const collective_call> before,
                           std::size_t first_rank) {
  // The range of an absent buffer is empty.
  const auto overlap = [](const collective_buffer& a, const collective_buffer& b) {
    return a.range().overlaps(b.range());
  };
  for (const collective_call& c : calls) {
    if (overlap(c.from, c.to) && !is_in_place(c, first_rank + c.member))
      throw invalid_argument(concat(name_of(c.kind), ": what member ", c.member, " gives of ",
                                    array_text(*c.from.owner), " and gets in ", array_text(*c.to.owner),
                                    " overlap: use separate arrays, or the form in place"));
    const auto check = [&](const collective_call& o) {
      if (&o != &c && (overlap(c.to, o.to) || overlap(c.to, o.from)))
        throw invalid_argument(concat(name_of(c.kind), ": what member ", c.member, " gets in ", array_text(*c.to.owner),
                                      " overlaps an array of member ", o.member, " in ", name_of(o.kind),
                                      " of the same submission: use an array for each, or submit one after the other"));
    };
    for (const collective_call& o : calls) check(o);
    for (const collective_call& o : before) check(o);
    for (const collective_call& o : before)
      if (overlap(o.to, c.from))
        throw invalid_argument(concat(name_of(c.kind), " reads what ", name_of(o.kind), " of the same group writes to ",
                                      array_text(*o.to.owner), ": submit one after the other"));
  }
}

}  // namespace

collective_group::collective_group(const team& t) : link_(t.link()), layout_(link_.layout) {}

std::size_t collective_group::local_size() const { return layout_.members.size(); }

std::size_t collective_group::place_of(std::size_t rank) const {
  const rank_layout& l = layout_;
  return l.is_local(rank) ? rank - l.first : std::size_t(-1);
}

detail::collective_arguments collective_group::of_root(std::size_t root, const collective_arguments& all) const {
  collective_arguments one;
  if (const std::size_t place = place_of(root); place < all.size()) one.push_back(all[place]);
  return one;
}

detail::collective_arguments collective_group::own_shares(detail::collective_arguments all,
                                                          std::size_t element_bytes) const {
  const rank_layout& l = layout_;
  std::size_t rank = l.first;
  for (collective_argument& a : all.get()) {
    if (a.count % l.ranks != 0)
      throw invalid_argument(concat(*a.owner ? array_text(a.owner->get()) : "an empty array", ": its ", a.count,
                                    " elements cannot be divided evenly among ", l.ranks,
                                    " ranks: make its length a multiple"));
    a.count /= l.ranks;
    a.data += rank++ * a.count * element_bytes;
  }
  return all;
}

collective_buffer collective_group::checked(const what& w, const detail::collective_argument& a, const of_type& t,
                                            std::size_t member, std::size_t count) const {
  const auto who = [&] {
    return concat(name_of(w.kind), ": ", *a.owner ? array_text(a.owner->get()) : "the empty array", " of member ",
                  member);
  };
  if (a.count != count)
    throw invalid_argument(concat(who(), " has ", a.count, " elements, and ", count, " are needed"));
  if (!*a.owner) return {};
  allocation& of = a.owner->get();
  if (!a.contiguous)
    throw invalid_argument(who() + " is strided, and collectives move contiguous elements: give view.clone()");
  if (const int here = layout_.members[member].index(); of.kind == memory_kind::device && of.device != here)
    throw invalid_argument(concat(who(), " lies on device ", of.device, ", and the member is device ", here,
                                  ": give one array for each member, in the team's order"));
  return {&of, a.data, count * t.element_bytes};
}

collective_group& collective_group::add(what w, of_type t, const detail::collective_arguments& read,
                                        const collective_arguments& written) {
  const std::span<const collective_argument> from = read.get(), to = written.get();
  const rank_layout& l = layout_;
  const std::size_t members = l.members.size();
  const char* const name = name_of(w.kind);
  using enum collective_kind;
  const bool from_root = w.kind == broadcast || w.kind == scatter, to_root = w.kind == reduce || w.kind == gather;
  if ((from_root || to_root) && w.root >= l.ranks)
    throw invalid_argument(concat(name, ": the root is rank ", w.root, " of a team of ", l.ranks));
  const auto need = [&](std::size_t given, bool only_root) {
    if (given != members && !(only_root && given == (l.is_local(w.root) ? 1u : 0u)))
      throw invalid_argument(
          concat(name, ": ", given, " arrays for ", members, " members: give one for each, in the team's order"));
  };
  need(from.size(), from_root);
  need(to.size(), to_root);
  // The side with one share for each member determines the length of a share.
  const bool whole_from = shares_from(w.kind, 2) == 2;
  const auto& told = whole_from && w.kind != all_to_all ? to : from.empty() ? to : from;
  std::size_t count = told.empty() ? 0 : told.front().count;
  if (w.kind == all_to_all) {
    if (count % l.ranks != 0)
      throw invalid_argument(concat(name, ": ", count, " elements cannot be divided evenly among ", l.ranks,
                                    " ranks: make the length a multiple"));
    count /= l.ranks;
  }
  const std::size_t before = calls_.size(), kept = keep_.size();
  try {
    for (std::size_t m = 0; m < members; ++m) {
      const bool is_root = l.first + m == w.root;
      collective_call& c = calls_.add();
      c.kind = w.kind, c.type = t.type, c.op = t.op;
      c.member = m, c.other = w.root;
      c.count = count, c.element_bytes = t.element_bytes;
      if (!from_root || is_root)
        c.from = checked(w, from_root ? from.front() : from[m], t, m, count * shares_from(w.kind, l.ranks));
      if (!to_root || is_root)
        c.to = checked(w, to_root ? to.front() : to[m], t, m, count * shares_to(w.kind, l.ranks));
    }
    const std::span<const collective_call> all = calls_.get();
    need_separate_buffers(all.subspan(before), all.first(before), l.first);
    if (keeps_)
      for (const auto* side : {&from, &to})
        for (const collective_argument& a : *side) keep_.push_back(*a.owner);
  } catch (...) {
    calls_.keep_first(before);
    keep_.resize(kept);
    throw;
  }
  return *this;
}

collective_group& collective_group::exchange(collective_kind kind, of_type t, const detail::collective_argument& v,
                                             std::size_t member, std::size_t other) {
  const rank_layout& l = layout_;
  if (other >= l.ranks || member >= l.ranks)
    throw invalid_argument(concat(name_of(kind), ": rank ", std::max(other, member), " of a team of ", l.ranks));
  if (!l.is_local(member))
    throw invalid_argument(
        concat(name_of(kind), ": rank ", member, " is a member of another process, which makes this call itself"));
  if (other == member)
    throw invalid_argument(concat(name_of(kind), ": member ", member, " and itself: use ferry::copy within a device"));
  collective_call c{kind, t.type, t.op, member - l.first, other, v.count, t.element_bytes, {}, {}};
  (kind == collective_kind::send ? c.from : c.to) = checked({kind, 0}, v, t, c.member, v.count);
  need_separate_buffers({&c, 1}, calls_.get(), l.first);
  calls_.push_back(c);
  try {
    if (keeps_) keep_.push_back(*v.owner);
  } catch (...) {
    calls_.keep_first(calls_.size() - 1);
    throw;
  }
  return *this;
}

namespace {

// Sends and receives between members of this process must match within the group: no other process submits the other
// half.
void need_pairs(std::span<const collective_call> calls, const rank_layout& l) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<const collective_call*>> sends, receives;
  for (const collective_call& c : calls) {
    if (!is_exchange(c.kind)) continue;
    if (!l.is_local(c.other)) continue;
    const std::size_t here = l.first + c.member;
    if (c.kind == collective_kind::send)
      sends[{here, c.other}].push_back(&c);
    else
      receives[{c.other, here}].push_back(&c);
  }
  for (const auto* side : {&sends, &receives})
    for (const auto& [pair, ours] : *side) {
      const auto& s = sends[pair];
      const auto& r = receives[pair];
      const std::string who = concat("from rank ", pair.first, " to rank ", pair.second);
      if (s.size() != r.size())
        throw invalid_argument(
            concat(s.size(), " sends and ", r.size(), " receives ", who, " in one group: each send needs its receive"));
      for (std::size_t i = 0; i < s.size(); ++i)
        if (s[i]->count != r[i]->count || s[i]->type != r[i]->type || s[i]->element_bytes != r[i]->element_bytes)
          throw invalid_argument(concat("send and receive ", who, " differ: ", s[i]->count, " elements of type ",
                                        name_of(s[i]->type), " (", s[i]->element_bytes, " bytes) are sent, ",
                                        r[i]->count, " of type ", name_of(r[i]->type), " (", r[i]->element_bytes,
                                        " bytes) are received"));
    }
}

}  // namespace

void collective_group::submit() {
  const std::span<const collective_call> calls = std::as_const(calls_).get();
  if (std::any_of(calls.begin(), calls.end(), [](const collective_call& c) { return is_exchange(c.kind); }))
    need_pairs(calls, layout_);
  for (const allocation_ref& r : keep_) (void)r.get();  // throws if it was freed after it was added
  if (!calls.empty()) link_.transport().submit(calls, link_.streams);
  calls_.keep_first(0);
  keep_.clear();
}

}  // namespace ferry::inline FERRY_ABI
