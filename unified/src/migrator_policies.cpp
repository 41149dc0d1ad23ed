// The migrator's policies of arrays: by name or set by hand, what the driver is told for them, and what it is to forget.
#include <algorithm>
#include <cstdlib>

#include "ferry/core/error.hpp"
#include "ferry/core/spin.hpp"
#include "migrator.hpp"
#include "places.hpp"
#include "program_name.hpp"

namespace ferry {
namespace {

// The advice that it belongs with: the same, or its undoing.
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

// Whether one changes what the other said of the bytes of both.
bool concern_the_same(memory_advice a, memory_location at, memory_advice b, memory_location by) {
  return kind_of(a) == kind_of(b) && (kind_of(a) != memory_advice::accessed_by || at == by);
}

void check_policy(machine& m, const array_policy& p) {
  check_options(p.over({}), "a policy");
  if (p.preferred) check_place(m, *p.preferred);
  for (const memory_location& where : p.accessed_by) check_place(m, where);
}

}  // namespace

void check_options(const migration_options& o, const std::string& whose) {
  const auto refuse = [&](const std::string& what, const std::string& way_out) {
    throw invalid_argument(whose + ": " + what + ": " + way_out);
  };
  for (const auto& [bytes, name] : {std::pair{o.page, "page"}, {o.piece, "piece"}})
    if (bytes == 0)
      refuse(std::string("a ") + name + " of 0 bytes", std::string("it must be above 0; migration_options{}.") + name +
                                                           " is what it is if nobody says");
  for (const auto& [count, name] :
       {std::pair{o.flips, "flips"}, {o.remote_reads, "remote_reads"}, {o.page_neighbours, "page_neighbours"}})
    if (count < 0)
      refuse(name + (" is " + std::to_string(count)), std::string("it must be 0 or more; migration_options{}.") + name +
                                                          " is what it is if nobody says");
}

// Without what was said for the range before, and now means nothing.
void migrator::advised(allocation& a, byte_range where, memory_advice what, memory_location place) {
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  mark_advised(r, where, what, place);
  const auto same = [&](const record::advice_given& g) { return concern_the_same(g.what, g.place, what, place); };
  std::erase_if(r.advice, [&](const auto& g) { return same(g) && where.covers(g.where); });
  if (kind_of(what) == what ||
      std::any_of(r.advice.begin(), r.advice.end(), [&](const auto& g) { return same(g) && where.overlaps(g.where); }))
    r.advice.push_back({where, what, place});
}

std::uint64_t migrator::begin_advice(allocation& a, byte_range where, memory_advice what, memory_location place) {
  const std::uint64_t number = scopes_.fetch_add(1) + 1;
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  mark_advised(r, where, what, place);
  r.advice.push_back({where, what, place, number});
  return number;
}

// Nothing is left to do if the program has spoken of the same bytes since.
void migrator::end_advice(allocation& a, std::uint64_t number) {
  std::vector<record::advice_given> again;
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    const auto ending = std::find_if(r.advice.begin(), r.advice.end(), [&](const auto& g) { return g.number == number; });
    if (ending == r.advice.end()) return;
    const record::advice_given over = *ending;
    r.advice.erase(ending);
    for (record::advice_given g : r.advice_that_holds()) {
      if (!concern_the_same(g.what, g.place, over.what, over.place) || !g.where.overlaps(over.where)) continue;
      g.where = {std::max(g.where.begin, over.where.begin), std::min(g.where.end, over.where.end)};
      again.push_back(g);
    }
    // What is said again of all the bytes need not be undone before, which would cost duplicates their pages.
    if (std::none_of(again.begin(), again.end(), [&](const auto& g) { return g.where.covers(over.where); }))
      again.insert(again.begin(), record::advice_given{over.where, undoing(over.what), over.place});
    for (const auto& g : again) mark_advised(r, g.where, g.what, g.place);
  }
  for (const auto& g : again) tell_driver(g.where, g.what, g.place);
}

std::vector<migrator::record::advice_given> migrator::record::advice_that_holds() const {
  std::vector<advice_given> all = advice;
  if (!policy) return all;
  if (policy->read_mostly) all.push_back({pages.all(), memory_advice::read_mostly, {}});
  if (policy->preferred) all.push_back({pages.all(), memory_advice::preferred_location, *policy->preferred});
  for (const memory_location& where : policy->accessed_by)
    all.push_back({pages.all(), memory_advice::accessed_by, where});
  return all;
}

