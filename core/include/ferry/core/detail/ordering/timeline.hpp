// A stream as a sequence of numbered work, and what is known of its progress.
//
// The rules R1 to R19 that the comments name are those of docs/ordering.md.
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
#include "ferry/core/detail/support/spin.hpp"

namespace ferry {

// Numbers the work of one timeline; never starts again. Below 2^63, so that a logged use has room for a flag.
using ticket = std::uint64_t;
// A raw pointer is out: whatever the stream is given until somebody else asks for the bytes.
inline constexpr ticket open_ticket = ~ticket{0} >> 1;
// Everything that has a number: what a broken device counts as finished.
inline constexpr ticket every_ticket = open_ticket - 1;

// Whose stream a timeline numbers.
enum class stream_origin : std::uint8_t {
  own,            // created by ferry: every submission is counted
  foreign,        // the user's: marked after each submission, so that the stream itself may go away
  default_stream  // legacy and per-thread default streams: their handle means something else in another thread
};

class timelines;

// Outlives the native stream. All members may be called from any thread.
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

  // The greatest ticket that was given to the stream.
  ticket last() const { return last_.load(std::memory_order_acquire); }
  // Whether ticket t is known to be over; says no when nobody has looked.
  bool finished(ticket t) const { return t <= finished_.load(std::memory_order_acquire); }
  // True if what ticket t wrote is unknown (R19): its device failed before t was known to be over, or t may have read bytes
  // that are lost. An open use is lost with any other work that may have come after its pointer was taken.
  bool is_lost(ticket t) const { return loss_count_.load(std::memory_order_acquire) != 0 && lost_by(t) >= 0; }
  // The device whose failure ticket t is lost by; -1 if t is not lost.
  int lost_by(ticket t) const;

  // Locks the next ticket and the logs that this timeline keeps (access_history::is_exclusive_to), for some instructions: under it
  // nothing else is locked, and nobody waits.
  void lock() { tickets_.lock(); }
  void unlock() { tickets_.unlock(); }
  // The next ticket, with the timeline locked.
  ticket reserve_locked() { return ++reserved_; }
  // Work goes to the stream in the order of its tickets: reserve, begin (waits for its turn), submitted.
  ticket reserve() {
    std::lock_guard mine(*this);
    return reserve_locked();
  }
  void begin(ticket t) const { wait_for_turn(t - 1); }
  void submitted(ticket t) { last_.store(t, std::memory_order_release); }
  // Calls give() in a turn of its own, for work that has no log: it is in no capture of another thread. Throws like
  // refuse_quiesced().
  template <class Give>
  void in_turn(Give enqueue) {
    const turn mine(*this);
    refuse_quiesced();
    enqueue();
  }
  // A ticket for all that was given to the stream until now, whether ferry saw it or not.
  ticket fence();
  // Records an event behind all that was submitted, so that nobody needs to wait for what comes later.
  void record_event();

  // Orders all later work here behind ticket t of other. The CPU does not wait. At most one event wait. reads: the work may
  // use what t wrote, so that it is lost with t (R19).
  void wait_on(timeline& other, ticket t, bool reads);
  // For work that is being submitted here, and that another device takes part in: lost if that fails before it is over.
  void depend_on_device(int device);
  // Room for one more dependence on others: what may throw comes before a ticket is reserved (R15).
  void reserve_dependence();
  // For an operation of several streams with ticket `at` here: it is lost with the part of another stream. devices: of
  // all parts, and those that they may depend on. reserve_dependence() came before.
  // seen: so many failures were known before the tickets were taken.
  void depend_on_part(ticket at, timeline& of, ticket part, std::uint64_t devices, unsigned seen) noexcept;
  // The devices that the work here may depend on, as bits: its own, and others.
  std::uint64_t devices_needed();
  // Blocks the calling thread until ticket t is over; what t had to wait for is over too. Throws when the device breaks
  // meanwhile; broken before, everything counts as over.
  void wait(ticket t);
  // The same for somebody who needs what t wrote: throws device_error whenever that is lost.
  void wait_checked(ticket t);
  [[noreturn]] void throw_lost(std::string_view what, ticket t) const;
  // Whether ticket t is over, by asking the device. Never blocks.
  bool poll(ticket t);
  // The same, and if so the driver's pools learn it: queries tell them nothing, waits do. Never blocks. May say no though t
  // is over, where its mark was used again for later work.
  bool poll_for_pools(ticket t);
  // Blocks the calling thread until all that the stream was given is over, seen by ferry or not.
  void synchronize();
  // Whether the stream has nothing left to do. Never blocks.
  bool is_done();

