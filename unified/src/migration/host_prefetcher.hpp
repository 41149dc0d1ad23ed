// Pages on their way to the CPU while its loop already runs: sent piece by piece by a thread of this module, so that the
// loop follows at a distance and hardly waits.
//
// Measured for 256 MiB on an H200, loop included, resident 20.5 ms: faults 55, prefetch and then the loop 52.6. Of the 32
// ms beyond the loop 12.4 are the move (the call does not return before), and 20 the first write to each page of 4 KiB
// (reading has no such price). Threads that write each page once share the second, and all of it runs beside the loop.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ferry/core/runtime.hpp"

namespace ferry {

// One move. All members may be called from any thread.
class arrival {
 public:
  arrival(timeline& line, const access& use, std::vector<page_move> pieces, bool will_write)
      : line_(line),
        use_(use),
        pieces_(std::move(pieces)),
        will_write_(will_write) {}
  // Blocks until the loop may start.
  void wait_for_first() const;
  // Nothing more is sent; blocks until what is under way has arrived.
  void stop();
  bool is_over() const { return over_.load(std::memory_order_acquire); }
  // The pieces that were sent; final once it is over.
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
  std::atomic<std::size_t> sent_{0}, taken_{0}, touched_{0};  // pieces; parts of pieces
  std::atomic<bool> stopped_{false}, over_{false};
};

// The threads that do it, made when first needed.
class host_prefetcher {
 public:
  // on_failure: told why a move failed, by one of the threads.
  host_prefetcher(runtime& m, std::function<void(const std::string&)> on_failure)
      : runtime_(m),
        on_failure_(std::move(on_failure)) {}
  // Waits for what is under way.
  ~host_prefetcher();
  host_prefetcher(const host_prefetcher&) = delete;
  host_prefetcher& operator=(const host_prefetcher&) = delete;

  // Sends pages to the CPU in pieces, in their order. Counts as a read of `use` on `line`, which must serve (see
  // timeline::serve) and is used for nothing else. Returns when the loop may start; null, with nothing done, where the system
  // has no threads for it.
  std::shared_ptr<arrival> start(timeline& line, const access& use, const std::vector<page_move>& moves,
                                 std::size_t piece, bool will_write);

 private:
  void work(bool sends);
  runtime& runtime_;
  const std::function<void(const std::string&)> on_failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<arrival>> waiting_;  // for the thread that sends
  std::shared_ptr<arrival> now_;                  // what the others help with
  std::uint64_t round_ = 0;
  bool leaving_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry
