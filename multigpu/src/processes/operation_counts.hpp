// Counts of operations that several processes enqueue on devices together. All processes count equally. A process that
// ends reports its counts: operations of another process beyond these can never complete. A timeout cannot detect this,
// because an operation may wait long for other work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Operations that a process has enqueued: collectives, and sends to and receives from one other process.
struct part_counts {
  std::uint64_t collectives = 0, sends = 0, receives = 0;
};

// Operations that a process enqueues in one submission. A process is listed once for each message to it or from it.
struct joint_part {
  std::uint64_t collectives = 0;
  std::vector<std::size_t> sends_to, receives_from;
};

// Counts that the other processes must reach, so that an operation of this process can complete.
struct needed_parts {
  std::uint64_t collectives = 0;                 // of all processes
  std::map<std::size_t, part_counts> exchanges;  // of single processes: sends and receives
  // True if a process with these counts has taken part, or need not.
  bool has(std::size_t process, const part_counts& given) const;
};

// Thread-safe.
class operation_counts {
 public:
  // Counts operations, and returns the counts that other processes must reach.
  needed_parts enqueue(const joint_part& p);
  // Undoes enqueue() for operations that have not been enqueued.
  void take_back(const joint_part& p);
  // Returns the counts that concern one other process.
  part_counts given(std::size_t other) const;

 private:
  mutable mutex mutex_;
  std::uint64_t collectives_ FERRY_GUARDED_BY(mutex_) = 0;
  std::map<std::size_t, part_counts> exchanges_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