void migrator::mark_advised(record& r, byte_range where, memory_advice what, memory_location place) {
  const std::uint64_t device = place.is_host() ? 0 : std::uint64_t{1} << (place.device & 63);
  r.pages.each(where, [&](page_run& g) {
    if (g.is_advised()) g.where = nobody_knows;  // the driver moved them as it saw fit
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

migration_options migrator::options_of(const record& r) const {
  return r.policy ? r.policy->over(options()) : options();
}

// The same access, of the whole array, by somebody who only looks: others are not disturbed by it.
coming_access migrator::ahead_of(const coming_access& a) {
  return {a.what, a.what.range(), a.place, access_mode::in, a.stream, host_reach::range, a.what.begin, a.at};
}

void migrator::set_policy(allocation& a, std::optional<array_policy> p) {
  if (p) check_policy(machine_, *p);
  bool own = p.has_value();
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    std::swap(r.policy, p);
    std::swap(r.has_own_policy, own);
    r.policies_asked = 0;
  }
  tell_driver_or_restore(a, std::move(p), own);
}

void migrator::tell_driver_or_restore(allocation& a, std::optional<array_policy> before, bool was_own) {
  try {
    tell_driver(a);
  } catch (const error&) {
    {
      record& r = record_of(a);
      std::lock_guard lock(r.lock, std::adopt_lock);
      r.policy = std::move(before);
      r.has_own_policy = was_own;
    }
    try {
      tell_driver(a);
    } catch (const error&) {  // the first one says why
    }
    throw;
  }
}

std::optional<array_policy> migrator::policy(allocation& a) {
  take_policy(a);
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  return r.policy;
}

std::optional<array_policy> migrator::own_policy(allocation& a) {
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  return r.has_own_policy ? r.policy : std::nullopt;
}

void migrator::take_policy(allocation& a) {
  const std::uint64_t given = policies_given_.load(std::memory_order_acquire);
  std::optional<array_policy> its;
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    if (r.policies_asked == given || r.has_own_policy || a.name.empty()) return;
    r.policies_asked = given;
    std::lock_guard mine(mutex_);
    const auto found = policies_.of.find(a.name.get());
    if (found != policies_.of.end()) {
      met_.insert(found->first);
      its = found->second;
    }
    if (r.policy == its) return;
    std::swap(r.policy, its);
  }
  tell_driver_or_restore(a, std::move(its), false);
}

// From the start: what is not to hold any more cannot be told apart from what the program said, too.
void migrator::tell_driver(allocation& a) {
  std::vector<record::advice_given> now;
  bool was_advised = false;
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    if (!r.is_managed || !machine_.migrates_unified()) return;
    now = r.advice_that_holds();
    r.pages.each(a.range(), [&](page_run& g) {
      was_advised = was_advised || g.is_advised() || g.mapped != 0;
      if (g.is_advised()) g.where = nobody_knows;
      g.duplicated = g.has_a_place = false, g.mapped = 0;
    });
    for (const auto& g : now) mark_advised(r, g.where, g.what, g.place);
  }
  if (was_advised || !now.empty()) {
    std::lock_guard lock(a.log);
    a.log.set_advised(true);  // the next owner of the bytes has it undone
  }
  if (was_advised) {
    tell_driver(a.range(), memory_advice::unset_read_mostly, {});
    tell_driver(a.range(), memory_advice::unset_preferred_location, {});
    tell_driver(a.range(), memory_advice::unset_accessed_by, {});
    for (const device d : machine_.devices()) tell_driver(a.range(), memory_advice::unset_accessed_by, {d.index()});
  }
  for (const auto& g : now) tell_driver(g.where, g.what, g.place);
}

void migrator::tell_driver(byte_range where, memory_advice what, memory_location place) {
  machine_.verbs().advise(const_cast<std::byte*>(where.begin), where.size(), what, place);
}

void migrator::use(const array_policies& p, const std::string& from) {
  const program_identity me = program_identity::now();
  if (p.program != me.name || p.version != me.version) {
    const auto who = [](const std::string& name, const std::string& version) {
      return "'" + name + "'" + (version.empty() ? "" : " version '" + version + "'");
    };
    throw invalid_argument(from + ": these policies were found for the program " + who(p.program, p.version) +
                           ", and this is " + who(me.name, me.version) +
                           ": run the tuner in this program, or say with ferry::name_program that they are the same");
  }
  for (const auto& [name, policy] : p.of) try {
      check_policy(machine_, policy);
    } catch (const invalid_argument& e) {
      throw invalid_argument(from + ": array '" + name + "', policy '" + policy.text() + "': " + e.what());
    }
  std::lock_guard lock(mutex_);
  policies_ = p;
  met_.clear();
  policies_given_.fetch_add(1, std::memory_order_release);
}

void migrator::use_environment() {
  const char* text = std::getenv("FERRY_TUNE");
  const std::string file = text ? text : "";
  if (!file.empty()) use(array_policies::load(file), "FERRY_TUNE=" + file);
}

std::vector<std::string> migrator::unmet() {
  std::vector<std::string> names;
  std::lock_guard lock(mutex_);
  for (const auto& [name, policy] : policies_.of)
    if (!met_.count(name)) names.push_back(name);
  return names;
}

page_ledger migrator::ledger(allocation& a) {
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  return r.pages;
}

// What the driver was told stays as it is now.
void migrator::set_ledger(allocation& a, const page_ledger& before) {
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  for (const page_run& b : before.runs())
    r.pages.each(b.range(), [&](page_run& g) {
      page_run to = b;
      to.begin = g.begin, to.end = g.end;
      to.mapped = g.mapped, to.duplicated = g.duplicated, to.has_a_place = g.has_a_place;
      g = to;
    });
}

void migrator::wait_for_arrival(allocation& a) {
  std::shared_ptr<arrival> coming;
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    coming = r.arriving;
  }
  if (coming) give_way_until([&] { return coming->is_over(); });
}

namespace detail {

void set_array_policy(const allocation_ref& owner, std::optional<array_policy> p) {
  if (owner) migrator::current().set_policy(owner.get(), std::move(p));
}

std::optional<array_policy> array_policy_of(const allocation_ref& owner) {
  if (!owner) return {};
  return migrator::current().policy(owner.get());
}

}  // namespace detail
}  // namespace ferry
