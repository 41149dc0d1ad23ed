// The shards of a caching pool.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

#include "ferry/core/detail/support/thread_context.hpp"
#include "pools/pool_shard.hpp"

namespace ferry::inline FERRY_ABI::detail {

class pool_shards {
 public:
  // Returns the shard of the calling thread.
  pool_shard& mine() { return shards_[number_of_thread() % shards_.size()]; }
  // Removes all blocks. Calls f(chain) for those of each shard, linked by `next`.
  template <class F>
  void drain(F f) noexcept {
    for (pool_shard& s : shards_)
      if (allocation* const all = s.drain()) f(all);
  }
  // Returns the sums of all shards.
  pool_counts counts() const noexcept {
    pool_counts all;
    for (const pool_shard& s : shards_) all += s.counts();
    return all;
  }

 private:
  // From 0 in the order of first use. Also valid while a thread ends, and after main.
  static std::uint32_t number_of_thread() noexcept {
    static constinit std::atomic<std::uint32_t> next{0};
    std::uint32_t& number = this_thread_state.number;
    if (number == ~std::uint32_t{0}) number = next.fetch_add(1, std::memory_order_relaxed);
    return number;
  }

  std::array<pool_shard, 16> shards_;
};

}  // namespace ferry::inline FERRY_ABI::detail
