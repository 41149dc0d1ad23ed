// Submissions without the owner's knowledge: only to bytes without pending accesses, and unchanged after their
// selection.
#pragma once
#include <cstdint>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// An access_guard for one access, which is entered only if the bytes are idle. With the history locked, it checks that
// no access is known to be incomplete, and that the history's epoch equals `access_epoch`. Call are_uses_complete()
// first, because that queries the device. So the submission has no dependencies, overwrites no newer data, and needs no
// reference to the bytes. A thread that frees or reuses the bytes finds the submission in their history. Must not be
// used inside captures.
class idle_guard {
 public:
  idle_guard(timeline& on, const access& use, std::uint64_t access_epoch);
  ~idle_guard();
  idle_guard(const idle_guard&) = delete;
  idle_guard& operator=(const idle_guard&) = delete;

  // True if the caller should submit.
  bool is_entered() const { return at_ != 0; }
  // The history's epoch including this access.
  std::uint64_t access_epoch() const { return access_epoch_; }

 private:
  timeline& on_;
  ticket at_ = 0;
  std::uint64_t access_epoch_ = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
