// Records the outstanding allocations of one runtime.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "ferry/core/detail/accounting/allocation_observer.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/leaks.hpp"

namespace ferry::inline FERRY_ABI::detail {

class leak_tracker final : public allocation_observer {
 public:
  void mode(leak_mode m) { stacks_ = m == leak_mode::stacks; }
  void on_allocate(allocation& a) noexcept override;
  void on_free(allocation& a) noexcept override;
  std::vector<outstanding_allocation> outstanding() const;
  std::string report() const;
  void forget();

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t most_frames = 24;
  struct record {
    clock::time_point since;
    std::uint32_t stack = 0;
  };
  struct shard {  // while its lock is held, its recorded allocations cannot be freed
    mutable detail::mutex mutex;
    std::unordered_map<allocation*, record> alive FERRY_GUARDED_BY(mutex);
  };
  shard& of(const allocation& a) {
    return shards_[reinterpret_cast<std::uintptr_t>(&a) / sizeof(allocation) % shards_.size()];
  }
  std::uint32_t this_stack();
  std::array<shard, 16> shards_;
  std::atomic<bool> stacks_{false};
  mutable mutex stacks_mutex_;
  std::map<std::vector<const void*>, std::uint32_t> numbers_ FERRY_GUARDED_BY(stacks_mutex_);
  std::vector<const std::vector<const void*>*> known_ FERRY_GUARDED_BY(stacks_mutex_);  // by number, from 1
};

}  // namespace ferry::inline FERRY_ABI::detail
