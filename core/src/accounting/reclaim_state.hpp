// What a ledger needs for early reclaim, which one thread does at a time.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "accounting/reclaim_pacer.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"

namespace ferry {

struct reclaim_state {
  std::atomic<bool> busy{false};  // a callback may come back here: not a mutex
  reclaim_pacer pacer;            // of whoever made it busy
  std::size_t next_source = 0;    // where the last pause stopped
  using callback = std::shared_ptr<const std::function<std::size_t(const memory_pressure&)>>;
  std::vector<std::pair<std::uint64_t, callback>> callbacks;  // with the ledger's lock of rungs held
};

}  // namespace ferry
