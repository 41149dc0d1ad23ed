// A pool of one kind of memory on one device, as the runtime and arrays see it. Access histories order its blocks: the
// next user of freed bytes comes after the last one, and no other thread waits (R12).
#pragma once
#include <string>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/backend/pool_backend.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"
#include "ferry/core/pool_options.hpp"

namespace ferry::inline FERRY_ABI::detail {

class timelines;

// Lives as long as its runtime. Thread-safe.
class memory_pool : public memory_source, public memory_resource {
 public:
  memory_pool(memory_accounting& accounting, memory_kind kind, int device, const pool_options& options)
      : memory_resource(accounting.backend()),
        accounting_(accounting),
        kind_(kind),
        device_(device),
        options_(options) {}
  virtual ~memory_pool() = default;

  // Allocates at least `bytes` bytes (0 counts as 1), aligned to the granularity. Prefers bytes that work on this
  // thread's last stream can use without waiting. May block when the pool grows. Runs the out-of-memory handlers if
  // there is no memory. Throws out_of_memory; throws invalid_argument inside a submission.
  virtual allocation_ref allocate(std::size_t bytes) = 0;
  // Releases unused bytes to the backend. Blocks until their last uses are complete. Returns the number of bytes.
  std::size_t trim() { return release_cached(release_depth::unused); }
  virtual pool_statistics statistics() const = 0;
  // The driver pool behind it, such as for export to another process; null for other kinds.
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
  // Detaches the block from its array: updates accounting, invalidates host permissions of remaining views, and
  // excludes later submissions by idle_guard. Then the pool has exclusive use of the history.
  void take_from_owner(allocation& a) noexcept;
  memory_accounting& accounting_;
  const memory_kind kind_;
  const int device_;
  const pool_options options_;
};

// Options for a pool of this kind of memory: pools of unified memory are not the driver's if those lose bytes.
pool_options options_for(memory_kind kind, pool_options options, const driver_quirks& quirks);
// Creates a pool of options.kind; automatic means split. Throws invalid_argument for invalid options, or options that
// the kind lacks; not_supported if the backend lacks the kind.
owning_ptr<memory_pool> make_pool(memory_accounting& accounting, timelines& streams, memory_kind kind, int device,
                                  const pool_options& options);

}  // namespace ferry::inline FERRY_ABI::detail
