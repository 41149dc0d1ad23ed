// Limits on tags, for threads that allocate at the same time.
#pragma once
#include <cstddef>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/memory_tag.hpp"

namespace ferry {

class memory_accounting;
struct memory_demand;

// Bytes that an allocation is about to take under a tag with limits: they count from here on, so that of threads that ask
// together none gets past the limit with the bytes of another. Empty, and free, where no tag has limits.
class tag_reservation {
 public:
  tag_reservation() {}  // the rest is for those that are not empty
  // Throws out_of_memory when a limit on the calling thread's tag forbids it.
  tag_reservation(memory_accounting& accounting, const memory_demand& d);
  ~tag_reservation() {
    if (accounting_) [[unlikely]]
      end();
  }
  tag_reservation(const tag_reservation&) = delete;
  tag_reservation& operator=(const tag_reservation&) = delete;

 private:
  friend class memory_accounting;
  void end() noexcept;
  memory_accounting* accounting_ = nullptr;
  memory_label tag_;
  memory_kind kind_;
  int device_;
  std::size_t bytes_;
  tag_reservation *before_, *after_;  // those of other threads, in the ledger's list
};

}  // namespace ferry
