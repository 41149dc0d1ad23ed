// Access history of a byte range: the accesses that later ones may have to wait for. It belongs to the bytes and
// outlives their arrays.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/detail/ordering/use_list.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/movable_load.hpp"

namespace ferry::inline FERRY_ABI::detail {

class access_history {
 public:
  // Above this many records, the history merges records of the same timeline.
  static constexpr std::size_t usual_limit = 32;
  // Number of submissions after a cross-stream wait for which an event is recorded eagerly (R5).
  static constexpr int contended_uses = 4;
  // After this many consecutive submissions from a single timeline, that timeline becomes the exclusive owner.
  static constexpr int uses_until_exclusive = 4;

  // Locks the history and revokes exclusive ownership (R14).
  void lock() {
    lock_.lock();
    if (exclusive_owner_.load(std::memory_order_relaxed)) [[unlikely]]
      revoke_exclusive();
  }
  void unlock() { lock_.unlock(); }
  // True if timeline t owns the history exclusively: then t's lock replaces the history's own lock. Without a lock the
  // result is only a hint. With t locked, it stays true until t is unlocked.
  bool is_exclusive_to(const timeline& t) const { return exclusive_owner_.load(std::memory_order_acquire) == &t; }

  // Counters for the CPU's fast path: accesses of any kind, and writes, recorded so far.
  std::uint64_t access_epoch() const { return movable_load(access_epoch_); }
  std::uint64_t writes() const { return movable_load(writes_); }
  // True if the CPU may read all of the bytes without waiting. Acquires: all earlier writes are visible.
  bool is_host_clean() const { return movable_load(host_clean_); }
  // Invalidates all copies of the counters.
  void invalidate() { bump(access_epoch_), note_write(); }

  // The following members require the lock.

  // First record of `where` whose result is lost (R19), or null. Ignores writes of earlier owners of the bytes.
  const access_record* find_lost(byte_range where) const {
    for (std::size_t i = inherited_; i < uses_.size(); ++i)
      if (const access_record& u = uses_[i]; is_lost(u) && u.where.overlaps(where)) return &u;
    return nullptr;
  }
  // Calls wait(timeline, ticket, reads) for each hazard of an access of `where`. Visits the newest first, because it
  // may imply the older ones (R8). reads: the access may read what the record wrote (R19). who: the accessing timeline,
  // or null for the CPU. Bounds unbounded accesses of other timelines by a fence.
  template <class Wait>
  void each_hazard(const timeline* who, byte_range where, bool write, Wait wait) {
    for (std::size_t i = uses_.size(); i-- > 0;) {
      access_record& u = uses_[i];
      if (u.by == who || !(write || u.write) || !u.where.overlaps(where) || u.by->finished(u.at)) continue;
      end_open(u);
      if (u.at == open_ticket) u.at = u.by->fence() & open_ticket;
      contended_ = contended_uses;
      wait(*u.by, u.at, u.write && i >= inherited_);
    }
  }
  // Called when the block is handed to a new allocation. Pending uses stay; lost-write marks are dropped. Exclusive
  // ownership is unchanged.
  void change_owner() noexcept;
  // Makes room for more records. Called before a ticket is reserved, because it may throw (R15).
  void reserve(std::size_t more) {
    if (!uses_.has_room_for(more)) [[unlikely]]
      grow(more);
  }
  bool has_room_for(std::size_t more) const { return uses_.has_room_for(more); }
  // True if the history holds exactly one record and it equals this access (fast path for repeated submissions). Then
  // there is no hazard, and no room is needed.
  bool repeats(const timeline& by, byte_range where, bool write) const {
    if (uses_.size() != 1) return false;
    const access_record& u = uses_.front();
    return u.by == &by && u.where.begin == where.begin && u.where.end == where.end && u.write == write;
  }
  // Adds a record and removes the ones that it replaces.
  void add(timeline& by, ticket at, byte_range where, bool write) noexcept {
    if (repeats(by, where, write)) [[likely]] {
      if (access_record& u = uses_.front(); !is_open(u)) u.at = at & open_ticket;  // else the access is unbounded
      inherited_ = 0;
    } else {
      add_another(by, at, where, write, true);
    }
    bump(access_epoch_);
    if (write) note_write();
  }
  // Adds a record that is not ordered after those of other timelines. It replaces only records of its own timeline.
  void add_beside(timeline& by, ticket at, byte_range where, bool write) noexcept;
  // True if all records belong to this timeline and no recent access had to wait for it.
  bool is_only_of(const timeline& by) const {
    for (const access_record& u : uses_)
      if (u.by != &by) return false;
    return contended_ == 0;
  }
  // Counts consecutive submissions whose histories are all of this kind. At uses_until_exclusive, `by` becomes the
  // exclusive owner.
  void note_exclusive_use(timeline& by) {
    if (++exclusive_uses_ >= uses_until_exclusive) exclusive_owner_.store(&by, std::memory_order_release);
  }
  // Another submission came between: the count begins again.
  void note_other_use() { exclusive_uses_ = 0; }
  // Sets the host-clean bit after a wait of the CPU that began when writes() was `since`. Has no effect if there are
  // newer or incomplete writes.
  void mark_host_clean(std::uint64_t since) noexcept;
  // Counts down after a cross-stream wait. True if an event should be recorded eagerly.
  bool take_contended() { return contended_ > 0 && contended_-- > 0; }

