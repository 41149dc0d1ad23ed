// Where bytes go back to when nobody refers to them any more: a pool, or whoever lent them.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

struct allocation;
class memory_accounting;

// Outlives its allocations' nodes. Every member may be called from any thread.
class memory_resource {
 public:
  explicit memory_resource(ferry::backend& backend) : backend_(backend) {}
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;

  ferry::backend& backend() const { return backend_; }
  // The books in which the bytes are; null for bytes of others.
  virtual memory_accounting* accounting() const { return nullptr; }
  // Takes the bytes back; their uses may still be running. Never throws; pools never block, the end of a borrow does.
  virtual void deallocate(allocation& a) noexcept = 0;
  // Names the array that has the bytes, in the books, too.
  virtual void rename(allocation& a, std::string text);
  // For who keeps a block between two arrays, as a workspace does, with no lock held: its array is gone, and the books count
  // it with nobody until the next one comes or the block is given back.
  virtual void retain(allocation& a) noexcept;
  // A new array of the calling thread gets the block. Throws out_of_memory when a limit on the thread's tag forbids it.
  virtual void reissue(allocation& a);
  // Lets kernels of `device` reach the bytes of one allocation where a grant between the two devices does not cover them, as
  // with the driver's pools. Asks the driver on first use (may block). Throws peer_access_error.
  inline void need_peer(const allocation& a, int device);
  bool needs_grant(int device) const { return (ungranted_.load(std::memory_order_acquire) >> device & 1) != 0; }

 protected:
  ~memory_resource() = default;
  // Called only for a device other than that of the allocation.
  virtual void grant_peer(const allocation& /*a*/, int /*device*/) {}
  std::atomic<std::uint64_t> ungranted_{0};  // bit d: device d needs a grant of its own

 private:
  ferry::backend& backend_;
};

}  // namespace ferry
