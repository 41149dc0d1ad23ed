// Memory accounting: per-kind counters, observers, limits, and the out-of-memory handlers. Pools call it. It adds no
// more than one load to their hot path.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/allocation_observer.hpp"
#include "ferry/core/detail/accounting/label_accounts.hpp"
#include "ferry/core/detail/accounting/memory_counters.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/accounting/tag_reservation.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/ordering/allocation_labels.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_handlers.hpp"
#include "ferry/core/memory_limits.hpp"

namespace ferry::inline FERRY_ABI {
struct memory_shortage;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

struct reclaim_state;

// Holder of a block that is retained: in no array and not in its pool.
enum class retained_by : std::uint8_t {
  workspace,  // for its next array
  checks      // in quarantine
};

class memory_accounting {
 public:
  explicit memory_accounting(detail::backend& backend);
  ~memory_accounting();
  memory_accounting(const memory_accounting&) = delete;
  memory_accounting& operator=(const memory_accounting&) = delete;
  detail::backend& backend() const { return backend_; }

  // For pools, on each allocation and free, with no lock held.

  // Called before an allocation. Throws out_of_memory if a limit on handed-out bytes forbids it. The result must live
  // until the block is handed out or the allocation fails.
  tag_reservation before_allocate(memory_source& by, std::size_t bytes) {
    at_synchronization();  // may reclaim if a soft limit is crossed, because an allocation may take a pause
    if (this_thread_state.tag != 0) [[unlikely]]
      return tag_reservation(*this, {by.kind(), by.device(), bytes, &by});
    return {};
  }
  // Called after a block is handed out, while only this thread can access it.
  void allocated(allocation& a, tag_reservation& reserved) noexcept {
    counters_.add(index(a.kind, a.device), a.bytes);
    set_labels(a, this_thread_state.tag);
    if (this_thread_state.tag != 0) [[unlikely]]
      add_under_tag(a, reserved);
    if (observed_.load(std::memory_order_relaxed)) tell([&](allocation_observer& o) { o.on_allocate(a); });
  }
  // Called before a block is taken back, while its owner still has its bytes and access history.
  void freed(allocation& a) noexcept {
    if (is_retained(a)) [[unlikely]]
      return take_back(a);  // its last array is already accounted as freed
    if (observed_.load(std::memory_order_relaxed)) tell([&](allocation_observer& o) { o.on_free(a); });
    const std::size_t i = index(a.kind, a.device);
    counters_.remove(i, a.bytes);
    const allocation_labels l = labels_of(a);
    set_labels(a, 0);
    if ((l.tag | l.name) == 0) [[likely]]
      return;
    if (l.tag != 0) labels_.remove(label_kind::tag, l.tag, i, a.bytes);
    if (l.name != 0) labels_.remove(label_kind::name, l.name, i, a.bytes);
    labels_.remove_labelled(i, a.bytes);
  }

  // For deallocators that retain a pool's blocks between two arrays, with no lock held.

  // The array is destroyed, and the pool does not have the block: accounted to no array, name or tag.
  void retain(allocation& a, retained_by whom) noexcept;
  // Assigns the block to a new array. Throws out_of_memory if a limit on the thread's tag forbids it; then nothing
  // changes.
  void reissue(allocation& a);

  // For pools, when they need memory of the backend, with no lock held.

