// The books of a machine's memory: what pools took from the backend and handed out, who is told, and what is tried when
// there is no more. Pools call it; nothing of it costs more than a load on their hot path.
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
#include "ferry/core/error.hpp"
#include "ferry/core/memory_limits.hpp"

namespace ferry {

// Bytes that a pool needs and could not get.
struct memory_demand {
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::size_t bytes = 0;
  memory_source* asker = nullptr;
};

// One step of the ladder that is climbed when memory runs out. Called with no lock held and outside any submission, by the
// thread that needs the bytes; may free arrays, trim pools, move data. Returns the bytes it made free, as far as it knows:
// with any, the allocation is tried again.
struct reclaim_handler {
  std::string name;  // for reports: "trim of every pool on the device"
  int order = 0;     // rungs are climbed from low to high; ferry's own: see handler_order
  std::function<std::size_t(const memory_demand&)> reclaim;
};

// Where ferry's own rungs stand. Rungs of equal order are climbed as they were added. to_peer makes nothing free: after all rungs
// the array itself goes elsewhere, where the policy allows it, and the error lists the attempt as the last one.
struct handler_order {
  static constexpr int quarantine = 90, own_cache = 100, finished_frees = 200, every_pool = 300, callbacks = 400,
                       synchronize = 500, discard_scratch = 600, move_out = 700, to_peer = 800;
};

// A soft limit that is crossed.
struct memory_pressure {
  memory_scope scope;
  std::size_t used_bytes = 0, soft_bytes = 0;
  std::size_t hard_bytes = limit_rule::none;  // or the size of what the scope is on
  // 0 at the soft limit, 1 at the hard one.
  double pressure() const;
};

// What may be tried besides when memory runs out; off unless asked for.
struct out_of_memory_policy {
  // Wait for all work on all devices. May hang where work waits for another process, as half of a collective does.
  bool synchronize = false;
  // Place the new array on a peer of its device that has room.
  bool spill_to_peers = false;
};

struct reclaim_state;
struct memory_shortage;

// Who keeps a block that no array has.
enum class retained_by : std::uint8_t {
  workspace,  // for its next array
  checks      // in quarantine
};

class memory_accounting {
 public:
  explicit memory_accounting(ferry::backend& backend);
  ~memory_accounting();
  memory_accounting(const memory_accounting&) = delete;
  memory_accounting& operator=(const memory_accounting&) = delete;
  ferry::backend& backend() const { return backend_; }

  // For pools, on each allocation and free, with no lock held.

