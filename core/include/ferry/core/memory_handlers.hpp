/// @file
/// What happens when memory runs out: handlers, their order, and optional last attempts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "ferry/core/memory_kind.hpp"
#include "ferry/core/memory_limits.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

namespace detail {
class memory_source;
}  // namespace detail

/// Bytes that a pool needs and could not allocate.
struct memory_demand {
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::size_t bytes = 0;
  detail::memory_source* asker = nullptr;
};

/// One out-of-memory handler. Called with no lock held and outside any submission, by the thread that needs the bytes.
/// May free arrays, trim pools and move data. Returns the known number of bytes that it freed. If that is more than 0,
/// the allocation is retried.
struct reclaim_handler {
  std::string name;  ///< for reports: "trim of every pool on the device"
  int order = 0;     ///< handlers run in ascending order; ferry's own: see handler_order
  std::function<std::size_t(const memory_demand&)> reclaim;  ///< the handler
};

/// Order of ferry's own handlers. Handlers of equal order run in the order of their registration. to_peer frees
/// nothing: after all handlers it places the array on a peer, if the policy allows it. The error lists this as the last
/// attempt.
struct handler_order {
  static constexpr int quarantine = 90, own_cache = 100, finished_frees = 200, every_pool = 300, callbacks = 400,
                       synchronize = 500, discard_scratch = 600, move_out = 700, to_peer = 800;
};

/// A crossed soft limit.
struct memory_pressure {
  memory_scope scope;
  std::size_t used_bytes = 0, soft_bytes = 0;
  std::size_t hard_bytes = SIZE_MAX;  ///< the hard limit, or the size of the scope's memory
  /// Fraction between the limits: 0 at the soft limit, 1 at the hard one.
  double pressure() const {
    if (hard_bytes <= soft_bytes) return 1;
    const double part = (static_cast<double>(used_bytes) - static_cast<double>(soft_bytes)) /
                        static_cast<double>(hard_bytes - soft_bytes);
    return part < 0 ? 0 : part < 1 ? part : 1;
  }
};

/// Optional attempts when memory runs out; off by default.
struct out_of_memory_policy {
  /// Wait for all work on all devices. May hang if work waits for another process, as in a collective.
  bool synchronize = false;
  /// Place the new array on a peer of its device with enough free memory.
  bool spill_to_peers = false;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