  // Reserves `bytes` against the limits and calls attempt(). attempt() allocates them from the backend, or throws
  // out_of_memory; then the reservation is undone.
  template <class Attempt>
  void acquire_once(memory_source& asker, std::size_t bytes, Attempt&& attempt) {
    admit(asker, bytes);
    try {
      attempt();
    } catch (...) {
      unreserve(asker, bytes);
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
    if (observed_.load(std::memory_order_relaxed))
      tell([&](allocation_observer& o) { o.on_reserve(by.kind(), by.device(), begin, bytes); });
  }
  // Notifies observers before bytes return to the backend.
  void returning(memory_source& by, const void* begin, std::size_t bytes) noexcept {
    if (observed_.load(std::memory_order_relaxed))
      tell([&](allocation_observer& o) { o.on_return(by.kind(), by.device(), begin, bytes); });
  }
  // Accounts for bytes that have returned to the backend.
  void returned(memory_source& by, std::size_t bytes) noexcept { unreserve(by, bytes); }

  // Accounts for host memory before ferry::pin pins it, or after it is unpinned. Call with no lock held. It counts
  // against limits on pinned memory of no device, {.kind = memory_kind::host}, and against the system's RAM. Runs the
  // out-of-memory handlers, and throws out_of_memory, as for memory of `device`.
  void reserve_pinned(std::size_t bytes, int device);
  void release_pinned(std::size_t bytes) noexcept { pinned_ -= bytes; }
  std::size_t pinned_bytes() const { return pinned_.load(); }

  void register_source(memory_source& s);
  void unregister_source(memory_source& s) noexcept;
  // Calls f with each pool; none is destroyed meanwhile. f must not create or destroy pools.
  void each_source(const std::function<void(memory_source&)>& f) const;

  // For all other callers.

  // Called where the CPU waits anyway, outside of submissions and locks, and before each allocation. Releases bytes
  // early if a soft limit is crossed and the cost is justified.
  void at_synchronization() {
    if (under_pressure_.load(std::memory_order_relaxed)) [[unlikely]]
      reclaim_early();
  }
  memory_limits& limits() { return limits_; }
  const memory_limits& limits() const { return limits_; }
  // Applies limits, all at once, and checks whether soft ones are crossed. Resolves percentages (see set_memory_limit).
  // Where pools hold more than a hard limit, releases cached bytes first; may block then. If it throws, no limit
  // changes.
  void limit(std::span<const scoped_memory_limit> all);
  // Bytes that count against a limit of this scope.
  std::size_t used_bytes(const memory_scope& scope) const;
  std::uint64_t add_pressure_callback(std::function<std::size_t(const memory_pressure&)> f);
  // Removes callbacks and handlers.
  void remove_callback(std::uint64_t id) noexcept;
  out_of_memory_policy policy() const;
  void set_policy(const out_of_memory_policy& p);
  // Releases cached bytes of a device (-1: of all devices) after their last uses are complete. Blocks for those.
  std::size_t reclaim(int device = -1);

  // The observer must live until it is removed. Removal blocks until no thread calls it.
  void observe(allocation_observer& o);
  void stop_observing(allocation_observer& o) noexcept;
  // Adds a handler; remove_callback() with the returned number removes it.
  std::uint64_t add_handler(reclaim_handler r);
  void remove_handler(std::uint64_t id) noexcept { remove_callback(id); }
  // Sets the name of the bytes for reports. Only their owner may call it.
  void name(allocation& a, std::string text);
  // Bytes in use, by kind and device.
  memory_counts counts(memory_kind kind, int device) const { return counters_.sum(index(kind, device)); }
  std::size_t peak_bytes(memory_kind kind, int device) const { return counters_.peak(index(kind, device)); }
  memory_counts counts_of_this_thread(memory_kind kind, int device) const {
    return counters_.of_this_thread(index(kind, device));
  }
  const label_accounts& labels() const { return labels_; }
  // Use of one label, by kind and device.
  label_use use_of(label_kind which, memory_label label, memory_kind kind, int device) const {
    return labels_.use(which, label, index(kind, device));
  }
  // Bytes in arrays with a tag; for 0, in all arrays.
  std::size_t bytes_in_use(memory_kind kind, int device, memory_label tag = 0) const;
  // RAM of the system that remains after pinned memory, and after unified memory that does not fit on its devices.
  std::size_t room_in_system() const;
  // Use of arrays without tag and name.
  label_use unlabelled(memory_kind kind, int device) const;
  // Bytes of retained blocks: handed out by pools, but in no array. Includes those in quarantine.
  std::size_t retained_bytes(memory_kind kind, int device) const;
  // The part of these bytes in quarantine.
  std::size_t quarantined_bytes(memory_kind kind, int device) const { return quarantined_[index(kind, device)].load(); }
  // Bytes that pools have reserved from the backend, by kind and device.
  std::size_t reserved_bytes(memory_kind kind, int device) const { return cell(kind, device).load(); }

 private:
  struct numbered_handler {
    std::uint64_t id;
    std::shared_ptr<const reclaim_handler> what;
  };
  struct reason_of_failure {
    explicit reason_of_failure(const out_of_memory& e);
    std::string text;
    bool is_limit;  // a memory limit forbids the allocation
  };
  template <class Call>
  void tell(Call call) noexcept {
    std::shared_lock lock(observing_);
    for (allocation_observer* o : observers_) call(*o);
  }
  std::size_t index(memory_kind kind, int device) const {
    return static_cast<std::size_t>(kind) * devices_ + static_cast<std::size_t>(device);
  }
  std::atomic<std::size_t>& cell(memory_kind kind, int device) const { return reserved_[index(kind, device)]; }
  void admit(memory_source& asker, std::size_t bytes);
  void unreserve(memory_source& asker, std::size_t bytes) noexcept;
  memory_shortage shortage(const memory_demand& d, const reason_of_failure& why) const;
  std::size_t bytes_in_system() const;
  std::size_t capacity_of(const memory_scope& scope) const;
  friend class tag_reservation;
  void take_back(allocation& a) noexcept;
  void add_under_tag(const allocation& a, tag_reservation& reserved) noexcept;
  bool has_hard_limit(memory_label tag) const;
  void reserve_under_tag(tag_reservation& b, const memory_demand& d);
  void leave_list(tag_reservation& b) noexcept;
  static void refuse_impossible(std::size_t bytes);
  limit_rule rule_of(const scoped_memory_limit& l) const;
  void trim_to(const limit_rule& r);
  void keep_within(std::span<const limit_rule> rules);
  std::string exceeded_text(const limit_rule& r, std::size_t used) const;
  std::size_t coming_bytes(const limit_rule& r) const;
  void refuse_above_limits(const memory_demand& d) const;
  void refuse_above_tag_limits(const memory_demand& d) const;
  void look_for_pressure();
  void reclaim_early();
  void run_handlers(const memory_demand& d, const out_of_memory& first, const std::function<void()>& again);
  void add_own_handlers();

  detail::backend& backend_;
  const std::size_t devices_;
  std::atomic<bool> observed_{false};
  mutable std::shared_mutex observing_;
  std::vector<allocation_observer*> observers_;
  mutable std::vector<std::atomic<std::size_t>> reserved_;  // by kind and device
  std::vector<std::atomic<std::size_t>> quarantined_;
  std::atomic<std::size_t> pinned_{0};
  std::mutex setting_;  // serializes threads that set limits; acquired before admitting_
  // Serializes requests for bytes under limits. Only rules and labels are accessed under it.
  std::mutex admitting_;
  tag_reservation* coming_ = nullptr;  // guarded by admitting_
  memory_counters counters_;
  label_accounts labels_;
  const memory_label retained_label_ = intern_tag("(kept for the next array)");  // shown in pictures of pools
  const memory_label quarantine_label_ = intern_tag("(in quarantine)");
  mutable std::shared_mutex enrolling_;
  std::vector<memory_source*> sources_;
  std::vector<std::size_t> device_bytes_;
  memory_limits limits_;
  std::atomic<bool> under_pressure_{false};
  std::unique_ptr<reclaim_state> reclaiming_;
  mutable std::mutex handlers_mutex_;
  std::vector<numbered_handler> handlers_;  // in the order in which they run
  std::uint64_t next_handler_ = 1;          // also numbers pressure callbacks
  out_of_memory_policy policy_;
};

}  // namespace ferry::inline FERRY_ABI::detail
