// A pool over one kind of memory of one device, as machines and arrays know it. What it hands out is ordered by the logs
// of its bytes: the next user of freed bytes comes after the last one, and nobody else waits (R12).
#pragma once
#include <string>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/backend/pool_backend.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/pool_options.hpp"

namespace ferry {

class timelines;

// Lives as long as its machine. Every member may be called from any thread.
class memory_pool : public memory_source, public memory_resource {
 public:
  memory_pool(memory_accounting& accounting, memory_kind kind, int device, const pool_options& options)
      : memory_resource(accounting.backend()),
        accounting_(accounting),
        kind_(kind),
        device_(device),
        options_(options) {}
  virtual ~memory_pool() = default;

  // At least `bytes` bytes (0 counts as 1), aligned to the granularity. Prefers bytes for which work on the stream that this
  // thread used last need not wait. May block when the pool has to grow; climbs the ledger's ladder when there is no more.
  // Throws out_of_memory, and invalid_argument inside a submission.
  virtual allocation_ref allocate(std::size_t bytes) = 0;
  // Gives bytes that are not in use back to the backend, after waiting for their last uses. Returns how many.
  std::size_t trim() { return release_cached(release_depth::unused); }
  virtual pool_statistics statistics() const = 0;
  // The driver's pool behind it, to export to another process for one; null for other kinds.
  virtual native_pool native() const { return {}; }

  memory_accounting* accounting() const final { return &accounting_; }
  void rename(allocation& a, std::string text) final;
  void retain(allocation& a) noexcept final;
  void reissue(allocation& a) final;
  memory_kind kind() const final { return kind_; }
  int device() const final { return device_; }
  const pool_options& options() const { return options_; }

 protected:
  static block_info info_of(const allocation& a);
  // Whether an array has the bytes, or somebody keeps them for the next one (see retain).
  static bool is_taken(const allocation& a) {
    return (a.state.load(std::memory_order_relaxed) & 0xFFFFFFFFu) != 0 || is_retained(a);
  }
  // The owner is gone: the books and the views of the array are told, and nobody touches the bytes behind its back any more
  // (see idle_guard), so that the pool has the log for itself.
  void take_from_owner(allocation& a) noexcept;
  // Whether the last uses of freed bytes are over: looks, or waits. What a broken device was doing counts as over.
  static bool is_unused(allocation& a, release_depth how);
  memory_accounting& accounting_;
  const memory_kind kind_;
  const int device_;
  const pool_options options_;
};

// What a pool of that kind of memory has: none of unified memory is the driver's (docs/decisions/0024).
pool_options options_for(memory_kind kind, pool_options options);
// options.kind says which; automatic is split. Throws invalid_argument for options that make no sense or that the kind
// lacks, not_supported for a kind that the backend does not have.
std::unique_ptr<memory_pool> make_pool(memory_accounting& accounting, timelines& streams, memory_kind kind, int device,
                                       const pool_options& options);

}  // namespace ferry
