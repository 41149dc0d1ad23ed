// Looks after collectives that wait for other processes: a kernel of NCCL waits for ever, and nobody can throw there.
#pragma once
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "communicators.hpp"
#include "transport/enqueued_operation.hpp"
#include "transport/waiting_operations.hpp"

namespace ferry::nccl {

// A thread that ends all work that waits, and says why on stderr, when another process fails, or ends without taking part in
// an operation, NCCL reports an error, or others are waited for for longer than FERRY_COLLECTIVE_TIMEOUT. Where NCCL cannot be
// ended, because a call of it waits for the others or graphs hold on to it, all processes end.
class watch {
 public:
  // Guards `comms` by `mutex`.
  watch(communicators& comms, std::timed_mutex& mutex, processes& all);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  // Inside a submission, in the turns of the streams, before NCCL is called: what they are given next is looked after.
  void giving(std::span<timeline* const> on, needed_parts needs, std::string what);
  // A graph with such an operation was the last that the stream was given.
  void launched(timeline& on, needed_parts needs, std::string what);
  // While somebody holds it, graphs hold on to the communicators, which NCCL does not end then.
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
  std::mutex own_;  // fresh_, stop_; held for some instructions only, for whoever submits waits for it
  std::condition_variable wake_;
  bool stop_ = false;
  const std::shared_ptr<const void> graphs_ = std::make_shared<char>();
  waiting_operations waiting_;  // of the thread
  std::thread thread_;
};

}  // namespace ferry::nccl
