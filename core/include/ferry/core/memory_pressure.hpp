/// @file
/// Handling of scarce memory: callbacks, early reclaim, and the last attempts before out_of_memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ferry/core/device.hpp"
#include "ferry/core/memory_handlers.hpp"
#include "ferry/core/memory_limits.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// Registration of a callback. The destructor removes it.
class memory_callback {
 public:
  memory_callback(std::uint64_t runtime, std::uint64_t id) : runtime_(runtime), id_(id) {}
  memory_callback(memory_callback&& o) noexcept : runtime_(o.runtime_), id_(std::exchange(o.id_, 0)) {}
  memory_callback& operator=(memory_callback&& o) noexcept {
    std::swap(runtime_, o.runtime_);
    std::swap(id_, o.id_);
    return *this;
  }
  ~memory_callback();

 private:
  std::uint64_t runtime_, id_;
};

/// Registers a callback for allocations that fail after ferry's own caches were released. It runs on the allocating
/// thread, may free arrays, and returns how many bytes it freed. If that is more than 0, the allocation is retried.
/// Allocations inside the callback do not call callbacks when they fail.
/// @return the registration; its destructor removes the callback
[[nodiscard]] memory_callback on_out_of_memory(std::function<std::size_t(const memory_demand&)> f);
/// Registers a callback for crossed soft limits. It runs on the thread that allocated or synchronized, as early reclaim
/// does, and returns how many bytes it freed. It runs no more often than its cost and the bytes it frees justify.
/// @return the registration; its destructor removes the callback
[[nodiscard]] memory_callback on_memory_pressure(std::function<std::size_t(const memory_pressure&)> f);

/// Releases all bytes that no array uses to the driver, after their last uses are complete. Blocks for those. Not
/// needed before allocations, which do this when they must.
/// @return released bytes
std::size_t reclaim();
/// As above, for one device.
std::size_t reclaim(device d);

/// Sets what else the current runtime may try when memory runs out; see out_of_memory_policy.
void set_out_of_memory_policy(const out_of_memory_policy& p);
/// Parses "synchronize", "spill", both with a comma between, or "none", as in FERRY_OOM.
/// @throws parse_error for other texts
out_of_memory_policy parse_out_of_memory_policy(std::string_view text);

/// @}

}  // namespace ferry::inline FERRY_ABI
