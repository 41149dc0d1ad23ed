// What happens when memory becomes scarce: callbacks, early reclaim, the last resorts before out_of_memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/memory_limits.hpp"

namespace ferry {

// Takes its callback away when destroyed.
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

// Calls f when an allocation finds no memory, after ferry's own caches were given back: it may free arrays, and returns
// how many bytes it made free; with any, the allocation is tried again. On the thread that allocates. What f allocates itself
// calls no callbacks when it finds no memory.
[[nodiscard]] memory_callback on_out_of_memory(std::function<std::size_t(const memory_demand&)> f);
// Calls f when a soft limit is crossed: on the thread that allocated or synchronised, as early reclaim is, and no more
// often than its cost and what it frees make worthwhile. Returns how many bytes it made free.
[[nodiscard]] memory_callback on_memory_pressure(std::function<std::size_t(const memory_pressure&)> f);

// Gives all bytes that no array holds back to the driver, after waiting for their last uses. Returns how many. Never
// needed before an allocation: that does it by itself.
std::size_t reclaim();
std::size_t reclaim(device d);

// Sets what may be tried besides, on this machine; see out_of_memory_policy.
void set_out_of_memory_policy(const out_of_memory_policy& p);
// "synchronize", "spill", both by a comma, or "none", as in FERRY_OOM. Throws parse_error.
out_of_memory_policy parse_out_of_memory_policy(std::string_view text);

}  // namespace ferry
