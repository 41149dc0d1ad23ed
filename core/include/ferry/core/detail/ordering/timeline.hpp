// A stream as a sequence of numbered work, with its known progress.
//
// The rules R1 to R19 in comments are those of docs/ordering.md.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/spin.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Sequence number of work on one timeline; never restarts. Below 2^63, so that an access record has room for a flag.
using ticket = std::uint64_t;
// Ticket of an unbounded access by a raw pointer: all work enqueued to the stream until the next access elsewhere.
inline constexpr ticket open_ticket = ~ticket{0} >> 1;
// All numbered work; used to mark the work of a failed device as complete.
inline constexpr ticket every_ticket = open_ticket - 1;

// Origin of the stream of a timeline.
enum class stream_origin : std::uint8_t {
  own,            // created by ferry: every submission is counted
  foreign,        // of the program: an event is recorded after each submission, because the stream may be destroyed
  default_stream  // legacy and per-thread default streams: the handle means another stream in another thread
};

class timelines;

// Stream timeline. Outlives the native stream. Thread-safe.
class alignas(64) timeline {
 public:
  timeline(timelines& registry, unsigned id, int device, int priority, native_stream stream, stream_origin origin);
  ~timeline();
  timeline(const timeline&) = delete;
  timeline& operator=(const timeline&) = delete;

  unsigned id() const { return id_; }
  int device() const { return device_; }
  int priority() const { return priority_; }
  stream_origin origin() const { return origin_; }
  native_stream stream() const { return stream_; }
  timelines& registry() const { return registry_; }
  bool records_always() const { return origin_ != stream_origin::own; }

  // Greatest ticket that is enqueued to the stream.
  ticket last() const { return last_.load(std::memory_order_acquire); }
  // True if ticket t is known to be complete. Conservative: false until a query or wait has observed completion.
  bool finished(ticket t) const { return t <= finished_.load(std::memory_order_acquire); }
  // True if the results of ticket t are unknown (R19). Either its device failed before t was known to be complete, or t
  // may have read lost bytes. An unbounded access is lost with any other work that may have come after its pointer was
  // taken.
  bool is_lost(ticket t) const { return loss_count_.load(std::memory_order_acquire) != 0 && lost_by(t) >= 0; }
  // The device whose failure lost ticket t; -1 if t is not lost.
  int lost_by(ticket t) const;

  // Locks the next ticket, and the histories that this timeline owns exclusively (access_history::is_exclusive_to).
  // Hold it for a few instructions only: take no other lock and do not wait under it.
  void lock() { tickets_.lock(); }
  void unlock() { tickets_.unlock(); }
  // The next ticket. Requires the lock.
  ticket reserve_locked() { return ++reserved_; }
  // Work is enqueued in ticket order: reserve(), begin() (waits for the slot of the ticket), enqueue, submitted().
  ticket reserve() {
    std::lock_guard mine(*this);
    return reserve_locked();
  }
  void begin(ticket t) const { wait_for_turn(t - 1); }
  void submitted(ticket t) { last_.store(t, std::memory_order_release); }
  // Calls enqueue() in its own submission slot, for work without accesses. The work joins no capture of another thread.
  // Throws as refuse_quiesced().
  template <class Give>
  void in_turn(Give enqueue) {
    const turn mine(*this);
    refuse_quiesced();
    enqueue();
  }
  // Returns a ticket for all work enqueued so far, including work that ferry does not track.
  ticket fence();
  // Records an event after all enqueued work, so that waits do not cover later work.
  void record_event();

  // Makes all later work here wait for ticket t of other. Never blocks. Uses at most one event wait. reads: the work
  // may use results of t, so that it is lost with t (R19).
  void wait_on(timeline& other, ticket t, bool reads);
  // Adds a device to the current submission here: the work is lost if that device fails before it is complete.
  void depend_on_device(int device);
  // Reserves room for one more dependence. Called before a ticket is reserved, because it may throw (R15).
  void reserve_dependence();
  // For a joint operation of several streams, with ticket `at` here: it is lost with the part of another stream.
  // devices: those of all parts and of their dependences. Requires an earlier reserve_dependence(). seen: number of
  // known failures before the tickets were reserved.
  void depend_on_part(ticket at, timeline& of, ticket part, std::uint64_t devices, unsigned seen) noexcept;
  // Bit mask of the devices that work here may depend on, including its own.
  std::uint64_t devices_needed();
  // Blocks until ticket t is complete. Then the work that t waited for is complete too. Throws if the device fails
  // meanwhile. If it failed before, all work counts as complete.
  void wait(ticket t);
  // As wait(), for callers that need the results of t: throws device_error if they are lost, and host_task_error if a
  // host task threw.
  void wait_checked(ticket t);
  [[noreturn]] void throw_lost(std::string_view what, ticket t) const;
  // True if ticket t is complete; queries the device. Never blocks.
  bool poll(ticket t);
  // As poll(). If complete, also waits for the event, because the driver's pools learn completion from waits, not
  // queries. Never blocks. May return false for a complete ticket whose event was re-recorded.
  bool poll_for_pools(ticket t);
  // Blocks until all work of the stream is complete, whether ferry tracks it or not.
  void synchronize();
  // True if all work of the stream is complete. Never blocks.
  bool is_done();

