#include "migration/migration_settings.hpp"

#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "migration/migration_thread_state.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

migration mode_of_environment() {
  const std::string value = environment("FERRY_MIGRATION").value_or("automatic");
  if (value == "automatic") return migration::automatic;
  if (value == "explicit") return migration::explicitly;
  refuse_variable("FERRY_MIGRATION", value, "automatic and explicit");
}

}  // namespace

void check_options(const migration_options& o, const std::string& whose) {
  const auto refuse = [&](const std::string& what, const std::string& way_out) {
    throw invalid_argument(whose + ": " + what + ": " + way_out);
  };
  for (const auto& [bytes, name] : {std::pair{o.page, "page"}, {o.piece, "piece"}})
    if (bytes == 0)
      refuse(concat("a ", name, " of 0 bytes"),
             concat("it must be above 0; migration_options{}.", name, " is the default"));
  for (const auto& [count, name] :
       {std::pair{o.flips, "flips"}, {o.remote_reads, "remote_reads"}, {o.page_neighbours, "page_neighbours"}})
    if (count < 0)
      refuse(concat(name, " is ", count),
             concat("it must be 0 or more; migration_options{}.", name, " is the default"));
}

migration_settings::migration_settings() : mode_(mode_of_environment()) {}

bool migration_settings::is_automatic(const array_record& r) const {
  const auto& scope = this_thread_migration().mode;
  if (!scope && !r.mode && r.policy) return r.policy->moves != array_policy::way::explicitly;
  return (scope ? *scope : r.mode ? *r.mode : mode_.load(std::memory_order_relaxed)) == migration::automatic;
}

void migration_settings::set_options(const migration_options& o) {
  check_options(o, "set_migration");
  lock_guard lock(mutex_);
  options_ = o;
  page_.store(o.page);
}

migration_options migration_settings::options() const {
  lock_guard lock(mutex_);
  return options_;
}

migration_options migration_settings::options_of(const array_record& r) const {
  return r.policy ? r.policy->over(options()) : options();
}

}  // namespace ferry::inline FERRY_ABI::detail
