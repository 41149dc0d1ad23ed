#include "ferry/core/detail/accounting/handler_chain.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace ferry::inline FERRY_ABI::detail {

std::uint64_t handler_chain::next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::uint64_t handler_chain::add(reclaim_handler r) {
  lock_guard lock(mutex_);
  const auto at = std::upper_bound(handlers_.begin(), handlers_.end(), r.order,
                                   [](int order, const numbered& n) { return order < n.what->order; });
  return handlers_.insert(at, {next_id(), std::make_shared<const reclaim_handler>(std::move(r))})->id;
}

void handler_chain::remove(std::uint64_t id) noexcept {
  lock_guard lock(mutex_);
  std::erase_if(handlers_, [&](const numbered& n) { return n.id == id; });
}

handler_chain::handlers handler_chain::all() const {
  lock_guard lock(mutex_);
  handlers found;
  for (const numbered& n : handlers_) found.push_back(n.what);
  return found;
}

out_of_memory_policy handler_chain::policy() const {
  lock_guard lock(mutex_);
  return policy_;
}

void handler_chain::set_policy(const out_of_memory_policy& p) {
  lock_guard lock(mutex_);
  policy_ = p;
}

}  // namespace ferry::inline FERRY_ABI::detail
