// Objects of a thread that static objects may still use when the thread's own objects are gone.
#pragma once

namespace ferry::detail {

// One T a thread, made at first use and destroyed when the thread ends. What the thread calls after that, in destructors of
// static objects, gets another T, which is never destroyed. T is a type of its own for each use.
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

}  // namespace ferry::detail
