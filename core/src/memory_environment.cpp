#include "memory_environment.hpp"

#include <cstdlib>

#include "ferry/core/error.hpp"
#include "ferry/core/leaks.hpp"
#include "ferry/core/machine.hpp"
#include "ferry/core/memory_pressure.hpp"

namespace ferry {
namespace {

// Calls f with the variable's text; errors name the variable.
template <class Use>
void with_variable(const char* name, Use f) {
  const char* text = std::getenv(name);
  if (!text || !*text) return;
  try {
    f(text);
  } catch (const parse_error& e) {
    throw parse_error(std::string(name) + ": " + e.what());
  } catch (const invalid_argument& e) {
    throw invalid_argument(std::string(name) + ": " + e.what());
  }
}

}  // namespace

void configure_memory(machine& m) {
  with_variable("FERRY_MEMORY_LIMIT", [&](const char* text) { set_memory_limits(m, parse_memory_limits(text)); });
  with_variable("FERRY_LEAKS", [&](const char* text) { report_leaks_at_exit(m, parse_leak_mode(text)); });
  with_variable("FERRY_MEMORY_LOG", [&](const char* text) { log_allocations_until_exit(m, text); });
  with_variable("FERRY_OOM", [&](const char* text) { m.memory().set_policy(parse_out_of_memory_policy(text)); });
}

}  // namespace ferry
