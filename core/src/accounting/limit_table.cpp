#include "ferry/core/detail/accounting/limit_table.hpp"

#include <algorithm>
#include <utility>

namespace ferry::inline FERRY_ABI::detail {

std::string limit_rule::text() const {
  std::string s = scope.text() + ":";
  if (soft != none) s += " soft " + soft_as;
  if (hard != none) s += (soft != none ? ", hard " : " hard ") + hard_as;
  return s;
}

std::string limit_rule::left_text(std::size_t used) const {
  return "the hard limit of " + hard_as + " on " + scope.text() + " leaves " +
         bytes_text(hard > used ? hard - used : 0);
}

void limit_table::set(rules changed) {
  lock_guard lock(mutex_);
  auto next = std::make_shared<rules>(*rules_);
  for (limit_rule& rule : changed) {
    std::erase_if(*next, [&](const limit_rule& r) { return r.scope == rule.scope; });
    if (rule.soft != limit_rule::none || rule.hard != limit_rule::none) next->push_back(std::move(rule));
  }
  hold(std::move(next));
}

void limit_table::restore(std::shared_ptr<const rules> before) {
  lock_guard lock(mutex_);
  hold(std::move(before));
}

void limit_table::hold(std::shared_ptr<const rules> all) {
  any_ = !all->empty();
  any_on_tags_ = std::any_of(all->begin(), all->end(), [](const limit_rule& r) { return r.tag != 0; });
  rules_ = std::move(all);
}

std::shared_ptr<const limit_table::rules> limit_table::all() const {
  lock_guard lock(mutex_);
  return rules_;
}

}  // namespace ferry::inline FERRY_ABI::detail
