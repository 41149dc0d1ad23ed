// All timelines of a runtime. They are never destroyed before it, and their streams are reused (R13).
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ferry/core/detail/ordering/host_tasks.hpp"
#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"

namespace ferry::inline FERRY_ABI::detail {

class timelines {
 public:
  explicit timelines(detail::backend& backend);
  ~timelines();
  detail::backend& backend() const { return backend_; }

  // Returns a cached stream, or creates one, which may block.
  timeline& take(int device, int priority);
  // Returns a stream to the cache. Work of its next owner comes after the remaining work.
  void give_back(timeline& t) noexcept;
  // Timeline of a stream that ferry did not create.
  timeline& foreign(int device, native_stream stream, stream_origin origin);
  // Called before the owner of a foreign stream destroys it.
  void release_foreign(timeline& t);
  // The timeline at this address, or null if it is not one of these.
  timeline* find(const timeline* t) const noexcept;
  // Marks a device as failed with the text `why`: all its work counts as complete.
  void fail(int device, std::string_view why);
  // Repeats the search for lost work, for submissions that recorded their dependences during another search.
  void spread_again() noexcept;
  // Number of steps of all searches for lost work: 0 if no device has failed, odd during a search. A thread that sees
  // work counted as complete because of a failure also sees this number.
  unsigned failures() const { return failed_.load(std::memory_order_acquire); }
  // Bit of a device in a mask; the last bit stands for all further devices.
  static std::uint64_t device_bit(int device) { return std::uint64_t{1} << std::min(device, 63); }
  // Queries whether these devices have failed, and marks those that have. Never blocks.
  void look_at(std::uint64_t devices);
  // First error that the device failed with; empty if it has not failed.
  std::string failure_of(int device) const;
  // What host tasks threw. Tasks share it, because they may end after the runtime.
  const std::shared_ptr<host_task_failures>& task_failures() const { return task_failures_; }
  // Throws host_task_error if a host task threw. Called after waits. use: as for host_task_failures::raise().
  void raise_task_failures(const std::string& use = {}) const {
    if (task_failures_->any()) [[unlikely]]
      task_failures_->raise(use);
  }
  // Blocks until every stream is idle.
  void synchronize();
  std::size_t size() const;

 private:
  void spread_losses() noexcept FERRY_LOCKED(mutex_);
  timeline* next_to_ask(std::uint64_t devices, int after);
  timeline& create(int device, int priority, native_stream stream, stream_origin origin) FERRY_LOCKED(mutex_);
  detail::backend& backend_;
  mutable mutex mutex_;
  std::deque<owning_ptr<timeline>> all_ FERRY_GUARDED_BY(mutex_);                         // by id
  std::map<std::pair<int, int>, std::vector<timeline*>> stock_ FERRY_GUARDED_BY(mutex_);  // by device and priority
  std::map<std::pair<int, std::uint64_t>, timeline*> foreign_ FERRY_GUARDED_BY(mutex_);   // by device and stream id
  std::map<int, std::string> failures_ FERRY_GUARDED_BY(mutex_);                          // by device
  // by device: the timeline to query for a failure
  std::map<int, timeline*> asked_ FERRY_GUARDED_BY(mutex_);
  std::atomic<unsigned> failed_{0};
  const std::shared_ptr<host_task_failures> task_failures_;
  std::size_t expected_ FERRY_GUARDED_BY(mutex_) = 64;
};

}  // namespace ferry::inline FERRY_ABI::detail
