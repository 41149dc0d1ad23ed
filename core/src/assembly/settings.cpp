#include "ferry/core/detail/assembly/settings.hpp"

#include <algorithm>
#include <vector>

#include "ferry/core/checks.hpp"
#include "ferry/core/detail/backend/sim_options.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/leaks.hpp"
#include "ferry/core/memory_checks.hpp"
#include "ferry/core/memory_limits.hpp"
#include "ferry/core/memory_pressure.hpp"
#include "ferry/core/pool_options.hpp"
#include "ferry/core/route.hpp"
#include "jit/jit_settings.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

struct settings_checks {
  detail::mutex mutex;
  std::vector<settings_check> all FERRY_GUARDED_BY(mutex);
};
settings_checks& checks() {
  static auto* added = new settings_checks;  // modules add theirs before main
  return *added;
}

void check_own_settings() {
  (void)environment_index("FERRY_BACKEND", {"cuda", "cpu", "sim"});
  (void)check_level_of_environment();
  with_variable("FERRY_SIM", [](const char* text) { (void)sim::parse_options(text); });
  with_variable("FERRY_CPU", [](const char* text) { (void)sim::parse_cpu_options(text, system_memory_bytes()); });
  with_variable("FERRY_POOL", [](const char* text) { (void)parse_pool_kind(text); });
  with_variable("FERRY_POISON", [](const char* text) { (void)parse_memory_checks(text); });
  with_variable("FERRY_MEMORY_LIMIT", [](const char* text) { (void)parse_memory_limits(text); });
  with_variable("FERRY_LEAKS", [](const char* text) { (void)parse_leak_mode(text); });
  with_variable("FERRY_OOM", [](const char* text) { (void)parse_out_of_memory_policy(text); });
  (void)peer_policy::from_environment();
  (void)copy_options::from_environment();
  (void)jit::jit_settings::from_environment();
  (void)environment_index("FERRY_MATH", {"exact", "fast"});
}

}  // namespace

void add_settings_check(settings_check check) {
  lock_guard lock(checks().mutex);
  auto& all = checks().all;
  if (std::find(all.begin(), all.end(), check) == all.end()) all.push_back(check);
}

void check_settings() {
  check_own_settings();
  std::vector<settings_check> all;
  {
    lock_guard lock(checks().mutex);
    all = checks().all;
  }
  for (const settings_check check : all) check();
}

}  // namespace ferry::inline FERRY_ABI::detail
