// Operations that wait for other processes, and which of them do so in vain.
#pragma once
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "processes/processes.hpp"

namespace ferry {

class timeline;

// How far the streams are that were given an operation.
class stream_progress {
 public:
  virtual ~stream_progress() = default;
  virtual std::vector<const timeline*> streams() const = 0;
  // Whether what the streams had to do before is over, so that nothing but the others is waited for.
  virtual bool has_begun() = 0;
  virtual bool is_over() = 0;
};

// Of one thread; others hand over lists.
class waiting_operations {
 public:
  using clock = std::chrono::steady_clock;
  struct operation {
    std::string what;
    needed_parts needs;
    std::unique_ptr<stream_progress> progress;
    std::optional<clock::time_point> begun;  // since when it was seen to wait for others only
  };

  // In the order in which the streams were given them.
  void add(std::list<operation>&& more) { pending_.splice(pending_.end(), more); }
  // Forgets those that are over. Says, in words, which of the rest has waited too long: for a process that ended without
  // taking part, or for longer than others are waited for; empty if none has. What an operation waits behind other work of
  // this process does not count.
  std::string overdue(processes& all, clock::time_point now);
  std::size_t size() const { return pending_.size(); }

 private:
  template <class First, class Later>
  void each(First is_over, Later behind);
  void forget_what_is_over();
  void note_begun(clock::time_point now);
  std::list<operation> pending_;
};

}  // namespace ferry
