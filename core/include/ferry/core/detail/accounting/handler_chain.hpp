// The out-of-memory handlers, in the order in which they run, and the policy for them.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/memory_handlers.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Thread-safe.
class handler_chain {
 public:
  using handlers = std::vector<std::shared_ptr<const reclaim_handler>>;
  // Adds a handler, behind those of equal order. Returns a number for remove().
  std::uint64_t add(reclaim_handler r);
  // Does nothing for other numbers.
  void remove(std::uint64_t id) noexcept;
  // A copy: a handler may add or remove others, and none runs with a lock held.
  handlers all() const;
  out_of_memory_policy policy() const;
  void set_policy(const out_of_memory_policy& p);
  // A number that no handler and no callback of this process has.
  static std::uint64_t next_id();

 private:
  struct numbered {
    std::uint64_t id;
    std::shared_ptr<const reclaim_handler> what;
  };
  mutable mutex mutex_;
  std::vector<numbered> handlers_ FERRY_GUARDED_BY(mutex_);
  out_of_memory_policy policy_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
