// What the scopes of one thread say of new arrays, for threads that work on its behalf.
#pragma once
#include <utility>
#include <vector>

#include "ferry/core/device.hpp"
#include "ferry/core/memory_tag.hpp"
#include "ferry/core/pool.hpp"

namespace ferry {

// Pools, tag and device of the calling thread, also when its scopes have ended (the pools themselves must live); a
// workspace_scope is for one thread, and not among them.
class thread_scopes {
 public:
  thread_scopes() : tag_(this_thread_tag), device_(default_device()) {
    for (const auto* n = pool_scope::innermost_; n; n = n->outer) pools_.push_back({n->what, n->device, nullptr});
    for (std::size_t i = 0; i + 1 < pools_.size(); ++i) pools_[i].outer = &pools_[i + 1];
  }
  thread_scopes(const thread_scopes&) = delete;
  thread_scopes& operator=(const thread_scopes&) = delete;

  // As if the calling thread had made them, and no others. Throws nothing: a device that is not there matters to who asks for it.
  class use {
   public:
    explicit use(const thread_scopes& as) noexcept
        : pools_(std::exchange(pool_scope::innermost_, as.pools_.empty() ? nullptr : as.pools_.data())),
          tag_(std::exchange(this_thread_tag, as.tag_)),
          device_(as.device_, device_scope::unchecked{}) {}
    ~use() { pool_scope::innermost_ = pools_, this_thread_tag = tag_; }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

   private:
    const pool_scope::named* pools_;
    memory_label tag_;
    device_scope device_;
  };

 private:
  std::vector<pool_scope::named> pools_;  // the innermost first
  memory_label tag_;
  device device_;
};

}  // namespace ferry
