// A stream as a sequence of numbered work, and what is known of its progress.
//
// The rules R1 to R17 that the comments name are those of docs/ordering.md.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "ferry/core/backend.hpp"
#include "ferry/core/spin.hpp"

namespace ferry {

// Numbers the work of one timeline; never starts again. Below 2^63, so that a logged use has room for a flag.
using ticket = std::uint64_t;
// A raw pointer is out: whatever the stream is given until somebody else asks for the bytes.
inline constexpr ticket open_ticket = ~ticket{0} >> 1;
// Everything that has a number: what a broken device counts as finished.
inline constexpr ticket every_ticket = open_ticket - 1;

// Whose stream a timeline numbers.
enum class stream_origin : std::uint8_t {
  own,         // created by ferry: every submission is counted
  foreign,     // the user's: marked after each submission, so that the stream itself may go away
  on_the_spot  // legacy and per-thread default streams: their handle means something else in another thread
};

class timelines;

// Outlives the native stream. All members may be called from any thread.
class alignas(64) timeline {
 public:
  timeline(timelines& family, unsigned id, int device, int priority, native_stream stream, stream_origin origin);
  ~timeline();
  timeline(const timeline&) = delete;
  timeline& operator=(const timeline&) = delete;

  unsigned id() const { return id_; }
  int device() const { return device_; }
  int priority() const { return priority_; }
  stream_origin origin() const { return origin_; }
  native_stream stream() const { return stream_; }
  timelines& family() const { return family_; }
  bool marks_always() const { return origin_ != stream_origin::own; }

  // The greatest ticket that was given to the stream.
  ticket last() const { return last_.load(std::memory_order_acquire); }
  // Whether ticket t is known to be over; says no when nobody has looked.
  bool finished(ticket t) const { return t <= finished_.load(std::memory_order_acquire); }
  // Whether the device broke before ticket t was known to be over: it counts as over, and what it wrote is unknown.
  bool is_lost(ticket t) const { return t > intact_.load(std::memory_order_acquire); }

  // Locks the next ticket and the logs that this timeline keeps (access_log::is_kept_by), for some instructions: under it
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
  void begin(ticket t) const { given(t - 1); }
  void submitted(ticket t) { last_.store(t, std::memory_order_release); }
  // Calls give() in a turn of its own, for work that has no log: it is in no capture of another thread. Throws like
  // refuse_rest().
  template <class Give>
  void in_turn(Give give) {
    const turn mine(*this);
    refuse_rest();
    give();
  }
  // A ticket for all that was given to the stream until now, whether ferry saw it or not.
  ticket close();
  // Records an event behind all that was submitted, so that nobody needs to wait for what comes later.
  void mark();

  // Orders all later work here behind ticket t of other. The CPU does not wait. At most one event wait.
  void follow(timeline& other, ticket t);
  // Blocks the calling thread until ticket t is over; what t had to wait for is over too. Throws when the device breaks
  // meanwhile; broken before, everything counts as over.
  void wait(ticket t);
  // The same for somebody who needs what t wrote: throws device_error whenever that is lost.
  void need(ticket t);
  [[noreturn]] void throw_lost(std::string_view what) const;
  // Whether ticket t is over, by asking the device. Never blocks.
  bool poll(ticket t);
  // The same, and if so the driver's pools learn it: queries tell them nothing, waits do. Never blocks. May say no though t
  // is over, where its mark was used again for later work.
  bool tell_driver(ticket t);
  // Blocks the calling thread until all that the stream was given is over, seen by ferry or not.
  void synchronize();
  // Whether the stream has nothing left to do. Never blocks.
  bool is_done();