  // Before bytes are looked for. Throws out_of_memory when a limit on handed-out bytes forbids it. What it returns lives
  // until the block was handed out, or could not be had.
  tag_reservation before_allocate(memory_source& by, std::size_t bytes) {
    at_synchronization();  // taking memory while a soft limit is crossed may take a pause, too
    if (this_thread_tag != 0) [[unlikely]]
      return tag_reservation(*this, {by.kind(), by.device(), bytes, &by});
    return {};
  }
  // The block was handed out; nobody else knows it yet.
  void allocated(allocation& a, tag_reservation& reserved) noexcept {
    counters_.add(index(a.kind, a.device), a.bytes);
    set_labels(a, this_thread_tag);
    if (this_thread_tag != 0) [[unlikely]]
      add_under_tag(a, reserved);
    if (observed_.load(std::memory_order_relaxed)) tell([&](allocation_observer& o) { o.on_allocate(a); });
  }
  // The block is about to be taken back; its bytes and its log are still the owner's.
  void freed(allocation& a) noexcept {
    if (is_retained(a)) [[unlikely]]
      return take_back(a);  // its last array is gone already
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

  // For homes that keep a pool's blocks between two arrays, with no lock held.

  // The array is gone, and the pool has not got the block back: it counts with no array, and with no name and tag.
  void retain(allocation& a, retained_by whom) noexcept;
  // A new array gets it. Throws out_of_memory when a limit on the thread's tag forbids it; then nothing has changed.
  void reissue(allocation& a);

  // For pools, when they need the backend, with no lock held.

  // Books `bytes` against the limits and calls attempt(), which asks the backend for them and throws out_of_memory when
  // there are none. Then the booking is undone.
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
  // The same, climbing the ladder of rungs while there is hope. After each rung reuse() looks first whether the pool has
  // by now what it needs: then nothing is booked, and attempt() not called again. Throws out_of_memory that says where the
  // memory went. Returns whether bytes were booked.
  template <class Attempt, class Reuse>
  bool acquire(memory_source& asker, std::size_t bytes, Attempt&& attempt, Reuse&& reuse) {
    bool reserved = true;
    try {
      acquire_once(asker, bytes, attempt);
    } catch (const out_of_memory& e) {
      run_handlers({asker.kind(), asker.device(), bytes, &asker}, plain_what(e), [&] {
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
  // The backend gave these bytes (already booked): observers are told.
  void reserved(memory_source& by, const void* begin, std::size_t bytes) noexcept {
    if (observed_.load(std::memory_order_relaxed))
      tell([&](allocation_observer& o) { o.on_reserve(by.kind(), by.device(), begin, bytes); });
  }
  // They are about to go back to the backend.
  void returning(memory_source& by, const void* begin, std::size_t bytes) noexcept {
    if (observed_.load(std::memory_order_relaxed))
      tell([&](allocation_observer& o) { o.on_return(by.kind(), by.device(), begin, bytes); });
  }
  // They went back.
  void returned(memory_source& by, std::size_t bytes) noexcept { unreserve(by, bytes); }

  // Memory of the CPU that fr::pin is about to pin, or has unpinned; with no lock held. It counts against limits on pinned memory
  // of no device, {.kind = memory_kind::host}, and against the system's RAM. Climbs the ladder, and throws out_of_memory as
  // that of `device`.
  void reserve_pinned(std::size_t bytes, int device);
  void release_pinned(std::size_t bytes) noexcept { pinned_ -= bytes; }
  std::size_t pinned_bytes() const { return pinned_.load(); }

  void register_source(memory_source& s);
  void unregister_source(memory_source& s) noexcept;
  // Calls f with each pool; none is destroyed meanwhile. f may not make or destroy pools.
  void each_source(const std::function<void(memory_source&)>& f) const;

  // For everybody else.

  // Where the CPU waits anyhow, outside of submissions and locks, and before each allocation: gives bytes back early if a
  // soft limit is crossed and it is worth the pause.
  void at_synchronization() {
    if (under_pressure_.load(std::memory_order_relaxed)) [[unlikely]]
      reclaim_early();
  }
  memory_limits& limits() { return limits_; }
  const memory_limits& limits() const { return limits_; }
  // Puts limits into force, all at once, and looks whether soft ones are crossed. Percentages are resolved (see
  // set_memory_limit). Where pools hold more than a hard one, cached bytes go back first; may block then. If it throws, no
  // limit has changed.
  void limit(std::span<const scoped_memory_limit> all);
  // Bytes that count against a limit of that scope.
  std::size_t used_bytes(const memory_scope& scope) const;
  std::uint64_t add_pressure_callback(std::function<std::size_t(const memory_pressure&)> f);
  // Also of rungs.
  void remove_callback(std::uint64_t id) noexcept;
  out_of_memory_policy policy() const;
  void set_policy(const out_of_memory_policy& p);
  // Gives cached bytes of a device back (of all for -1), after waiting for their last uses.
  std::size_t reclaim(int device = -1);

  // The observer must stay alive until it is removed; removal waits until nobody is calling it.
  void observe(allocation_observer& o);
  void stop_observing(allocation_observer& o) noexcept;
  // Adds a rung; the number removes it again.
  std::uint64_t add_handler(reclaim_handler r);
  void remove_handler(std::uint64_t id) noexcept { remove_callback(id); }
  // Names the bytes, for reports; their owner calls it.
  void name(allocation& a, std::string text);
  // Bytes in use, by kind and device.
  memory_counts counts(memory_kind kind, int device) const { return counters_.sum(index(kind, device)); }
  std::size_t peak_bytes(memory_kind kind, int device) const { return counters_.peak(index(kind, device)); }
  memory_counts counts_of_this_thread(memory_kind kind, int device) const {
    return counters_.of_this_thread(index(kind, device));
  }
  const label_accounts& labels() const { return labels_; }
  // What one label holds of a kind on a device.
  label_use use_of(label_kind which, memory_label label, memory_kind kind, int device) const {
    return labels_.use(which, label, index(kind, device));
  }
  // By arrays with a tag, or by all for 0.
  std::size_t bytes_in_use(memory_kind kind, int device, memory_label tag = 0) const;
  // RAM of the system that pinned memory, and unified memory that its devices have no room for, leave.
  std::size_t room_in_system() const;
  // What the labels do not account for.
  label_use unlabelled(memory_kind kind, int device) const;
  // Of what pools have handed out, the blocks that no array has: those of workspaces, and those in quarantine.
  std::size_t retained_bytes(memory_kind kind, int device) const;
  // Of these, those in quarantine.
  std::size_t quarantined_bytes(memory_kind kind, int device) const { return quarantined_[index(kind, device)].load(); }
  // What pools hold of the backend's bytes, for one kind and device.
  std::size_t reserved_bytes(memory_kind kind, int device) const { return cell(kind, device).load(); }

 private:
  struct numbered_handler {
    std::uint64_t id;
    std::shared_ptr<const reclaim_handler> what;
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
  memory_shortage shortage(const memory_demand& d, const std::string& why) const;
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
  void run_handlers(const memory_demand& d, const std::string& why, const std::function<void()>& again);
  void add_own_handlers();

  ferry::backend& backend_;
  const std::size_t devices_;
  std::atomic<bool> observed_{false};
  mutable std::shared_mutex observing_;
  std::vector<allocation_observer*> observers_;
  mutable std::vector<std::atomic<std::size_t>> reserved_;  // by kind and device
  std::vector<std::atomic<std::size_t>> quarantined_;
  std::atomic<std::size_t> pinned_{0};
  std::mutex setting_;  // one thread sets limits at a time; taken before admitting_
  // One thread asks for bytes under limits at a time. Only rules and labels are looked at under it.
  std::mutex admitting_;
  tag_reservation* coming_ = nullptr;  // with that lock held
  memory_counters counters_;
  label_accounts labels_;
  const memory_label retained_label_ = intern_tag("(kept for the next array)");  // for pictures of pools
  const memory_label quarantine_label_ = intern_tag("(in quarantine)");
  mutable std::shared_mutex enrolling_;
  std::vector<memory_source*> sources_;
  std::vector<std::size_t> device_bytes_;
  memory_limits limits_;
  std::atomic<bool> under_pressure_{false};
  std::unique_ptr<reclaim_state> reclaiming_;
  mutable std::mutex handlers_mutex_;
  std::vector<numbered_handler> handlers_;  // in the order in which they are climbed
  std::uint64_t next_handler_ = 1;          // of pressure callbacks, too
  out_of_memory_policy policy_;
};

}  // namespace ferry