  // A device that is broken never finishes: from now on everything counts as complete, and gets no more work.
  void fail(unsigned number);
  // Loses the work here that may have read lost bytes; number: of the failure. Returns whether anything became lost. Called
  // with the list of timelines locked.
  bool spread_losses(unsigned number, std::uint64_t failed_devices);
  // For work with ticket t that was ordered when `seen` failures were known: lost with what later ones spoilt here.
  void lose_late(ticket t, unsigned seen) noexcept;
  // Asks the device of this timeline whether it has failed; throws device_error if so. Never blocks.
  void ask_device();
  // Makes room to know `count` timelines; called when one is created, so that submissions never allocate.
  void reserve_timelines(std::size_t count);
  // Whoever holds the native handle may begin a capture behind ferry's back: submissions ask from now on.
  void expose() { flags_.fetch_or(exposed, std::memory_order_relaxed); }
  // The foreign stream is about to go away: what it was given is marked, and it is never touched again.
  void release() { quiesce(released); }
  // The stream enters a capture: what it was given is marked, and the others leave it alone until it comes back.
  void enter_capture() { quiesce(captured); }
  // The capture cannot be ended: what is given from now on goes to another native stream, behind what the old one was given
  // before the capture. The old one is destroyed now, or with the timeline if the program may hold its handle. Only for
  // streams of ferry, in a capture. Throws what the backend throws.
  void replace_captured_stream();
  void leave_capture() { flags_.fetch_and(~captured, std::memory_order_release); }
  bool is_released() const { return flags_.load(std::memory_order_relaxed) & released; }
  // Work given here never changes contents, and CPU threads wait for each other there: the CPU's accesses need not wait
  // for it. Those who take the bytes away do.
  void mark_migration_only() { flags_.fetch_or(migration_only, std::memory_order_relaxed); }
  bool is_migration_only() const { return flags_.load(std::memory_order_relaxed) & migration_only; }
  bool is_captured() const { return flags_.load(std::memory_order_relaxed) & captured; }
  bool is_broken() const { return flags_.load(std::memory_order_relaxed) & broken; }
  // Whether some of its work is lost because another device failed. It takes new work, of bytes that are not lost.
  bool is_damaged() const { return flags_.load(std::memory_order_relaxed) & damaged; }
  // Damaged, and a raw pointer had been taken here: what goes through it is not seen, so the stream takes no more work.
  bool is_lost_for_good() const { return is_damaged() && loses_all_later(); }
  // A raw pointer is about to be taken here.
  void note_pointer() { pointers_end_.store(open_ticket); }
  // What an open use here stands for: open_ticket while the stream has an owner who took a pointer, else the ticket that closed
  // all of them.
  bool has_pointers() const { return pointers_end_.load() == open_ticket; }
  ticket pointers_end() const { return pointers_end_.load(); }
  // The owner gives the stream back: nothing that it is given later uses the pointers that were taken here.
  void end_pointers();
  // Whether it is given nothing any more, or not now. Asked again by whoever has its turn: what let the stream rest took
  // a turn too, so that nothing slips in behind it.
  bool is_quiesced() const { return flags_.load(std::memory_order_acquire) & (released | captured); }
  // Whether a submission that has its turn must look at the stream again.
  bool needs_recheck() const { return flags_.load(std::memory_order_acquire) & (released | captured | damaged); }
  // Throws invalid_argument when it is at rest.
  void refuse_quiesced() const;
  // Throws device_error when its device is broken.
  void refuse_broken() const;
  // Whether a submission must look at any of this first: one load on the hot path.
  bool is_special() const { return flags_.load(std::memory_order_relaxed) != 0; }

 private:
  struct clock_entry {  // events covering ticket `since` come after ticket `behind` of `of`
    ticket behind = 0, since = 0;
    timeline* of = nullptr;
    ticket owed = 0;  // dependences on tickets up to here are noted
  };
  // Tickets from `since` on may have read what ticket `behind` of `of` wrote, or, without `of`, what the device did. All of it
  // is over well when ticket `latest` is.
  struct dependence {
    ticket since, latest, behind;
    timeline* of;
    int device;
    unsigned seen;  // so many failures were known, and what was read was not lost by them
  };
  struct loss {  // only grows; `device` is set once, before the entry is counted
    std::atomic<ticket> first{0}, last{0};
    std::atomic<unsigned> number{0};  // of the failure
    int device = 0;
  };
  struct recorded_event {  // the event comes after all tickets up to `covers`
    ticket covers = 0;
    native_event event;
    int waiting = 0;  // threads of the CPU that poll it: not re-recorded meanwhile
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
  // The device whose failure lost ticket `behind` or an earlier one, of the failures that were not known to who read its bytes;
  // -1 if there is none.
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
  ferry::backend& backend_;
  const unsigned id_;
  const int device_, priority_;
  native_stream stream_;
  const stream_origin origin_;
  static constexpr unsigned exposed = 1, released = 2, captured = 4, migration_only = 8, broken = 16, damaged = 32;
  static constexpr std::size_t usual_dependences = 32;  // above that they are joined by timeline
  std::atomic<unsigned> flags_;
  // What every submission writes, apart from what the others read: a thread that shares an input with this one looks at
  // `finished_`, and would else take the line away each time.
  alignas(64) spin_lock tickets_;
  ticket reserved_ = 0;
  std::atomic<ticket> last_{0};
  alignas(64) std::atomic<ticket> finished_{0};
  std::atomic<unsigned> loss_count_{0};
  std::array<loss, 4> losses_;  // one for each failure that spoilt work here; the last stands for all further ones
  std::atomic<ticket> pointers_end_{0};
  alignas(64) spin_lock mutex_;  // all that follows
  std::size_t newest_ = 0;
  std::vector<clock_entry> clock_;         // by id
  std::size_t clock_end_ = 0;              // from here on nothing was learnt
  std::array<recorded_event, 16> events_;  // a ring, re-recorded on this timeline only (R6)
  std::vector<native_stream> replaced_;
  std::vector<dependence> dependences_;
  std::size_t most_dependences_ = usual_dependences;
  std::uint64_t suspects_ = 0;  // devices whose failure may have spoilt work here that is not known to be over
  ticket suspects_since_ = 0;   // no later ticket has added any
};

}  // namespace ferry
