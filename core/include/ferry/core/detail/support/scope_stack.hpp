// The active scopes of one kind of a thread. They may end in any order, and on any thread.
#pragma once
#include <atomic>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A scope of the thread that creates it, with a value of type T. That thread destroys the value. It does so at once,
// unless another thread ends the scope or an inner scope is still active. Then it does so when it next accesses its
// scopes.
template <class T>
class stacked_scope {
 public:
  struct node {
    T value;
    node* outer = nullptr;
    const void* thread = nullptr;
    std::atomic<bool> ended{false};
    node(T v, node* next, const void* of) : value(std::move(v)), outer(next), thread(of) {}
  };

  explicit stacked_scope(T value) : node_(new node(std::move(value), innermost_, &innermost_)) { innermost_ = node_; }
  ~stacked_scope() {
    const bool is_here = node_->thread == &innermost_;
    node_->ended.store(true, std::memory_order_release);
    if (is_here) drop_ended();
  }
  stacked_scope(const stacked_scope&) = delete;
  stacked_scope& operator=(const stacked_scope&) = delete;

  // The calling thread's innermost active scope, or null. One load if there is none.
  static node* innermost() {
    if (innermost_ && innermost_->ended.load(std::memory_order_acquire)) [[unlikely]]
      drop_ended();
    return innermost_;
  }
  // Replaces the calling thread's scopes, and returns the previous ones for restoring them.
  static node* exchange(node* other) noexcept { return std::exchange(innermost_, other); }

 private:
  static void drop_ended() noexcept {
    while (innermost_ && innermost_->ended.load(std::memory_order_acquire))
      delete std::exchange(innermost_, innermost_->outer);
  }
  static inline thread_local constinit node* innermost_ = nullptr;
  node* const node_;
};

}  // namespace ferry::inline FERRY_ABI::detail
