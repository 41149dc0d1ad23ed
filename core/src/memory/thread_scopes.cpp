#include "ferry/core/detail/memory/thread_scopes.hpp"

#include <atomic>
#include <utility>

namespace ferry::inline FERRY_ABI::detail {

thread_scopes::thread_scopes() : tag_(this_thread_state.tag), device_(default_device()) {
  named* inner = nullptr;
  for (auto* n = pool_scope::scopes::innermost(); n; n = n->outer) {
    if (n->ended.load(std::memory_order_relaxed)) continue;
    named& copy = pools_.emplace_back(pool_scope::named{pool::named(n->value.what), n->value.device}, nullptr, nullptr);
    if (inner) inner->outer = &copy;
    inner = &copy;
  }
}

thread_scopes::~thread_scopes() = default;

thread_scopes::use::use(const thread_scopes& as) noexcept
    : pools_(pool_scope::scopes::exchange(as.pools_.empty() ? nullptr : &as.pools_.front())),
      tag_(std::exchange(this_thread_state.tag, as.tag_)),
      device_(as.device_, device_scope::unchecked{}) {}

}  // namespace ferry::inline FERRY_ABI::detail