  // Used when blocks are split, coalesced and reused: only the next access waits (R12). merge() may throw
  // std::bad_alloc after it has merged a part.
  void clip_to(byte_range where) noexcept;
  void merge(const access_history& other);
  // True if all records are of `on`, or known to be complete: then work on `on` can start at once.
  bool is_ready_for(const timeline* on) const {
    for (const access_record& u : uses_)
      if (u.by != on && !u.by->finished(u.at)) return false;
    return true;
  }
  // Newest retained record of these bytes by their current owner; null if there is none.
  const access_record* last_use(byte_range where) const;
  const use_list& uses() const { return uses_; }
  bool is_contended() const { return contended_ > 0; }
  // True if the driver has usage advice (cudaMemAdvise) for some of these bytes. The advice is removed before another
  // array gets the bytes. Splits and merges with the bytes.
  bool is_advised() const { return advised_.load(std::memory_order_relaxed); }
  void set_advised(bool yes) { advised_.store(yes, std::memory_order_relaxed); }

 private:
  static bool replaces(const timeline& by, byte_range where, bool write, const access_record& u) {
    return where.covers(u.where) && (write || (u.by == &by && !u.write));
  }
  static bool is_open(const access_record& u) { return u.at == open_ticket && u.by->pointers_end() == open_ticket; }
  // Bounds an unbounded access whose stream has a new owner.
  static void end_open(access_record& u) {
    if (u.at == open_ticket) u.at = u.by->pointers_end() & open_ticket;
  }
  // A complete record may be dropped, unless its result is lost.
  static bool is_over(const access_record& u) { return u.by->finished(u.at) && !is_lost(u); }
  static bool is_lost(const access_record& u) { return u.write && u.by->is_lost(u.at); }
  void grow(std::size_t more);
  void revoke_exclusive() noexcept;
  // Only for bytes without users, so no submission can rely on the ownership.
  void drop_exclusive() noexcept {
    exclusive_owner_.store(nullptr, std::memory_order_relaxed);
    exclusive_uses_ = 0;
  }
  void add_another(timeline& by, ticket at, byte_range where, bool write, bool behind_others) noexcept;
  template <class Which>
  void erase_if(Which which) noexcept;
  void join_by_timeline();
  // Requires the lock of the history or of its exclusive owner.
  static void bump(std::atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void note_write() {
    bump(writes_);
    host_clean_.store(false, std::memory_order_relaxed);
  }
  spin_lock lock_;
  std::atomic<bool> host_clean_{false};
  std::uint8_t contended_ : 4 = 0;
  std::uint8_t exclusive_uses_ : 4 = 0;
  std::atomic<bool> advised_{false};
  std::uint16_t limit_ = usual_limit;
  std::uint16_t inherited_ = 0;  // number of leading records that belong to earlier owners
  std::atomic<std::uint64_t> access_epoch_{1}, writes_{1};
  use_list uses_;  // newest last
  // While the bytes are in use: set with the history locked, and reset to null with the owning timeline locked too.
  std::atomic<timeline*> exclusive_owner_{nullptr};
};

}  // namespace ferry::inline FERRY_ABI::detail