  // Marks the timeline of a failed device: all its work counts as complete, and it refuses new work.
  void fail(unsigned number);
  // Marks the work here that may have read lost bytes as lost. number: of the failure. Returns true if this changed
  // anything. Requires the lock of the list of timelines.
  bool spread_losses(unsigned number, std::uint64_t failed_devices);
  // For ticket t, which was ordered when `seen` failures were known: marks it lost if a later failure affects it.
  void lose_late(ticket t, unsigned seen) noexcept;
  // Queries whether the device of this timeline has failed; throws device_error if so. Never blocks.
  void ask_device();
  // Makes room for clock entries of `count` timelines. Called when one is created, so that submissions never allocate.
  void reserve_timelines(std::size_t count);
  // The native handle has escaped, so a capture may start outside ferry. Every submission from now on checks for one.
  void expose() { flags_.fetch_or(exposed, std::memory_order_relaxed); }
  // The foreign stream is about to be destroyed: records an event after its work and never uses the stream again.
  void release() { quiesce(released); }
  // The stream enters a capture: records an event after its work. Submissions outside the capture are refused until
  // leave_capture().
  void enter_capture() { quiesce(captured); }
  // Replaces the native stream after a capture that cannot be ended. Work enqueued later goes to the new stream, after
  // the old stream's work from before the capture. The old stream is destroyed now, or with the timeline if the program
  // may hold its handle. Only for ferry's own streams, in a capture. Throws as the backend.
  void replace_captured_stream();
  void leave_capture() { flags_.fetch_and(~captured, std::memory_order_release); }
  bool is_released() const { return flags_.load(std::memory_order_relaxed) & released; }
  // Migration-only stream: it moves pages but never changes data, so host accesses need not wait for it. Host threads
  // wait for each other's work there. Reclaiming the bytes does wait for it.
  void mark_migration_only() { flags_.fetch_or(migration_only, std::memory_order_relaxed); }
  bool is_migration_only() const { return flags_.load(std::memory_order_relaxed) & migration_only; }
  bool is_captured() const { return flags_.load(std::memory_order_relaxed) & captured; }
  bool is_broken() const { return flags_.load(std::memory_order_relaxed) & broken; }
  // True if some of its work is lost by the failure of another device. It accepts new work on bytes that are not lost.
  bool is_damaged() const { return flags_.load(std::memory_order_relaxed) & damaged; }
  // True if damaged and a raw pointer was taken here. Accesses through it are not tracked, so the stream refuses new
  // work.
  bool is_lost_for_good() const { return is_damaged() && loses_all_later(); }
  // Called before a raw pointer is taken here.
  void note_pointer() { pointers_end_.store(open_ticket); }
  // pointers_end(): the end of unbounded accesses here. open_ticket while the stream's current owner has taken a
  // pointer, else the ticket that closed all of them.
  bool has_pointers() const { return pointers_end_.load() == open_ticket; }
  ticket pointers_end() const { return pointers_end_.load(); }
  // The owner returns the stream: later work does not use the pointers that were taken here.
  void end_pointers();
  // True while the stream is released or captured. Re-check after acquiring the submission slot: quiesce() takes a slot
  // too, so no work follows it unnoticed.
  bool is_quiesced() const { return flags_.load(std::memory_order_acquire) & (released | captured); }
  // True if a submission must re-check the stream after it has acquired its slot.
  bool needs_recheck() const { return flags_.load(std::memory_order_acquire) & (released | captured | damaged); }
  // Throws invalid_argument if the stream is quiesced.
  void refuse_quiesced() const;
  // Throws device_error if its device has failed.
  void refuse_broken() const;
  // True if any flag is set, and a submission must check them. One load on the hot path.
  bool is_special() const { return flags_.load(std::memory_order_relaxed) != 0; }

