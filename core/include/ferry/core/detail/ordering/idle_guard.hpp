// Submissions behind the owner's back: only to bytes that nobody uses, and that nobody has touched since they were chosen.
#pragma once
#include <cstdint>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry {

// An access_guard for one access, which is entered only if no use of these bytes is unfinished, for all that is known (ask
// are_uses_complete() first: it looks), and if the log has counted no use and no change of owner since `touches` was read, with
// the log locked. So the submission waits for nobody, changes nothing that somebody has written meanwhile, and needs no
// reference to the bytes: who frees or reuses them finds it in their log. Not inside captures.
class idle_guard {
 public:
  idle_guard(timeline& on, const access& use, std::uint64_t access_epoch);
  ~idle_guard();
  idle_guard(const idle_guard&) = delete;
  idle_guard& operator=(const idle_guard&) = delete;

  // Whether to submit.
  bool is_entered() const { return at_ != 0; }
  // The log's counter with this use.
  std::uint64_t access_epoch() const { return access_epoch_; }

 private:
  timeline& on_;
  ticket at_ = 0;
  std::uint64_t access_epoch_ = 0;
};

}  // namespace ferry