  // A device that is broken never finishes: from now on everything counts as complete, and gets no more work.
  void give_up();
  // Makes room to know `count` timelines; called when one is created, so that submissions never allocate.
  void expect_timelines(std::size_t count);
  // Whoever holds the native handle may begin a capture behind ferry's back: submissions ask from now on.
  void expose() { flags_.fetch_or(exposed, std::memory_order_relaxed); }
  // The foreign stream is about to go away: what it was given is marked, and it is never touched again.
  void release() { rest(released); }
  // The stream enters a capture: what it was given is marked, and the others leave it alone until it comes back.
  void enter_capture() { rest(captured); }
  void leave_capture() { flags_.fetch_and(~captured, std::memory_order_release); }
  bool is_released() const { return flags_.load(std::memory_order_relaxed) & released; }
  // Work given here never changes contents, and CPU threads wait for each other there: the CPU's accesses need not wait
  // for it. Those who take the bytes away do.
  void serve() { flags_.fetch_or(serving, std::memory_order_relaxed); }
  bool serves() const { return flags_.load(std::memory_order_relaxed) & serving; }
  bool is_captured() const { return flags_.load(std::memory_order_relaxed) & captured; }
  bool is_broken() const { return flags_.load(std::memory_order_relaxed) & broken; }
  // Whether it is given nothing any more, or not now. Asked again by whoever has its turn: what let the stream rest took
  // a turn too, so that nothing slips in behind it.
  bool is_resting() const { return flags_.load(std::memory_order_acquire) & (released | captured); }
  // Throws invalid_argument when it is at rest.
  void refuse_rest() const;
  // Throws device_error when its device is broken.
  void refuse_broken() const;
  // Whether a submission must look at any of this first: one load on the hot path.
  bool is_special() const { return flags_.load(std::memory_order_relaxed) != 0; }

 private:
  struct fact {  // events covering ticket `since` come after ticket `behind` of `of`
    ticket behind = 0, since = 0;
    timeline* of = nullptr;
  };
  struct mark_type {  // the event comes after all tickets up to `covers`
    ticket covers = 0;
    native_event event;
    int waiting = 0;  // threads of the CPU that poll it: not re-recorded meanwhile
  };
  struct pinned_mark;
  struct turn {
    explicit turn(timeline& t) : of(t), at(t.reserve()) { of.begin(at); }
    ~turn() { of.submitted(at); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    timeline& of;
    const ticket at;
  };
  void given(ticket t) const {
    if (last() < t) [[unlikely]]
      wait_until_given(t);
  }
  void wait_until_given(ticket t) const;
  void rest(unsigned why);
  void learn(timeline& of, ticket behind);
  std::span<const fact> facts() const { return {known_.data(), known_end_}; }
  mark_type cover(ticket t);
  mark_type record(ticket covers);
  void pin(const mark_type& m, int by) {
    for (mark_type& k : marks_)
      if (k.event.handle == m.event.handle) k.waiting += by;
  }
  void finish(ticket covers);
  static void raise(std::atomic<ticket>& a, ticket to) {
    for (ticket now = a.load(std::memory_order_relaxed); now < to && !a.compare_exchange_weak(now, to);) {
    }
  }

  template <class Verb>
  auto or_give_up(Verb verb);
  timelines& family_;
  backend& verbs_;
  const unsigned id_;
  const int device_, priority_;
  native_stream stream_;
  const stream_origin origin_;
  static constexpr unsigned exposed = 1, released = 2, captured = 4, serving = 8, broken = 16;
  std::atomic<unsigned> flags_;
  // What every submission writes, apart from what the others read: a thread that shares an input with this one looks at
  // `finished_`, and would else take the line away each time.
  alignas(64) spin_lock tickets_;
  ticket reserved_ = 0;
  std::atomic<ticket> last_{0};
  alignas(64) std::atomic<ticket> finished_{0};
  std::atomic<ticket> intact_{open_ticket};  // what was over when the device broke
  alignas(64) spin_lock mutex_;              // marks_, newest_, known_
  std::size_t newest_ = 0;
  std::vector<fact> known_;          // by id
  std::size_t known_end_ = 0;        // from here on nothing was learnt
  std::array<mark_type, 16> marks_;  // a ring, re-recorded on this timeline only (R6)
};

}  // namespace ferry
