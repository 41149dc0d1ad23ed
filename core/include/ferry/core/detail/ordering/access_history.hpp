// The uses of some bytes that somebody may still have to wait for. The log belongs to the bytes, not to their owner.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/detail/ordering/use_list.hpp"

namespace ferry {

class access_history {
 public:
  // Above this many uses they are joined by timeline.
  static constexpr std::size_t usual_limit = 32;
  // For how many further uses a log that somebody had to wait on is marked at once (R5).
  static constexpr int contended_uses = 4;
  // After so many submissions of one timeline, and of nobody else, that timeline keeps the log.
  static constexpr int uses_until_exclusive = 4;

  // Locked, nobody else touches the log: a timeline that keeps it loses it (R14).
  void lock() {
    lock_.lock();
    if (exclusive_owner_.load(std::memory_order_relaxed)) [[unlikely]]
      revoke_exclusive();
  }
  void unlock() { lock_.unlock(); }
  // A log that is kept is locked with its timeline: submissions there need no other lock. Asked without any lock, no more
  // than a hint; asked with that timeline locked, it stays true until that is unlocked.
  bool is_exclusive_to(const timeline& t) const { return exclusive_owner_.load(std::memory_order_acquire) == &t; }

  // Counters for the CPU's fast path: uses of any kind, and writes, that were logged so far.
  std::uint64_t access_epoch() const { return access_epoch_.load(std::memory_order_relaxed); }
  std::uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  // Whether the CPU may read any of the bytes without asking. Who sees it true sees all that was written before.
  bool is_host_clean() const { return host_clean_.load(std::memory_order_acquire); }
  // Makes every copy of the counters stale.
  void invalidate() { bump(access_epoch_), note_write(); }

  // The rest with the log locked.

  // A use whose results in these bytes are lost (R19), or null. What earlier owners of the bytes wrote does not matter.
  const access_record* find_lost(byte_range where) const {
    for (std::size_t i = inherited_; i < uses_.size(); ++i)
      if (const access_record& u = uses_[i]; is_lost(u) && u.where.overlaps(where)) return &u;
    return nullptr;
  }
  // Calls wait(timeline, ticket, reads) for each use that an access of `where` must come after; newest first, because that may
  // imply the older ones (R8). reads: the access may read what the use wrote (R19). An open use of another timeline is
  // closed. who: the asking timeline, or null for the CPU.
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
  // The bytes get another owner, who does not care what they held. Who keeps the log keeps it.
  void change_owner() noexcept;
  // Room for so many more uses: what may throw comes before a ticket is reserved (R15).
  void reserve(std::size_t more) {
    if (!uses_.has_room_for(more)) [[unlikely]]
      eviction(more);
  }
  bool has_room_for(std::size_t more) const { return uses_.has_room_for(more); }
  // Whether such a use is the only one there is over again, as of a stream that does the same each time: nobody to wait
  // for, and no room needed.
  bool repeats(const timeline& by, byte_range where, bool write) const {
    if (uses_.size() != 1) return false;
    const access_record& u = uses_.front();
    return u.by == &by && u.where.begin == where.begin && u.where.end == where.end && u.write == write;
  }
  // One use more.
  void add(timeline& by, ticket at, byte_range where, bool write) noexcept {
    if (repeats(by, where, write)) [[likely]] {
      if (access_record& u = uses_.front(); !is_open(u)) u.at = at & open_ticket;  // else a pointer is out
      inherited_ = 0;
    } else {
      add_another(by, at, where, write, true);
    }
    bump(access_epoch_);
    if (write) note_write();
  }
  // One use more that was not ordered behind those of others: it takes the place of its own timeline's only.
  void add_beside(timeline& by, ticket at, byte_range where, bool write) noexcept;
  // Whether nobody but this timeline is in the log, and nobody had to wait for it lately.
  bool is_only_of(const timeline& by) const {
    for (const access_record& u : uses_)
      if (u.by != &by) return false;
    return contended_ == 0;
  }
  // Counts submissions in a row that touched only such logs; the last of uses_until_exclusive makes `by` the keeper.
  void note_exclusive_use(timeline& by, bool exclusive) {
    if (!exclusive)
      exclusive_uses_ = 0;
    else if (++exclusive_uses_ >= uses_until_exclusive)
      exclusive_owner_.store(&by, std::memory_order_release);
  }
  // For the CPU, which may read some of the bytes since writes() was so: reads are free if nobody is writing any others.
  void mark_host_clean(std::uint64_t since) noexcept;
  // Counts a submission; whether it should be marked at once.
  bool take_contended() { return contended_ > 0 && contended_-- > 0; }

  // For bytes that are split, joined and reused: nobody waits until the next user does (R12). inherit() may throw
  // std::bad_alloc, having taken over a part.
  void clip_to(byte_range where) noexcept;
  void merge(const access_history& other);
  // Whether work on `on` could start at once, for all that is known: all uses are its own, or over.
  bool is_ready_for(const timeline* on) const {
    for (const access_record& u : uses_)
      if (u.by != on && !u.by->finished(u.at)) return false;
    return true;
  }
  // The use of these bytes that their owner logged last, of those that are remembered; null if there is none.
  const access_record* last_use(byte_range where) const;
  const use_list& uses() const { return uses_; }
  bool is_contended() const { return contended_ > 0; }
  // The driver was told how some of these bytes are used (cudaMemAdvise), and should forget it before they belong to
  // another array. Split and joined with them.
  bool is_advised() const { return advised_.load(std::memory_order_relaxed); }
  void set_advised(bool yes) { advised_.store(yes, std::memory_order_relaxed); }

 private:
  static bool replaces(const timeline& by, byte_range where, bool write, const access_record& u) {
    return where.covers(u.where) && (write || (u.by == &by && !u.write));
  }
  static bool is_open(const access_record& u) { return u.at == open_ticket && u.by->pointers_end() == open_ticket; }
  // A pointer whose stream has another owner is out no more.
  static void end_open(access_record& u) {
    if (u.at == open_ticket) u.at = u.by->pointers_end() & open_ticket;
  }
  // A use that is over may be forgotten; not one whose result is lost.
  static bool is_over(const access_record& u) { return u.by->finished(u.at) && !is_lost(u); }
  static bool is_lost(const access_record& u) { return u.write && u.by->is_lost(u.at); }
  void eviction(std::size_t more);
  void revoke_exclusive() noexcept;
  // Of bytes that nobody uses: there is nobody to lock out.
  void drop_exclusive() noexcept {
    exclusive_owner_.store(nullptr, std::memory_order_relaxed);
    exclusive_uses_ = 0;
  }
  void add_another(timeline& by, ticket at, byte_range where, bool write, bool behind_others) noexcept;
  template <class Which>
  void erase_if(Which which) noexcept;
  void join_by_timeline();
  // Written with the log locked, or the timeline that keeps it.
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
  std::uint16_t inherited_ = 0;  // so many of the first uses are of earlier owners
  std::atomic<std::uint64_t> access_epoch_{1}, writes_{1};
  use_list uses_;  // newest last
  // Of bytes in use it changes with the log locked, and back to nobody with that timeline locked, too.
  std::atomic<timeline*> exclusive_owner_{nullptr};
};

}  // namespace ferry
