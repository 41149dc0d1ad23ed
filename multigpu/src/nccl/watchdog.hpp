// Watches collectives that wait for other processes: a kernel of NCCL waits forever, and cannot throw.
#pragma once
#include <condition_variable>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "communicators.hpp"
#include "ferry/core/detail/support/unique_lock.hpp"
#include "ferry/version.hpp"
#include "transport/enqueued_operation.hpp"
#include "transport/waiting_operations.hpp"

namespace ferry::inline FERRY_ABI::detail::nccl {

// A thread that ends all waiting work, and prints why on stderr, in these cases:
// - another process fails, or ends without taking part in an operation;
// - NCCL reports an error;
// - a wait for other processes exceeds FERRY_COLLECTIVE_TIMEOUT.
//
// If NCCL cannot be ended, because a call of it waits for other processes or graphs refer to it, all processes end.
class watch {
 public:
  // `mutex` guards `comms`.
  watch(communicators& comms, std::timed_mutex& mutex, processes& all);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  // Watches the next work on these streams. Call it inside a submission, in the order slots of the streams, before NCCL
  // is called.
  void giving(std::span<timeline* const> on, needed_parts needs, std::string what);
  // Watches a graph with such an operation, which was enqueued last on the stream.
  void launched(timeline& on, needed_parts needs, std::string what);
  // Returns an object that graphs own. While a graph owns it, it refers to the communicators, and NCCL does not end
  // them.
  std::shared_ptr<const void> graph_token() const { return graphs_; }

 private:
  void add(needed_parts needs, std::string what, std::unique_ptr<stream_progress> progress);
  void run();
  std::string trouble();
  std::string overdue();

  communicators& comms_;
  std::timed_mutex& mutex_;
  processes& all_;
  event_stock events_;
  std::list<waiting_operations::operation> fresh_;
  mutex own_;  // guards fresh_, stop_; held for a few instructions only, because submissions wait for it
  std::condition_variable wake_;
  bool stop_ FERRY_GUARDED_BY(own_) = false;
  const std::shared_ptr<const void> graphs_ = std::make_shared<char>();
  waiting_operations waiting_;  // of the thread
  std::thread thread_;
};

}  // namespace ferry::inline FERRY_ABI::detail::nccl
