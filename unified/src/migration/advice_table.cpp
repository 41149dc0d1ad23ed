#include "migration/advice_table.hpp"

#include <algorithm>

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns the kind of an advice: itself, or the advice that it removes.
memory_advice kind_of(memory_advice a) {
  switch (a) {
    case memory_advice::unset_read_mostly: return memory_advice::read_mostly;
    case memory_advice::unset_preferred_location: return memory_advice::preferred_location;
    case memory_advice::unset_accessed_by: return memory_advice::accessed_by;
    default: return a;
  }
}

memory_advice undoing(memory_advice a) {
  switch (a) {
    case memory_advice::read_mostly: return memory_advice::unset_read_mostly;
    case memory_advice::preferred_location: return memory_advice::unset_preferred_location;
    case memory_advice::accessed_by: return memory_advice::unset_accessed_by;
    default: return a;
  }
}

// True if one advice replaces the other for the bytes of both.
bool concern_the_same(memory_advice a, memory_location at, memory_advice b, memory_location by) {
  return kind_of(a) == kind_of(b) && (kind_of(a) != memory_advice::accessed_by || at == by);
}

// Returns all valid advice in the order for the driver: that of the policy after that of the program.
std::vector<advice_given> advice_that_holds(const array_record& r) {
  std::vector<advice_given> all = r.advice;
  if (!r.policy) return all;
  const array_policy& p = *r.policy;
  if (p.read_mostly) all.push_back({r.pages.all(), memory_advice::read_mostly, {}});
  if (p.preferred) all.push_back({r.pages.all(), memory_advice::preferred_location, *p.preferred});
  for (const memory_location& where : p.accessed_by) all.push_back({r.pages.all(), memory_advice::accessed_by, where});
  return all;
}

void mark_advised(page_map& pages, byte_range where, memory_advice what, memory_location place) {
  const std::uint64_t device = place.is_host() ? 0 : std::uint64_t{1} << (place.device & 63);
  pages.each(where, [&](page_run& g) {
    if (g.is_advised()) g.where = unknown_location;  // the driver may have moved them
    switch (what) {
      case memory_advice::read_mostly: g.duplicated = true; break;
      case memory_advice::unset_read_mostly: g.duplicated = false; break;
      case memory_advice::preferred_location: g.has_a_place = true; break;
      case memory_advice::unset_preferred_location: g.has_a_place = false; break;
      case memory_advice::accessed_by: g.mapped |= device; break;
      case memory_advice::unset_accessed_by: g.mapped &= ~device; break;
    }
  });
}

}  // namespace

void advice_table::add(allocation& a, byte_range where, memory_advice what, memory_location place) {
  const locked_record r = records_.lock(a);
  mark_advised(r->pages, where, what, place);
  const auto same = [&](const advice_given& g) { return concern_the_same(g.what, g.place, what, place); };
  std::erase_if(r->advice, [&](const auto& g) { return same(g) && where.covers(g.where); });
  if (kind_of(what) == what || std::any_of(r->advice.begin(), r->advice.end(),
                                           [&](const auto& g) { return same(g) && where.overlaps(g.where); }))
    r->advice.push_back({where, what, place});
}

std::uint64_t advice_table::begin(allocation& a, byte_range where, memory_advice what, memory_location place) {
  const std::uint64_t number = latest_.fetch_add(1) + 1;
  const locked_record r = records_.lock(a);
  mark_advised(r->pages, where, what, place);
  r->advice.push_back({where, what, place, number});
  return number;
}

void advice_table::end(allocation& a, std::uint64_t number) {
  std::vector<advice_given> again;
  {
    const locked_record r = records_.lock(a);
    const auto ending =
        std::find_if(r->advice.begin(), r->advice.end(), [&](const auto& g) { return g.number == number; });
    if (ending == r->advice.end()) return;
    const advice_given over = *ending;
    r->advice.erase(ending);
    for (advice_given g : advice_that_holds(*r)) {
      if (!concern_the_same(g.what, g.place, over.what, over.place) || !g.where.overlaps(over.where)) continue;
      g.where = {std::max(g.where.begin, over.where.begin), std::min(g.where.end, over.where.end)};
      again.push_back(g);
    }
    // Advice that is repeated for all the bytes need not be removed first: that would cost duplicates their pages.
    if (std::none_of(again.begin(), again.end(), [&](const auto& g) { return g.where.covers(over.where); }))
      again.insert(again.begin(), advice_given{over.where, undoing(over.what), over.place});
    for (const auto& g : again) mark_advised(r->pages, g.where, g.what, g.place);
  }
  for (const auto& g : again) tell_driver(g.where, g.what, g.place);
}

// Removes all advice and then advises again: advice of a policy cannot be distinguished from equal advice of the
// program.
void advice_table::tell_driver(allocation& a) {
  std::vector<advice_given> now;
  bool was_advised = false;
  byte_range all;
  {
    const locked_record r = records_.lock(a);
    if (!r->is_managed || !runtime_.migrates_unified()) return;
    all = r->pages.all();
    now = advice_that_holds(*r);
    r->pages.each(all, [&](page_run& g) {
      was_advised = was_advised || g.is_advised() || g.mapped != 0;
      if (g.is_advised()) g.where = unknown_location;
      g.duplicated = g.has_a_place = false, g.mapped = 0;
    });
    for (const auto& g : now) mark_advised(r->pages, g.where, g.what, g.place);
  }
  if (was_advised || !now.empty()) {
    std::lock_guard lock(a.history);
    a.history.set_advised(true);  // undone for the next owner of the bytes
  }
  if (was_advised) {
    tell_driver(all, memory_advice::unset_read_mostly, {});
    tell_driver(all, memory_advice::unset_preferred_location, {});
    tell_driver(all, memory_advice::unset_accessed_by, {});
    for (const device d : runtime_.devices()) tell_driver(all, memory_advice::unset_accessed_by, {d.index()});
  }
  for (const auto& g : now) tell_driver(g.where, g.what, g.place);
}

void advice_table::tell_driver(byte_range where, memory_advice what, memory_location place) {
  runtime_.backend().advise(const_cast<std::byte*>(where.begin), where.size(), what, place);
}

}  // namespace ferry::inline FERRY_ABI::detail
