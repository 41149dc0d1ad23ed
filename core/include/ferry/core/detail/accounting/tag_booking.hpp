// Limits on tags, for threads that allocate at the same time.
#pragma once
#include <cstddef>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/memory_tag.hpp"

namespace ferry {

class memory_ledger;
struct memory_demand;

// Bytes that an allocation is about to take under a tag with limits: they count from here on, so that of threads that ask
// together none gets past the limit with the bytes of another. Empty, and free, where no tag has limits.
class tag_booking {
 public:
  tag_booking() {}  // the rest is for those that are not empty
  // Throws out_of_memory when a limit on the calling thread's tag forbids it.
  tag_booking(memory_ledger& books, const memory_demand& d);
  ~tag_booking() {
    if (books_) [[unlikely]]
      end();
  }
  tag_booking(const tag_booking&) = delete;
  tag_booking& operator=(const tag_booking&) = delete;

 private:
  friend class memory_ledger;
  void end() noexcept;
  memory_ledger* books_ = nullptr;
  memory_label tag_;
  memory_kind kind_;
  int device_;
  std::size_t bytes_;
  tag_booking *before_, *after_;  // those of other threads, in the ledger's list
};

}  // namespace ferry
