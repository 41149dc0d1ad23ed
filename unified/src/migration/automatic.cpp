// The program's settings: modes, options, and policies of arrays.
#include "ferry/unified/automatic.hpp"

#include <memory>
#include <utility>

#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/unified/array_policy.hpp"
#include "ferry/unified/policy_file.hpp"
#include "migration/migration_policy.hpp"
#include "migration/migration_thread_state.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

migration_scope::migration_scope(migration how) : before_(std::exchange(this_thread_migration().mode, how)) {}
migration_scope::~migration_scope() { this_thread_migration().mode = before_; }

void set_migration(migration how) { migration_policy::current().settings().set_mode(how); }
void set_migration(const migration_options& options) { migration_policy::current().settings().set_options(options); }
migration_options get_migration_options() { return migration_policy::current().settings().options(); }

void use_policies(const array_policies& p) { migration_policy::current().policies().use(p, "use_policies"); }
std::vector<std::string> unmet_policies() { return migration_policy::current().policies().unmet(); }

namespace detail {

void set_array_migration(const allocation_ref& owner, migration how) {
  if (!owner) return;
  need_current(owner.get());
  migration_policy::current().records().lock(owner.get())->mode = how;
}

void set_array_policy(const allocation_ref& owner, std::optional<array_policy> p) {
  if (!owner) return;
  need_current(owner.get());
  migration_policy& known = migration_policy::current();
  if (p && runtime::current().migrates_unified()) known.need_managed(owner.get(), "set_policy");
  known.policies().set(owner.get(), std::move(p));
}

std::optional<array_policy> array_policy_of(const allocation_ref& owner) {
  if (!owner) return {};
  need_current(owner.get());
  return migration_policy::current().policies().of(owner.get());
}

void install_migration() {
  access_policy::exchange_maker(
      [](runtime& m) -> std::unique_ptr<access_policy> { return std::make_unique<migration_policy>(m); });
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
