#include "ferry/core/detail/accounting/allocation_observers.hpp"

#include <mutex>

namespace ferry::inline FERRY_ABI::detail {

void allocation_observers::add(allocation_observer& o) {
  std::lock_guard lock(mutex_);
  observers_.push_back(&o);
  any_ = true;
}

void allocation_observers::remove(allocation_observer& o) noexcept {
  std::lock_guard lock(mutex_);
  std::erase(observers_, &o);
  any_ = !observers_.empty();
}

}  // namespace ferry::inline FERRY_ABI::detail
