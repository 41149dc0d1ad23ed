// All timelines of a machine: immortal, with a stock of streams that are given out again and again (R13).
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ferry/core/detail/ordering/timeline.hpp"

namespace ferry {

class timelines {
 public:
  explicit timelines(ferry::backend& backend) : backend_(backend) {}
  ferry::backend& backend() const { return backend_; }

  // A stream of the stock, or a new one. Creating one may block.
  timeline& take(int device, int priority);
  // Back to the stock; the next owner's work comes after what the stream still has to do.
  void give_back(timeline& t) noexcept;
  // The timeline of a stream that somebody else created.
  timeline& foreign(int device, native_stream stream, stream_origin origin);
  // The stream is about to be destroyed by its owner.
  void release_foreign(timeline& t);
  // The timeline at that address, or null if it is none of these.
  timeline* find(const timeline* t) const noexcept;
  // That device is broken, as `why` says: all its work counts as complete.
  void fail(int device, std::string_view why);
  // For work that got its ticket, and noted what it depends on, while a failure was looked for: looks through all once more.
  void spread_again() noexcept;
  // How many steps of looking for what failures spoilt there were: 0 if no device is broken, odd while one is under way. Seen
  // by the thread that sees work counted as complete for that reason.
  unsigned failures() const { return failed_.load(std::memory_order_acquire); }
  // A bit for each device; the last one stands for all further devices.
  static std::uint64_t device_bit(int device) { return std::uint64_t{1} << std::min(device, 63); }
  // Asks these devices whether they have failed, and gives up those that have. Never blocks.
  void look_at(std::uint64_t devices);
  // What the device failed with first; empty if it has not.
  std::string failure_of(int device) const;
  // Blocks until every stream is idle.
  void synchronize();
  std::size_t size() const;

 private:
  void spread_losses() noexcept;
  timeline* next_to_ask(std::uint64_t devices, int after);
  timeline& create(int device, int priority, native_stream stream, stream_origin origin);
  ferry::backend& backend_;
  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<timeline>> all_;                    // by id
  std::map<std::pair<int, int>, std::vector<timeline*>> stock_;  // by device and priority
  std::map<std::pair<int, std::uint64_t>, timeline*> foreign_;   // by device and stream id
  std::map<int, std::string> failures_;                          // by device
  std::map<int, timeline*> asked_;                               // by device: who is asked whether it has failed
  std::atomic<unsigned> failed_{0};
  std::size_t expected_ = 64;
};

}  // namespace ferry
