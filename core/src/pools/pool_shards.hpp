// The shards of a caching pool.
#pragma once
#include <array>

#include "pools/pool_shard.hpp"
#include "support/thread_number.hpp"

namespace ferry::inline FERRY_ABI::detail {

class pool_shards {
 public:
  // Returns the shard of the calling thread.
  pool_shard& mine() { return shards_[this_thread_number() % shards_.size()]; }
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
  std::array<pool_shard, 16> shards_;
};

}  // namespace ferry::inline FERRY_ABI::detail