 private:
  // Events that cover ticket `since` come after ticket `behind` of `of`.
  struct clock_entry {
    ticket behind = 0, since = 0;
    timeline* of = nullptr;
    ticket owed = 0;  // dependences are recorded for tickets up to here
  };
  // Tickets from `since` on may have read results of ticket `behind` of `of`; without `of`, results of the device. All
  // of them are complete when ticket `latest` is complete without failure.
  struct dependence {
    ticket since, latest, behind;
    timeline* of;
    int device;
    unsigned seen;  // number of known failures by which the data read was not lost
  };
  struct loss {  // grows only; `device` is set once, before the entry is counted
    std::atomic<ticket> first{0}, last{0};
    std::atomic<unsigned> number{0};  // of the failure
    int device = 0;
  };
  struct recorded_event {  // comes after all tickets up to `covers`
    ticket covers = 0;
    native_event event;
    int waiting = 0;  // CPU threads that poll the event; it is not re-recorded meanwhile
  };
  struct pinned_event;
  struct turn {
    explicit turn(timeline& t) : of(t), at(t.reserve()) { of.begin(at); }
    ~turn() { of.submitted(at); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    timeline& of;
    const ticket at;
  };
  void wait_for_turn(ticket t) const {
    if (last() < t) [[unlikely]]
      wait_for_turn_slow(t);
  }
  void wait_for_turn_slow(ticket t) const;
  void quiesce(unsigned why);
  void merge_clock(timeline& of, ticket behind);
  std::span<const clock_entry> clock() const { return {clock_.data(), clock_end_}; }
  recorded_event cover(ticket t);
  recorded_event record(ticket covers);
  void pin(const recorded_event& m, int by) {
    for (recorded_event& k : events_)
      if (k.event.handle == m.event.handle) k.waiting += by;
  }
  void finish(ticket covers);
  void depend(timeline& of, ticket t);
  void note_suspects(std::uint64_t devices, ticket since) {
    suspects_ |= devices;
    suspects_since_ = std::max(suspects_since_, since);
  }
  void make_room_for_dependence();
  void join_dependences();
  // The device whose failure lost ticket `behind` or an earlier one, among failures after the first `seen`; -1 if there
  // is none.
  int was_lost(ticket behind, unsigned seen) const;
  bool add_loss(ticket first, ticket last, int device, unsigned number) noexcept;
  bool loses_all_later() const;
  static bool raise(std::atomic<ticket>& a, ticket to) {
    for (ticket now = a.load(std::memory_order_relaxed); now < to;)
      if (a.compare_exchange_weak(now, to)) return true;
    return false;
  }
  static bool lower(std::atomic<ticket>& a, ticket to) {
    for (ticket now = a.load(std::memory_order_relaxed); now > to;)
      if (a.compare_exchange_weak(now, to)) return true;
    return false;
  }

  template <class Verb>
  auto or_fail(Verb verb);
  timelines& registry_;
  backend& backend_;
  const unsigned id_;
  const int device_, priority_;
  native_stream stream_;
  const stream_origin origin_;
  static constexpr unsigned exposed = 1, released = 2, captured = 4, migration_only = 8, broken = 16, damaged = 32;
  static constexpr std::size_t usual_dependences = 32;  // with more, those of the same timeline are merged
  std::atomic<unsigned> flags_;
  // Written by every submission, so in a separate cache line from the following members. Threads that share an input
  // with this one read `finished_`, and would otherwise take the line away each time.
  alignas(64) spin_lock tickets_;
  ticket reserved_ = 0;
  std::atomic<ticket> last_{0};
  alignas(64) std::atomic<ticket> finished_{0};
  std::atomic<unsigned> loss_count_{0};
  std::array<loss, 4> losses_;  // one for each failure that damaged work here; the last one stands for all further ones
  std::atomic<ticket> pointers_end_{0};
  alignas(64) spin_lock mutex_;  // guards the members below
  std::size_t newest_ = 0;
  std::vector<clock_entry> clock_;         // by id
  std::size_t clock_end_ = 0;              // end of the entries in use
  std::array<recorded_event, 16> events_;  // ring, re-recorded on this timeline only (R6)
  std::vector<native_stream> replaced_;
  std::vector<dependence> dependences_;
  std::size_t most_dependences_ = usual_dependences;
  std::uint64_t suspects_ = 0;  // devices whose failure may have damaged work here that is not known to be complete
  ticket suspects_since_ = 0;   // last ticket that added devices
};

}  // namespace ferry::inline FERRY_ABI::detail
