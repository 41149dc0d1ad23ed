#include "support/thread_number.hpp"

#include <atomic>

namespace ferry::inline FERRY_ABI::detail {

unsigned new_thread_number() noexcept {
  static constinit std::atomic<unsigned> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ferry::inline FERRY_ABI::detail
