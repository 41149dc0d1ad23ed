// State of early reclaim, which one thread runs at a time.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "accounting/reclaim_pacer.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct reclaim_state {
  std::atomic<bool> busy{false};  // not a mutex: a callback may call reclaim again
  reclaim_pacer pacer;            // used by the thread that set busy
  std::size_t next_source = 0;    // where the last pause stopped
  using callback = std::shared_ptr<const std::function<std::size_t(const memory_pressure&)>>;
  std::vector<std::pair<std::uint64_t, callback>> callbacks;  // guarded by handlers_mutex_ of memory_accounting
};

}  // namespace ferry::inline FERRY_ABI::detail
