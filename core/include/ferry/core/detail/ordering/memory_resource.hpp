// Deallocator of blocks whose last reference is dropped: a pool, or a borrow.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct allocation;
class memory_accounting;

// Outlives the nodes of its allocations. Thread-safe.
class memory_resource {
 public:
  explicit memory_resource(detail::backend& backend) : backend_(backend) {}
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;

  detail::backend& backend() const { return backend_; }
  // The accounting of the bytes; null for memory that ferry did not allocate.
  virtual memory_accounting* accounting() const { return nullptr; }
  // Takes the bytes back; accesses may still be pending. Never throws. Pools never block, the end of a borrow does.
  virtual void deallocate(allocation& a) noexcept = 0;
  // Sets the name of the array that owns the bytes, also in the accounting.
  virtual void rename(allocation& a, std::string text);
  // Marks a block as retained (by a workspace or the quarantine): accounted separately, attributed to no array. Call it
  // with no lock held, after the array is destroyed.
  virtual void retain(allocation& a) noexcept;
  // Assigns a retained block to a new array of the calling thread. Throws out_of_memory if a limit on the thread's tag
  // forbids it.
  virtual void reissue(allocation& a);
  // Enables access by kernels of `device` to one allocation, where peer access between the devices does not cover it,
  // as with the driver's pools. The first use calls the driver, which may block. Throws peer_access_error.
  inline void need_peer(const allocation& a, int device);
  bool needs_grant(int device) const { return (ungranted_.load(std::memory_order_acquire) >> device & 1) != 0; }

 protected:
  ~memory_resource() = default;
  // Called only for devices other than that of the allocation.
  virtual void grant_peer(const allocation& /*a*/, int /*device*/) {}
  std::atomic<std::uint64_t> ungranted_{0};  // bit d: device d needs access enabled separately

 private:
  detail::backend& backend_;
};

}  // namespace ferry::inline FERRY_ABI::detail
