// Limits of the current runtime.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/memory_limits.hpp"
#include "ferry/core/runtime.hpp"
#include "memory/memory_environment.hpp"

namespace ferry::inline FERRY_ABI {

void detail::set_memory_limits(runtime& m, const std::vector<scoped_memory_limit>& limits) {
  std::vector<scoped_memory_limit> all;
  const auto join = [&](const memory_scope& scope, const memory_limit& l) {
    const auto same = [&](const scoped_memory_limit& other) { return other.scope == scope; };
    auto at = std::find_if(all.begin(), all.end(), same);
    if (at == all.end()) at = all.insert(at, {scope, {}});
    at->limit = l;
  };
  const auto is_for_each_device = [](const memory_scope& s) {
    return !s.on && s.tag.empty() && s.kind != memory_kind::host;
  };
  for (const auto& [scope, limit] : limits)
    if (is_for_each_device(scope))
      for (const device d : m.devices()) join({d, scope.kind, {}}, limit);
  for (const auto& [scope, limit] : limits)
    if (!is_for_each_device(scope)) join(scope, limit);
  m.memory().limit(all);
}

void set_memory_limit(const memory_scope& scope, const memory_limit& limit) {
  const scoped_memory_limit one{scope, limit};
  runtime::current().memory().limit({&one, 1});
}

void set_memory_limits(const std::vector<scoped_memory_limit>& limits) {
  detail::set_memory_limits(runtime::current(), limits);
}

}  // namespace ferry::inline FERRY_ABI
