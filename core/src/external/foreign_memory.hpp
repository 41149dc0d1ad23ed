// Foreign memory that a runtime's arrays use: borrowed, pinned, adopted.
#pragma once
#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "external/pinned_ranges.hpp"
#include "ferry/core/borrow.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "pools/deferred_frees.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

class foreign_memory final : public memory_resource {
 public:
  explicit foreign_memory(runtime& m);
  ~foreign_memory();

  allocation_ref borrow(byte_range bytes, memory_kind kind, const borrow_options& how, borrow_method way);
  // Ends one borrow. before: a stream to order behind all uses; null blocks until they are complete. Throws error if
  // waiting or unpinning fails; the borrow has ended nevertheless.
  void end(allocation_ref& owner, byte_range bytes, bool pinned, const stream_ref* before, freed_by how);
  allocation_ref adopt(byte_range bytes, memory_kind kind, const borrow_options& how, bool wants_stream,
                       block_deleter deleter);
  void deallocate(allocation& a) noexcept override;

  // Runs the deleters of adopted blocks whose uses are complete. Never blocks; costs one load if there are none.
  void collect() noexcept {
    if (waiting_.load(std::memory_order_relaxed) > 0) run_deleters(false);
  }
  // Returns the number of borrows and adopted blocks that are alive, or whose deleters have not run.
  std::size_t count() const;
  // Returns the allocation of the borrow or adopted block that contains an address. Null if there is none, or if
  // another thread holds the lock to begin or end a borrow. Never blocks.
  allocation* at(const std::byte* p) const;

 private:
  struct entry {
    allocation* what;
    byte_range bytes;
    std::size_t loans = 0;          // number of borrows; 0: adopted
    bool ending = false;            // no references remain; uses may still be pending
    bool wants_stream = false;      // the deleter takes a stream
    bool is_being_deleted = false;  // a thread runs its deleter
    block_deleter deleter{};
  };
  using entries = std::list<entry>;  // few: searched linearly

  enum class verb : std::uint8_t { borrow, pin, adopt };
  static const char* name_of(verb v);
  struct known_memory {
    bool is_known = false;  // false: pageable memory of the CPU
    int device = 0;
  };
  // Throws invalid_argument if the bytes belong to a pool of ferry.
  void refuse_own(byte_range bytes, verb of) const;
  known_memory look_at(byte_range bytes, memory_kind kind, verb of, const std::string& name) const;
  entries::iterator enter(byte_range bytes, memory_kind kind, int device, const borrow_options& how);
  void take_over_uses(allocation& a, byte_range bytes);
  entries::iterator find(const allocation& a);
  void erase(entries::iterator e) noexcept;
  void check_stream(const borrow_options& how) const;
  void while_unused(std::span<const byte_range> ranges, const std::function<void()>& change);
  void run_deleters(bool wait) noexcept;
  bool hand_to_stream(entry& e) noexcept;
  void take_over_late_ones() noexcept;

  runtime& runtime_;
  // Adopted blocks that submissions freed. Needs its own lock: mutex_ may be held while the driver pins, or during
  // waits.
  deferred_frees late_;
  mutable std::mutex mutex_;  // guards the members below
  entries entries_;
  pinned_ranges ranges_;
  std::vector<allocation*> spare_;  // nodes are never destroyed
  std::size_t nodes_ = 0;
  std::vector<timeline*> giving_back_;
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace ferry::inline FERRY_ABI::detail
