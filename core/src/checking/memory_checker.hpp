// The memory resource of checked arrays: blocks of a pool with red zones, and a quarantine after free.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/memory_checks.hpp"
#include "ordering/internal_streams.hpp"
#include "pools/allocation_nodes.hpp"
#include "pools/deferred_frees.hpp"
#include "pools/staging_slots.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

class memory_checker final : public memory_resource {
 public:
  explicit memory_checker(runtime& m);
  ~memory_checker();

  void set(const std::optional<memory_checks>& what);
  std::optional<memory_checks> settings() const;
  // True if new arrays are checked.
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

  // Allocates a checked block of `bytes` bytes inside a block of a pool.
  allocation_ref allocate(std::size_t bytes, const std::function<allocation_ref(std::size_t)>& pool);
  // Fills a block with poison, for the next array of a workspace. Reads of unwritten elements then return NaN.
  void poison(allocation& a);
  void deallocate(allocation& a) noexcept override;
  // These update the accounting of the pool's block.
  void rename(allocation& a, std::string text) override;
  void retain(allocation& a) noexcept override;
  void reissue(allocation& a) override;

  // Checks edges whose copies have arrived. Never blocks; costs one load if there are none.
  void look() noexcept {
    if (waiting_.load(std::memory_order_relaxed) > 0) look_at_copies(false);
  }
  std::vector<memory_fault> check();
  // Ends the quarantine of all blocks, as an out-of-memory handler. Returns their bytes.
  std::size_t release() noexcept;
  // Returns the live checked block that contains an address, without its red zones; null if there is none.
  allocation* at(const std::byte* p) const;
  // Number of freed blocks in quarantine.
  std::size_t quarantined() const { return quarantined_.load(std::memory_order_relaxed); }

 private:
  struct block {
    allocation* node = nullptr;  // the program's node, whose `after` is the pool's block; null after free
    allocation_ref inner;        // the pool's block
    memory_fault what;           // identifies the array in reports
    std::size_t zone = 0;
    std::uint64_t serial = 0;  // of the array
    bool is_poisoned = false;  // poisoned after it was freed
  };
  struct copied_edges {  // edges whose copy to the CPU is pending
    memory_fault what;
    std::uint64_t serial;
    std::size_t zone, edge;
    bool was_freed, is_poisoned;
    std::byte* slot;
    timeline* by;
    ticket at;
  };
  void grant_peer(const allocation& a, int device) override;
  timeline& line(int device);
  ticket submit(allocation& of, byte_range where, bool write, const std::function<void(native_stream)>& work);
  void fill(native_stream s, byte_range where, std::byte value) const;
  void copy_edges(const block& b, allocation& of, bool then_poison);
  void retire(block b) noexcept;
  void shrink_quarantine(std::size_t bytes, std::size_t blocks) noexcept;
  // Returns their bytes.
  std::size_t retire_late_ones() noexcept;
  void look_at_copies(bool wait) noexcept;
  void look_at(const copied_edges& c);
  void report(memory_fault f, std::uint64_t serial);
  block leave_live(allocation& a) noexcept;
  allocation* take_node();
  void give_back_node(allocation* a) noexcept;

  // Poison reads as NaN. Red zones use another value, because programs often write NaN and -1 past the end.
  static constexpr std::byte poison_byte{0xFF}, zone_byte{0xFA};

  runtime& runtime_;
  std::atomic<bool> is_on_{false};
  std::atomic<std::size_t> waiting_{0}, quarantined_{0};
  deferred_frees late_;  // frees inside submissions: check() holds mutex_ for long, and may wait for a submission
  mutable std::recursive_mutex mutex_;  // guards the members below; recursive: check() calls members that lock it
  std::optional<memory_checks> settings_;
  internal_streams streams_;
  std::map<allocation*, block> live_;
  std::deque<block> quarantine_;
  std::size_t quarantine_bytes_ = 0;
  std::deque<copied_edges> copies_;
  staging_slots slots_;
  std::uint64_t made_ = 0, handler_ = 0;
  std::vector<memory_fault> faults_;
  std::set<std::pair<std::uint64_t, memory_fault::place>> told_;  // each array and place is reported once
  allocation_nodes nodes_;
};

}  // namespace ferry::inline FERRY_ABI::detail
