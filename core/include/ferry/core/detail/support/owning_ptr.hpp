// A pointer that owns its object.
#pragma once
#include <utility>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// As std::unique_ptr, for members of classes in headers. Each instance costs every source that includes the header 0.4
// of what an instance of std::unique_ptr costs g++, and 0.3 of what it costs nvcc (decision 77). T must be complete
// where the destructor is called, or an assignment.
template <class T>
class owning_ptr {
 public:
  owning_ptr() = default;
  // Takes ownership.
  explicit owning_ptr(T* object) : object_(object) {}
  owning_ptr(owning_ptr&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  owning_ptr& operator=(owning_ptr&& o) noexcept {
    owning_ptr moved(std::move(o));
    std::swap(object_, moved.object_);
    return *this;
  }
  ~owning_ptr() {
    static_assert(sizeof(T) > 0, "the type must be complete: define the destructor of the class in a source");
    delete object_;
  }

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* release() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

template <class T, class... A>
owning_ptr<T> make_owning(A&&... a) {
  return owning_ptr<T>(new T(std::forward<A>(a)...));
}

}  // namespace ferry::inline FERRY_ABI::detail
