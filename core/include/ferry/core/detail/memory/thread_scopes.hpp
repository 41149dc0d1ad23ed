// Settings of one thread's scopes for new arrays, for threads that work on its behalf.
#pragma once
#include <deque>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/memory_label.hpp"
#include "ferry/core/detail/support/thread_context.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/pool.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Copies pools, tag and device of the calling thread's scopes; valid after the scopes have ended. A workspace_scope is
// not included, because it serves one thread.
class thread_scopes {
  using named = pool_scope::scopes::node;

 public:
  thread_scopes() : tag_(this_thread_state.tag), device_(default_device()) {
    named* inner = nullptr;
    for (auto* n = pool_scope::scopes::innermost(); n; n = n->outer) {
      if (n->ended.load(std::memory_order_relaxed)) continue;
      named& copy =
          pools_.emplace_back(pool_scope::named{pool::named(n->value.what), n->value.device}, nullptr, nullptr);
      if (inner) inner->outer = &copy;
      inner = &copy;
    }
  }
  thread_scopes(const thread_scopes&) = delete;
  thread_scopes& operator=(const thread_scopes&) = delete;

  // Applies the settings to the calling thread, in place of its own scopes. Never throws: uses of a missing device
  // throw later.
  class use {
   public:
    explicit use(const thread_scopes& as) noexcept
        : pools_(pool_scope::scopes::exchange(as.pools_.empty() ? nullptr : &as.pools_.front())),
          tag_(std::exchange(this_thread_state.tag, as.tag_)),
          device_(as.device_, device_scope::unchecked{}) {}
    ~use() { pool_scope::scopes::exchange(pools_), this_thread_state.tag = tag_; }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

   private:
    named* pools_;
    memory_label tag_;
    device_scope device_;
  };

 private:
  mutable std::deque<named> pools_;  // innermost first; constant after construction
  memory_label tag_;
  device device_;
};

}  // namespace ferry::inline FERRY_ABI::detail
