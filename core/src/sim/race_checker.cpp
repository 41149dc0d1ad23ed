#include "race_checker.hpp"

#include <algorithm>

#include "address_space.hpp"
#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

// Returns the operation's use that contains a byte, or null.
const kernel_use* use_of(const race_checker::actor& a, std::uintptr_t byte) {
  for (const kernel_use& u : a.what->uses)
    if (byte - reinterpret_cast<std::uintptr_t>(u.begin) < u.bytes) return &u;
  return nullptr;
}

// Includes the source line of the access, if it is known for these bytes.
std::string text_of(const race_checker::actor& a, std::uintptr_t begin) {
  std::string text = a.device < 0 ? "the CPU's " + a.what->verb : a.what->verb;
  if (!a.what->name.empty()) text += " '" + a.what->name + "'";
  if (const kernel_use* u = use_of(a, begin); u && u->at.is_known()) text += " of " + u->at.text();
  return a.device < 0 ? text : concat(text, " on stream ", a.stream, " (device ", a.device, ")");
}

std::string text_of(const race_checker::actor& now, bool writes, const race_checker::actor& before, bool wrote,
                    std::uintptr_t begin, std::uintptr_t end) {
  std::string name;
  for (const race_checker::actor* a : {&before, &now})
    if (const kernel_use* u = use_of(*a, begin); u && *u->array.text())
      name = concat(" of array '", u->array.text(), "'");
  return "race: " + text_of(now, begin) + (writes ? " writes " : " reads ") + readable_bytes(end - begin) + name +
         " at " + readable_address(reinterpret_cast<const void*>(begin)) + " that " + text_of(before, begin) +
         (wrote ? " writes" : " reads") + ", and nothing orders the one behind the other: " +
         (before.device < 0 || now.device < 0
              ? "let the CPU wait for the stream, or give both to ferry as operations on the array"
              : "let a stream wait for an event of the other, or give both to ferry as operations on the array");
}

}  // namespace

void vector_clock::join(const vector_clock& other) {
  if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size());
  for (std::size_t i = 0; i < other.ticks_.size(); ++i) ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
}

clock_line::~clock_line() { of.closed_.push_back({index, tick}); }

// A clock that covers a later tick of a reused line also covers all earlier work on it. So a line is reused only after
// the CPU has observed completion of its work.
std::shared_ptr<clock_line> race_checker::open() {
  const auto over =
      std::find_if(closed_.begin(), closed_.end(), [&](const closed_line& c) { return cpu.knows(c.index, c.tick); });
  if (over == closed_.end()) return std::make_shared<clock_line>(*this, lines_++, 0);
  const closed_line again = *over;
  closed_.erase(over);
  return std::make_shared<clock_line>(*this, again.index, again.tick);
}

// Splits the cell that contains `at` in its interior.
void race_checker::cut(std::uintptr_t at) {
  auto after = cells_.upper_bound(at);
  if (after == cells_.begin()) return;
  const auto found = std::prev(after);
  if (found->first == at || found->second.end <= at) return;
  cells_.emplace_hint(after, at, found->second);
  found->second.end = at;
}

void race_checker::forget(const void* p, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  cut(begin), cut(begin + bytes);
  cells_.erase(cells_.lower_bound(begin), cells_.lower_bound(begin + bytes));
}

race_checker::finding race_checker::touch(const actor& who, const vector_clock& known) {
  finding wrong;
  for (const kernel_use& u : who.what->uses) {
    if (u.bytes == 0) continue;
    if (who.what->begins_life) forget(u.begin, u.bytes);
    if (!u.reads && !u.writes) continue;  // the use only defines a base address
    if (finding found = use(who, known, u); wrong.text.empty()) wrong = std::move(found);
  }
  return wrong;
}

// Uses a new tick, which work enqueued earlier does not cover: such work races with the access if it runs later.
race_checker::finding race_checker::touch_from_cpu(const std::shared_ptr<const footprint>& what) {
  cpu.set(cpu_line, ++cpu_tick_);
  return touch({cpu_line, cpu_tick_, what, 0, -1}, cpu);
}

race_checker::finding race_checker::in_use(const actor& by, bool writes, std::uintptr_t begin, std::uintptr_t end) {
  return {"race: the CPU releases " + readable_bytes(end - begin) + " at " +
              readable_address(reinterpret_cast<const void*>(begin)) + " that " + text_of(by, begin) +
              (writes ? " writes" : " reads") +
              ", and has not observed its completion: wait for the stream, or for an event behind the work, before the "
              "release",
          by.device};
}

race_checker::finding race_checker::use(const actor& who, const vector_clock& known, const kernel_use& u) {
  const auto begin = reinterpret_cast<std::uintptr_t>(u.begin), end = begin + u.bytes;
  cut(begin), cut(end);
  const auto is_open = [&](const actor& a) { return !known.knows(a.line, a.tick); };
  finding wrong;
  for (auto at = begin; at < end;) {
    auto c = cells_.lower_bound(at);
    if (c == cells_.end() || c->first != at)  // bytes without earlier accesses
      c = cells_.emplace_hint(c, at, cell{c == cells_.end() ? end : std::min(end, c->first)});
    cell& here = c->second;
    const auto report = [&](const actor& before, bool wrote) {
      if (wrong.text.empty()) wrong = {text_of(who, u.writes, before, wrote, at, here.end), before.device};
    };
    if (here.write && is_open(*here.write)) report(*here.write, true);
    if (u.writes) {
      for (const actor& r : here.reads)
        if (is_open(r)) report(r, false);
      here.write = who;
      here.reads.clear();
    } else {
      std::erase_if(here.reads,
                    // accesses ordered behind this one are behind those, too
                    [&](const actor& r) { return !is_open(r); });
      here.reads.push_back(who);
    }
    at = here.end;
  }
  return wrong;
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
