// Allocation nodes of one owner, such as a pool: allocated in batches, reused, and never destroyed
// (docs/decisions/0002).
#pragma once
#include <memory>
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Not thread-safe: the caller holds the owner's lock.
class allocation_nodes {
 public:
  // kind, device: of all nodes, unless the owner sets them after each take().
  explicit allocation_nodes(memory_resource& home, memory_kind kind = memory_kind::host, int device = 0)
      : home_(home),
        kind_(kind),
        device_(device) {}
  // Stale references may still read the nodes: their memory is not freed.
  ~allocation_nodes();
  allocation_nodes(const allocation_nodes&) = delete;
  allocation_nodes& operator=(const allocation_nodes&) = delete;

  allocation& take();
  void give_back(allocation& a) noexcept;
  std::size_t in_use() const { return in_use_; }
  // Calls f(node) for each node that has bytes.
  template <class F>
  void each(F f) const {
    for (const auto& some : all_)
      for (std::size_t i = 0; i != batch; ++i)
        if (some[i].begin) f(some[i]);
  }

 private:
  static constexpr std::size_t batch = 32;
  void make_more();
  memory_resource& home_;
  const memory_kind kind_;
  const int device_;
  std::vector<std::unique_ptr<allocation[]>> all_;
  allocation* spare_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
