// Advice to the driver, by the program and by policies, and its removal.
#include <algorithm>

#include "migration/migration_policy.hpp"

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

}  // namespace

// Records advice, and removes earlier records that it replaces completely.
void migration_policy::advised(allocation& a, byte_range where, memory_advice what, memory_location place) {
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  mark_advised(r, where, what, place);
  const auto same = [&](const record::advice_given& g) { return concern_the_same(g.what, g.place, what, place); };
  std::erase_if(r.advice, [&](const auto& g) { return same(g) && where.covers(g.where); });
  if (kind_of(what) == what ||
      std::any_of(r.advice.begin(), r.advice.end(), [&](const auto& g) { return same(g) && where.overlaps(g.where); }))
    r.advice.push_back({where, what, place});
}

std::uint64_t migration_policy::begin_advice(allocation& a, byte_range where, memory_advice what,
                                             memory_location place) {
  const std::uint64_t number = scopes_.fetch_add(1) + 1;
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  mark_advised(r, where, what, place);
  r.advice.push_back({where, what, place, number});
  return number;
}

// Has no effect if the program has advised about the same bytes meanwhile.
void migration_policy::end_advice(allocation& a, std::uint64_t number) {
  std::vector<record::advice_given> again;
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    const auto ending =
        std::find_if(r.advice.begin(), r.advice.end(), [&](const auto& g) { return g.number == number; });
    if (ending == r.advice.end()) return;
    const record::advice_given over = *ending;
    r.advice.erase(ending);
    for (record::advice_given g : r.advice_that_holds()) {
      if (!concern_the_same(g.what, g.place, over.what, over.place) || !g.where.overlaps(over.where)) continue;
      g.where = {std::max(g.where.begin, over.where.begin), std::min(g.where.end, over.where.end)};
      again.push_back(g);
    }
    // Advice that is repeated for all the bytes need not be removed first: that would cost duplicates their pages.
    if (std::none_of(again.begin(), again.end(), [&](const auto& g) { return g.where.covers(over.where); }))
      again.insert(again.begin(), record::advice_given{over.where, undoing(over.what), over.place});
    for (const auto& g : again) mark_advised(r, g.where, g.what, g.place);
  }
  for (const auto& g : again) tell_driver(g.where, g.what, g.place);
}

std::vector<migration_policy::record::advice_given> migration_policy::record::advice_that_holds() const {
  std::vector<advice_given> all = advice;
  if (!policy) return all;
  if (policy->read_mostly) all.push_back({pages.all(), memory_advice::read_mostly, {}});
  if (policy->preferred) all.push_back({pages.all(), memory_advice::preferred_location, *policy->preferred});
  for (const memory_location& where : policy->accessed_by)
    all.push_back({pages.all(), memory_advice::accessed_by, where});
  return all;
}

void migration_policy::mark_advised(record& r, byte_range where, memory_advice what, memory_location place) {
  const std::uint64_t device = place.is_host() ? 0 : std::uint64_t{1} << (place.device & 63);
  r.pages.each(where, [&](page_run& g) {
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

// Removes all advice and then advises again: advice of a policy cannot be distinguished from equal advice of the
// program.
void migration_policy::tell_driver(allocation& a) {
  std::vector<record::advice_given> now;
  bool was_advised = false;
  byte_range all;
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    if (!r.is_managed || !runtime_.migrates_unified()) return;
    all = r.pages.all();
    now = r.advice_that_holds();
    r.pages.each(all, [&](page_run& g) {
      was_advised = was_advised || g.is_advised() || g.mapped != 0;
      if (g.is_advised()) g.where = unknown_location;
      g.duplicated = g.has_a_place = false, g.mapped = 0;
    });
    for (const auto& g : now) mark_advised(r, g.where, g.what, g.place);
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

void migration_policy::tell_driver(byte_range where, memory_advice what, memory_location place) {
  runtime_.backend().advise(const_cast<std::byte*>(where.begin), where.size(), what, place);
}

}  // namespace ferry::inline FERRY_ABI::detail
