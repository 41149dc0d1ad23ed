// Thread-local objects that static destructors can use after the thread's own objects are destroyed.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
namespace ferry::inline FERRY_ABI::detail {

// One T for each thread, created on first use and destroyed when the thread ends. Later calls, in destructors of static
// objects, get another T that is never destroyed. Each use needs its own type T.
template <class T>
class thread_object {
 public:
  static T& get() {
    if (!at_) [[unlikely]]
      make();
    return *at_;
  }

 private:
  struct holder {
    T object;
    ~holder() { at_ = nullptr, has_ended_ = true; }
  };
  [[gnu::noinline]] static void make() {
    if (has_ended_) {
      at_ = new T;
    } else {
      static thread_local holder mine;
      at_ = &mine.object;
    }
  }
  static inline thread_local constinit T* at_ = nullptr;
  static inline thread_local constinit bool has_ended_ = false;
};

}  // namespace ferry::inline FERRY_ABI::detail
