#include "ferry/core/memory_limits.hpp"

#include <algorithm>

#include "ferry/core/array_view.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"

namespace ferry {

std::string memory_scope::text() const {
  std::string s = kind          ? std::string(kind_name(*kind)) + " memory"
                  : tag.empty() ? "device and unified memory"
                                : "memory";
  if (on) s += " of device " + std::to_string(on->index());
  if (!tag.empty()) s += " under the tag '" + tag + "'";
  return s;
}

std::string limit_rule::text() const {
  std::string s = scope.text() + ":";
  if (soft != none) s += " soft " + soft_as;
  if (hard != none) s += (soft != none ? ", hard " : " hard ") + hard_as;
  return s;
}

void memory_limits::set(limit_rule rule) {
  std::lock_guard lock(mutex_);
  auto next = std::make_shared<rules>(*rules_);
  std::erase_if(*next, [&](const limit_rule& r) { return r.scope == rule.scope; });
  if (rule.soft != limit_rule::none || rule.hard != limit_rule::none) next->push_back(std::move(rule));
  any_ = !next->empty();
  any_on_tags_ = std::any_of(next->begin(), next->end(), [](const limit_rule& r) { return r.tag != 0; });
  rules_ = std::move(next);
}

std::shared_ptr<const memory_limits::rules> memory_limits::all() const {
  std::lock_guard lock(mutex_);
  return rules_;
}

void set_memory_limit(const memory_scope& scope, const memory_limit& limit) {
  machine::current().memory().limit(scope, limit);
}

memory_limit parse_memory_limit(std::string_view text) {
  memory_limit l;
  const auto refuse = [&](const std::string& why) {
    throw parse_error("'" + std::string(text) + "' is no memory limit: " + why +
                      ". Allowed are soft:AMOUNT, hard:AMOUNT, or both by a comma, as in soft:60%,hard:8GiB");
  };
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    memory_size* to = item.starts_with("soft:") ? &l.soft : item.starts_with("hard:") ? &l.hard : nullptr;
    if (!to) refuse("'" + std::string(item) + "' is neither soft: nor hard:");
    if (to->is_set()) refuse("'" + std::string(item.substr(0, 4)) + "' is given twice");
    try {
      *to = memory_size(item.substr(5));
    } catch (const parse_error& e) {
      refuse(e.what());
    }
    if (comma == rest.npos) return l;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace ferry
