// Memory accounting of one runtime. Pools call it. It adds no more than one load to their hot path.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "ferry/core/detail/accounting/allocation_observers.hpp"
#include "ferry/core/detail/accounting/array_accounts.hpp"
#include "ferry/core/detail/accounting/early_reclaim.hpp"
#include "ferry/core/detail/accounting/handler_chain.hpp"
#include "ferry/core/detail/accounting/limit_enforcer.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/accounting/pool_registry.hpp"
#include "ferry/core/detail/accounting/tag_reservation.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_handlers.hpp"
#include "ferry/core/memory_limits.hpp"

namespace ferry::inline FERRY_ABI::detail {

// What happens at each allocation, free, and request for bytes of the backend: accounts, limits, observers, and the
// out-of-memory handlers, which are one part each.
class memory_accounting {
 public:
  explicit memory_accounting(detail::backend& backend);
  memory_accounting(const memory_accounting&) = delete;
  memory_accounting& operator=(const memory_accounting&) = delete;
  detail::backend& backend() const { return backend_; }

  array_accounts& arrays() { return arrays_; }
  const array_accounts& arrays() const { return arrays_; }
  pool_registry& pools() { return pools_; }
  const pool_registry& pools() const { return pools_; }
  const limit_enforcer& limits() const { return limits_; }
  early_reclaim& pressure() { return pressure_; }
  handler_chain& handlers() { return handlers_; }
  const handler_chain& handlers() const { return handlers_; }
  allocation_observers& observers() { return observers_; }

  // For pools, on each allocation and free, with no lock held.

  // Called before an allocation. Throws out_of_memory if a limit on handed-out bytes forbids it. The result must live
  // until the block is handed out or the allocation fails.
  tag_reservation before_allocate(memory_source& by, std::size_t bytes) {
    pressure_.at_synchronization();  // may reclaim if a soft limit is crossed, because an allocation may take a pause
    if (this_thread_state.tag != 0) [[unlikely]]
      return under_tag({by.kind(), by.device(), bytes, &by});
    return {};
  }
  // Called after a block is handed out, while only this thread can access it.
  void allocated(allocation& a, tag_reservation& reserved) noexcept {
    arrays_.add(a);
    if (this_thread_state.tag != 0) [[unlikely]]
      limits_.convert(reserved, a);
    observers_.tell([&](allocation_observer& o) { o.on_allocate(a); });
  }
  // Called before a block is taken back, while its owner still has its bytes and access history.
  void freed(allocation& a) noexcept {
    if (is_retained(a)) [[unlikely]]
      return arrays_.end_retention(a);  // its last array is already accounted as freed
    observers_.tell([&](allocation_observer& o) { o.on_free(a); });
    arrays_.remove(a);
  }

  // For deallocators that retain a pool's blocks between two arrays, with no lock held.

  // The array is destroyed, and the pool does not have the block: accounted to no array, name or tag.
  void retain(allocation& a, retained_by whom) noexcept {
    freed(a);
    arrays_.retain(a, whom);
  }
  // Assigns the block to a new array. Throws out_of_memory if a limit on the thread's tag forbids it; then nothing
  // changes.
  void reissue(allocation& a);

  // For pools, when they need memory of the backend, with no lock held.

  // Reserves `bytes` against the limits and calls attempt(). attempt() allocates them from the backend, or throws
  // out_of_memory; then the reservation is undone.
  template <class Attempt>
  void acquire_once(memory_source& asker, std::size_t bytes, Attempt&& attempt) {
    limits_.reserve(asker, bytes);
    pressure_.look();
    try {
      attempt();
    } catch (...) {
      limits_.unreserve(asker, bytes);
      throw;
    }
  }
  // As acquire_once(), but runs the out-of-memory handlers in order as long as they may help. After each handler,
  // reuse() checks first whether the pool can now serve the request itself. If so, nothing is reserved, and attempt()
  // is not called again. Throws out_of_memory that reports where the memory went. Returns true if bytes were reserved.
  template <class Attempt, class Reuse>
  bool acquire(memory_source& asker, std::size_t bytes, Attempt&& attempt, Reuse&& reuse) {
    bool reserved = true;
    try {
      acquire_once(asker, bytes, attempt);
    } catch (const out_of_memory& e) {
      run_handlers({asker.kind(), asker.device(), bytes, &asker}, e, [&] {
        reserved = !reuse();
        if (reserved) acquire_once(asker, bytes, attempt);
      });
    }
    return reserved;
  }
  template <class Attempt>
  void acquire(memory_source& asker, std::size_t bytes, Attempt&& attempt) {
    acquire(asker, bytes, attempt, [] { return false; });
  }
  // Notifies observers of bytes from the backend, which are already reserved.
  void reserved(memory_source& by, const void* begin, std::size_t bytes) noexcept {
    observers_.tell([&](allocation_observer& o) { o.on_reserve(by.kind(), by.device(), begin, bytes); });
  }
  // Notifies observers before bytes return to the backend.
  void returning(memory_source& by, const void* begin, std::size_t bytes) noexcept {
    observers_.tell([&](allocation_observer& o) { o.on_return(by.kind(), by.device(), begin, bytes); });
  }
  // Accounts for bytes that have returned to the backend.
  void returned(memory_source& by, std::size_t bytes) noexcept { limits_.unreserve(by, bytes); }

  // For all other callers.

  // Accounts for host memory before ferry::pin pins it; undone by pools().remove_pinned(). Call with no lock held. It
  // counts against limits on pinned memory of no device, {.kind = memory_kind::host}, and against the system's RAM.
  // Runs the out-of-memory handlers, and throws out_of_memory, as for memory of `device`.
  void reserve_pinned(std::size_t bytes, int device);
  // Applies limits (see limit_enforcer::set), and checks whether soft ones are crossed. May block to release bytes.
  void limit(std::span<const scoped_memory_limit> all);
  // Releases cached bytes of a device (-1: of all devices) after their last uses are complete. Blocks for those.
  std::size_t reclaim(int device = -1);
  // Bytes of retained blocks: handed out by pools, but in no array. Includes those in quarantine.
  std::size_t retained_bytes(memory_kind kind, int device) const {
    return pools_.retained_bytes(kind, device, arrays_.bytes(kind, device));
  }

 private:
  // Reserves bytes under the calling thread's tag, if that has a hard limit. Runs the out-of-memory handlers.
  tag_reservation under_tag(const memory_demand& d);
  void trim_to(const limit_rule& r);
  void end_quarantine(const handler_chain::handlers& all, const memory_demand& d);
  void run_handlers(const memory_demand& d, const out_of_memory& first, const std::function<void()>& again);
  void add_own_handlers();

  detail::backend& backend_;
  array_accounts arrays_;
  pool_registry pools_;
  limit_enforcer limits_;
  early_reclaim pressure_;
  handler_chain handlers_;
  allocation_observers observers_;
};

}  // namespace ferry::inline FERRY_ABI::detail
