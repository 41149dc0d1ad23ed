// Settings of one thread's scopes for new arrays, for threads that work on its behalf.
#pragma once
#include <deque>

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
  thread_scopes();
  ~thread_scopes();
  thread_scopes(const thread_scopes&) = delete;
  thread_scopes& operator=(const thread_scopes&) = delete;

  // Applies the settings to the calling thread, in place of its own scopes. Never throws: uses of a missing device
  // throw later.
  class use {
   public:
    explicit use(const thread_scopes& as) noexcept;
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
