// The runtime of a process, as environment variables configure it.
#include "memory/memory_environment.hpp"

#include "assembly/backend_choice.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/leaks.hpp"
#include "ferry/core/memory_pressure.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI::detail {
void configure_memory(runtime& m) {
  with_variable("FERRY_MEMORY_LIMIT", [&](const char* text) { set_memory_limits(m, parse_memory_limits(text)); });
  with_variable("FERRY_LEAKS", [&](const char* text) { report_leaks_at_exit(m, parse_leak_mode(text)); });
  with_variable("FERRY_MEMORY_LOG", [&](const char* text) { log_allocations_until_exit(m, text); });
  with_variable("FERRY_OOM",
                [&](const char* text) { m.memory().handlers().set_policy(parse_out_of_memory_policy(text)); });
}

std::shared_ptr<runtime> runtime_registry::make_chosen() {
  auto chosen = std::make_shared<runtime>(choose_backend());
  configure_memory(*chosen);
  return chosen;
}

}  // namespace ferry::inline FERRY_ABI::detail
