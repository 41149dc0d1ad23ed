// The migrator's policies of arrays: by name or set by hand, what the driver is told for them, and what it is to forget.
#include <algorithm>
#include <cstdlib>

#include "ferry/core/error.hpp"
#include "ferry/core/spin.hpp"
#include "migrator.hpp"
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

void check_places(machine& m, const array_policy& p) {
  if (p.preferred && !p.preferred->is_host()) (void)m.properties(p.preferred->device);
  for (const memory_location& where : p.accessed_by)
    if (!where.is_host()) (void)m.properties(where.device);
}

}  // namespace

// Without what was said for the range before, and now means nothing.
void migrator::advised(allocation& a, byte_range where, memory_advice what, memory_location place) {
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  mark_advised(r, where, what, place);
  const memory_advice kind = kind_of(what);
  const auto same = [&](const record::advice_given& g) {
    return kind_of(g.what) == kind && (kind != memory_advice::accessed_by || g.place == place);
  };
  std::erase_if(r.advice, [&](const auto& g) { return same(g) && where.covers(g.where); });
  if (kind == what ||
      std::any_of(r.advice.begin(), r.advice.end(), [&](const auto& g) { return same(g) && where.overlaps(g.where); }))
    r.advice.push_back({where, what, place});
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
  if (p) check_places(machine_, *p);
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    r.has_own_policy = p.has_value();
    r.policies_asked = 0;
    r.policy = std::move(p);
  }
  tell_driver(a);
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
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    if (r.policies_asked == given || r.has_own_policy || a.name.empty()) return;
    r.policies_asked = given;
    std::lock_guard mine(mutex_);
    const auto found = policies_.of.find(a.name.get());
    if (found == policies_.of.end()) {
      if (!r.policy) return;
      r.policy.reset();
    } else {
      met_.insert(found->first);
      if (r.policy == found->second) return;
      r.policy = found->second;
    }
  }
  tell_driver(a);
}

// From the start: what is not to hold any more cannot be told apart from what the program said, too.
void migrator::tell_driver(allocation& a) {
  std::vector<record::advice_given> now;
  bool was_advised = false;
  {
    record& r = record_of(a);
    std::lock_guard lock(r.lock, std::adopt_lock);
    if (!r.is_managed || !machine_.migrates_unified()) return;
    now = r.advice;
    if (r.policy) {
      if (r.policy->read_mostly) now.push_back({a.range(), memory_advice::read_mostly, {}});
      if (r.policy->preferred) now.push_back({a.range(), memory_advice::preferred_location, *r.policy->preferred});
      for (const memory_location& where : r.policy->accessed_by)
        now.push_back({a.range(), memory_advice::accessed_by, where});
    }
    r.pages.each(a.range(), [&](page_run& g) {
      was_advised = was_advised || g.is_advised() || g.mapped != 0;
      if (g.is_advised()) g.where = nobody_knows;
      g.duplicated = g.has_a_place = false, g.mapped = 0;
    });
    for (const auto& g : now) mark_advised(r, g.where, g.what, g.place);
  }
  const auto tell = [&](byte_range where, memory_advice what, memory_location place) {
    machine_.verbs().advise(const_cast<std::byte*>(where.begin), where.size(), what, place);
  };
  if (was_advised || !now.empty()) {
    std::lock_guard lock(a.log);
    a.log.set_advised(true);  // the next owner of the bytes has it undone
  }
  if (was_advised) {
    tell(a.range(), memory_advice::unset_read_mostly, {});
    tell(a.range(), memory_advice::unset_preferred_location, {});
    tell(a.range(), memory_advice::unset_accessed_by, {});
    for (const device d : machine_.devices()) tell(a.range(), memory_advice::unset_accessed_by, {d.index()});
  }
  for (const auto& g : now) tell(g.where, g.what, g.place);
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
      check_places(machine_, policy);
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
  if (!owner) return;
  migrator& known = migrator::current();
  if (p && machine::current().migrates_unified()) known.need_managed(owner.get(), "set_policy");
  known.set_policy(owner.get(), std::move(p));
}

std::optional<array_policy> array_policy_of(const allocation_ref& owner) {
  if (!owner) return {};
  return migrator::current().policy(owner.get());
}

}  // namespace detail
}  // namespace ferry
