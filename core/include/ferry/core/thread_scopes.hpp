// What the scopes of one thread say of new arrays, for threads that work on its behalf.
#pragma once
#include <utility>

#include "ferry/core/device.hpp"
#include "ferry/core/memory_tag.hpp"
#include "ferry/core/pool.hpp"

namespace ferry {

// Pools, tag and device of the calling thread; a workspace_scope is for one thread, and not among them. The scopes must live
// for as long as it is used.
class thread_scopes {
 public:
  thread_scopes() : pools_(pool_scope::innermost_), tag_(this_thread_tag), device_(default_device()) {}

  // As if the calling thread had made them.
  class use {
   public:
    explicit use(const thread_scopes& as)
        : pools_(std::exchange(pool_scope::innermost_, as.pools_)),
          tag_(std::exchange(this_thread_tag, as.tag_)),
          device_(as.device_) {}
    ~use() { pool_scope::innermost_ = pools_, this_thread_tag = tag_; }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

   private:
    const pool_scope* pools_;
    memory_label tag_;
    device_scope device_;
  };

 private:
  const pool_scope* pools_;
  memory_label tag_;
  device device_;
};

}  // namespace ferry
