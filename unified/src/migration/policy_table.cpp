#include "migration/policy_table.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "migration/migration_settings.hpp"
#include "migration/places.hpp"
#include "policies/program_name.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

void check_policy(runtime& m, const array_policy& p) {
  check_options(p.over({}), "a policy");
  if (p.preferred) check_place(m, *p.preferred);
  for (const memory_location& where : p.accessed_by) check_place(m, where);
}

}  // namespace

policy_table::policy_table(runtime& m, array_records& records, advice_table& advice)
    : runtime_(m),
      records_(records),
      advice_(advice) {
  with_variable("FERRY_TUNE",
                [this](const char* file) { use(array_policies::load(file), concat("FERRY_TUNE=", file)); });
}

void policy_table::set(allocation& a, std::optional<array_policy> p) {
  if (p) check_policy(runtime_, *p);
  bool own = p.has_value();
  {
    const locked_record r = records_.lock(a);
    std::swap(r->policy, p);
    std::swap(r->has_own_policy, own);
    r->policies_asked = 0;
  }
  tell_driver_or_restore(a, std::move(p), own);
}

void policy_table::tell_driver_or_restore(allocation& a, std::optional<array_policy> before, bool was_own) {
  try {
    advice_.tell_driver(a);
  } catch (const error&) {
    {
      const locked_record r = records_.lock(a);
      r->policy = std::move(before);
      r->has_own_policy = was_own;
    }
    try {
      advice_.tell_driver(a);
    } catch (const error&) {  // the first exception states the cause
    }
    throw;
  }
}

std::optional<array_policy> policy_table::of(allocation& a) {
  take(a);
  return records_.lock(a)->policy;
}

std::optional<array_policy> policy_table::own(allocation& a) const {
  const locked_record r = records_.lock(a);
  return r->has_own_policy ? r->policy : std::nullopt;
}

void policy_table::take(allocation& a) {
  const std::uint64_t given = times_given_.load(std::memory_order_acquire);
  std::optional<array_policy> its;
  {
    const locked_record r = records_.lock(a);
    const std::string& name = a.name.get();
    if (r->has_own_policy || (r->policies_asked == given && r->name_asked == name)) return;
    r->policies_asked = given;
    r->name_asked = name;
    lock_guard mine(mutex_);
    const auto found = by_name_.of.find(name);
    if (found != by_name_.of.end() && !name.empty()) {
      met_.insert(found->first);
      its = found->second;
    }
    if (r->policy == its) return;
    std::swap(r->policy, its);
  }
  tell_driver_or_restore(a, std::move(its), false);
}

void policy_table::use(const array_policies& p, const std::string& from) {
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
      check_policy(runtime_, policy);
    } catch (const invalid_argument& e) {
      throw invalid_argument(from + ": array '" + name + "', policy '" + policy.text() + "': " + plain_what(e));
    }
  lock_guard lock(mutex_);
  by_name_ = p;
  met_.clear();
  times_given_.fetch_add(1, std::memory_order_release);
}

std::vector<std::string> policy_table::unmet() {
  std::vector<std::string> names;
  lock_guard lock(mutex_);
  for (const auto& [name, policy] : by_name_.of)
    if (!met_.count(name)) names.push_back(name);
  return names;
}

}  // namespace ferry::inline FERRY_ABI::detail
