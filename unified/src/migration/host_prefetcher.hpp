// Host prefetches: threads of this module move pages to the CPU, piece by piece, while its loop runs. The loop follows
// at a distance and hardly waits.
//
// Measured for 256 MiB on an H200, loop included: 20.5 ms if resident, 55 by faults, 52.6 for a prefetch and then the
// loop. Of the 32 ms beyond the resident loop, 12.4 are the move, for which the call blocks. 20 are the first write to
// each page of 4 KiB; reads do not have this cost. Threads that write to each page once share the 20 ms, and all of it
// overlaps the loop.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

// One host prefetch. All members are thread-safe.
class arrival {
 public:
  arrival(timeline& line, const access& use, std::vector<page_move> pieces, bool will_write)
      : line_(line),
        use_(use),
        pieces_(std::move(pieces)),
        will_write_(will_write) {}
  // Blocks until the loop may start.
  void wait_for_first() const;
  // Stops sending; blocks until pieces in transfer have arrived.
  void stop();
  bool is_over() const { return over_.load(std::memory_order_acquire); }
  // Number of pieces that were sent; final once is_over().
  std::size_t sent() const { return sent_.load(std::memory_order_acquire); }
  const std::vector<page_move>& pieces() const { return pieces_; }

 private:
  friend class host_prefetcher;
  void send(runtime& m, unsigned helpers, const std::function<void(const std::string&)>& on_failure) noexcept;
  void help(unsigned helpers);
  void touch(std::size_t part, unsigned helpers) const;

  timeline& line_;
  access use_;
  const std::vector<page_move> pieces_;
  const bool will_write_;
  std::atomic<std::size_t> sent_{0}, taken_{0}, touched_{0};  // numbers of pieces; of parts of pieces
  std::atomic<bool> stopped_{false}, over_{false};
};

// The threads of host prefetches, started when first needed.
class host_prefetcher {
 public:
  // on_failure: called by one of the threads with the reason why a move failed.
  host_prefetcher(runtime& m, std::function<void(const std::string&)> on_failure)
      : runtime_(m),
        on_failure_(std::move(on_failure)) {}
  // Blocks until all host prefetches have ended.
  ~host_prefetcher();
  host_prefetcher(const host_prefetcher&) = delete;
  host_prefetcher& operator=(const host_prefetcher&) = delete;

  // Sends pages to the CPU in pieces, in order. Counts as a read of `use` on `line`, which must be migration-only (see
  // timeline::mark_migration_only) and have no other work. Blocks until the loop may start. Returns null, without
  // effect, if the system has no threads for it.
  std::shared_ptr<arrival> start(timeline& line, const access& use, const std::vector<page_move>& moves,
                                 std::size_t piece, bool will_write);

 private:
  void work(bool sends);
  runtime& runtime_;
  const std::function<void(const std::string&)> on_failure_;
  mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<arrival>> waiting_ FERRY_GUARDED_BY(mutex_);  // for the thread that sends
  std::shared_ptr<arrival> now_ FERRY_GUARDED_BY(mutex_);  // the prefetch that the other threads help with
  std::uint64_t round_ FERRY_GUARDED_BY(mutex_) = 0;
  bool leaving_ FERRY_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
