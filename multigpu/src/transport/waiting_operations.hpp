// Operations that wait for other processes, and detection of those that wait forever.
#pragma once
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ferry/version.hpp"
#include "processes/processes.hpp"

namespace ferry::inline FERRY_ABI::detail {

class timeline;

// The progress of the streams on which an operation is enqueued.
class stream_progress {
 public:
  virtual ~stream_progress() = default;
  virtual std::vector<const timeline*> streams() const = 0;
  // True if earlier work of the streams is complete, so that the operation waits for other processes only.
  virtual bool has_begun() = 0;
  virtual bool is_over() = 0;
};

// For one thread; other threads hand over lists.
class waiting_operations {
 public:
  using clock = std::chrono::steady_clock;
  struct operation {
    std::string what;
    needed_parts needs;
    std::unique_ptr<stream_progress> progress;
    std::optional<clock::time_point> begun;  // when it was first seen to wait for other processes only
  };

  // Adds operations, in the order in which they were enqueued on their streams.
  void add(std::list<operation>&& more) { pending_.splice(pending_.end(), more); }
  // Removes complete operations. Returns text about one that has waited too long; empty if none has. Too long is: for a
  // process that ended without taking part, or longer than the patience of `all`. Time that an operation waits for
  // other work of this process does not count.
  std::string overdue(processes& all, clock::time_point now);
  std::size_t size() const { return pending_.size(); }

 private:
  template <class First, class Later>
  void each(First is_over, Later behind);
  void forget_what_is_over();
  void note_begun(clock::time_point now);
  std::list<operation> pending_;
};

}  // namespace ferry::inline FERRY_ABI::detail
