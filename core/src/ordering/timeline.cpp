#include "ferry/core/detail/ordering/timeline.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// For calls whose errors are ignored: a failed device reports an error even for calls that it has completed.
template <class Verb>
void ignoring_errors(Verb verb) noexcept {
  try {
    verb();
  } catch (const error&) {
  }
}

}  // namespace

// After a sticky device error no event completes. The first thread to see it marks all of the device's timelines as
// failed.
template <class Verb>
auto timeline::or_fail(Verb verb) {
  try {
    return verb();
  } catch (const device_error& e) {
    if (e.is_sticky()) registry_.fail(device_, plain_what(e));
    throw;
  }
}

// An event that covers a ticket. It is pinned: while a thread waits for it, it is not re-recorded for later work.
struct timeline::pinned_event {
  pinned_event(timeline& l, ticket t) : of(l) {
    std::lock_guard lock(of.mutex_);
    is = of.cover(t);
    of.pin(is, +1);
  }
  ~pinned_event() {
    std::lock_guard lock(of.mutex_);
    of.pin(is, -1);
  }
  pinned_event(const pinned_event&) = delete;
  pinned_event& operator=(const pinned_event&) = delete;
  timeline& of;
  recorded_event is;
};

timeline::timeline(timelines& registry, unsigned id, int device, int priority, native_stream stream,
                   stream_origin origin)
    : registry_(registry),
      backend_(registry.backend()),
      id_(id),
      device_(device),
      priority_(priority),
      stream_(stream),
      origin_(origin),
      flags_(origin == stream_origin::own ? 0 : exposed) {
  try {
    for (recorded_event& m : events_) m.event = backend_.create_event(device, false);
  } catch (...) {
    for (recorded_event& m : events_)
      if (m.event.handle) backend_.destroy_event(m.event);
    throw;
  }
}

timeline::~timeline() {
  for (recorded_event& m : events_) ignoring_errors([&] { backend_.destroy_event(m.event); });
  for (const native_stream s : replaced_) ignoring_errors([&] { backend_.destroy_stream(s); });
  if (origin_ == stream_origin::own) ignoring_errors([&] { backend_.destroy_stream(stream_); });
}

void timeline::wait_for_turn_slow(ticket t) const {
  give_way_until([&] { return last() >= t; });
}

ticket timeline::fence() {
  if (is_quiesced()) return last();  // nothing was enqueued after its last event
  const ticket t = reserve();
  begin(t);
  submitted(t);
  return t;
}

void timeline::record_event() {
  or_fail([&] {
    std::lock_guard lock(mutex_);
    if (!is_quiesced()) record(last());  // otherwise the last event covers all enqueued work
  });
}

void timeline::wait_on(timeline& other, ticket t, bool reads) {
  if (&other == this || other.finished(t)) return;
  other.wait_for_turn(t);
  const auto go = [&](bool& recording) {
    std::scoped_lock both(mutex_, other.mutex_);
    if (is_quiesced()) refuse_quiesced();  // the wait would become part of the capture
    const bool depends = reads && (other.device_ != device_ || !other.dependences_.empty());
    if (depends) make_room_for_dependence();
    if (clock_[other.id_].behind < t) {
      recording = true;
      const recorded_event m = other.cover(t);
      recording = false;
      backend_.wait(stream_, m.event);
      merge_clock(other, m.covers);
      for (const clock_entry& f : other.clock())  // R4: only what was known when the event was recorded
        if (f.of && f.since <= m.covers && f.of != this) merge_clock(*f.of, f.behind);
      if (other.device_ != device_ || other.suspects_ != 0)
        note_suspects(timelines::device_bit(other.device_) | other.suspects_, last() + 1);
    }
    if (depends) depend(other, t);
  };
  bool recording = false;  // on the other stream: then the other device has failed
  try {
    go(recording);
  } catch (const device_error& e) {
    if (e.is_sticky()) registry_.fail(recording ? other.device_ : device_, plain_what(e));
    throw;
  }
}

void timeline::wait(ticket t) {
  if (finished(t)) return;
  wait_for_turn(t);
  or_fail([&] {
    ticket covers = 0;
    {
      const pinned_event m(*this, t);
      backend_.synchronize(m.is.event);
      covers = m.is.covers;
    }
    finish(covers);
  });
}

void timeline::wait_checked(ticket t) {
  wait(t);
  if (is_lost(t)) throw_lost("its result", t);
  registry_.raise_task_failures();
}

void timeline::throw_lost(std::string_view what, ticket t) const {
  const int device = lost_by(t);
  const std::string failed = concat("device ", device);
  throw device_error(concat(what, " is lost: ",
                            device == device_ ? failed + " failed before its work on that was known to be complete"
                                              : concat("work of device ", device_, " may have read what ", failed,
                                                       " wrote, which failed before that was known to be complete"),
                            ". Make a new array on another device. The failure: ", registry_.failure_of(device)));
}

void timeline::refuse_quiesced() const {
  if (is_released())
    throw invalid_argument("work was submitted to a stream that was released: call stream_ref::from_native again");
  if (is_captured())
    throw invalid_argument(
        "work was submitted to a stream that another thread is capturing: use a stream of this thread");
}

void timeline::refuse_broken() const {
  if (is_broken())
    throw device_error(concat(
        "device ", device_,
        " has failed, and its streams do no more work: use another device, or start the program again. The failure: ",
        registry_.failure_of(device_)));
}

bool timeline::poll(ticket t) {
  if (finished(t)) return true;
  if (last() < t) return false;
  return or_fail([&] {
    recorded_event m;
    {
      std::lock_guard lock(mutex_);
      m = cover(t);
    }
    if (!backend_.is_done(m.event)) return false;
    finish(m.covers);
    return true;
  });
}

bool timeline::poll_for_pools(ticket t) {
  if (last() < t || is_broken()) return false;
  return or_fail([&] {
    {
      std::lock_guard lock(mutex_);
      if (events_[newest_].covers < t && finished(t)) return false;  // do not record an event only to query it
    }
    const pinned_event m(*this, t);
    if (!backend_.is_done(m.is.event)) return false;
    backend_.synchronize(m.is.event);
    finish(m.is.covers);
    return true;
  });
}

// Waits for an event behind all enqueued work, because the stream itself may enter a capture of another thread
// meanwhile.
void timeline::synchronize() {
  refuse_broken();
  if (origin_ != stream_origin::default_stream) return wait_checked(fence());
  or_fail([&] { backend_.synchronize(stream_); });  // in this thread the handle may name another stream
  wait_checked(last());                             // work submitted through ferry has recorded events
}

bool timeline::is_done() {
  refuse_inside_host_task("query a stream");
  const ticket covers = last();
  bool done = false, asked = false;
  or_fail([&] {
    std::lock_guard lock(mutex_);  // excludes the begin of a capture: a query would invalidate it
    if (is_quiesced()) return;
    asked = true;
    done = backend_.is_done(stream_);
  });
  if (!asked || (done && origin_ == stream_origin::default_stream)) return poll(covers);
  if (done) finish(covers);
  return done;
}

// Work counts as intact only if no device that it depends on has failed. These devices are queried after the work
// completed: an earlier failure would show in the answer (R19).
void timeline::finish(ticket covers) {
  std::uint64_t ask = 0;
  {
    std::lock_guard lock(mutex_);
    ask = suspects_;
  }
  if (ask != 0) registry_.look_at(ask);
  std::lock_guard lock(mutex_);
  raise(finished_, covers);
  for (const clock_entry& f : clock())
    if (f.of && f.since <= covers) raise(f.of->finished_, f.behind);
  if (ask == 0) return;
  std::erase_if(dependences_, [&](const dependence& d) { return d.latest <= covers; });
  if (suspects_since_ <= covers) suspects_ = 0;
}

void timeline::reserve_timelines(std::size_t count) {
  std::lock_guard lock(mutex_);
  if (clock_.size() < count) clock_.resize(count);
}

// Records the last event, which covers all enqueued work. Afterwards no event is recorded on the stream. Takes a turn:
// work of other threads comes before the event, or sees the flag when its turn comes.
void timeline::quiesce(unsigned why) {
  const turn mine(*this);
  or_fail([&] {
    std::lock_guard lock(mutex_);
    if (why == captured) refuse_quiesced();               // two threads capture the stream concurrently
    if (!is_quiesced() && !is_broken()) record(mine.at);  // no other work has this ticket
    flags_.fetch_or(why, std::memory_order_release);
  });
}

// Orders the new stream behind the last event before the capture, which covers all work of the old one. The old stream
// may stay in its capture until it is destroyed; nothing else can be done with it.
void timeline::replace_captured_stream() {
  const native_stream fresh = backend_.create_stream(device_, priority_);
  native_stream old;
  try {
    std::lock_guard lock(mutex_);
    replaced_.reserve(replaced_.size() + 1);
    backend_.wait(fresh, events_[newest_].event);
    old = std::exchange(stream_, fresh);
    if (flags_.load(std::memory_order_relaxed) & exposed) {
      replaced_.push_back(old);
      return;
    }
  } catch (...) {
    ignoring_errors([&] { backend_.destroy_stream(fresh); });
    throw;
  }
  ignoring_errors([&] { backend_.destroy_stream(old); });
}

// Work that was known to be complete is not lost.
void timeline::fail(unsigned number) {
  add_loss(finished_.load(std::memory_order_acquire) + 1, open_ticket, device_, number);
  raise(finished_, every_ticket);
  flags_.fetch_or(broken, std::memory_order_release);
}

// Call after enqueuing the wait. The next work enqueued here is the first that is ordered behind it (R3).
void timeline::merge_clock(timeline& of, ticket behind) {
  clock_entry& f = clock_[of.id_];
  if (behind > f.behind) f = {behind, last() + 1, &of, f.owed};
  clock_end_ = std::max<std::size_t>(clock_end_, of.id_ + 1);
}

// Returns the oldest recorded event that covers t, or records a new one (R2).
timeline::recorded_event timeline::cover(ticket t) {
  // last() is read before the record, not after (R2)
  if (events_[newest_].covers < t && !is_quiesced()) return record(last());
  std::size_t i = newest_;
  for (std::size_t k = 1; k < events_.size(); ++k) {
    const std::size_t older = (newest_ + events_.size() - k) % events_.size();
    if (events_[older].covers < t) break;
    i = older;
  }
  return events_[i];
}

timeline::recorded_event timeline::record(ticket covers) {
  std::size_t next = (newest_ + 1) % events_.size();
  for (std::size_t k = 1; events_[next].waiting > 0 && k < events_.size(); ++k) next = (next + 1) % events_.size();
  events_[next].covers = 0;  // if the record fails, the previous record of this event is lost nevertheless
  backend_.record(events_[next].event, stream_);
  newest_ = next;
  events_[next].covers = covers;
  return events_[next];
}

}  // namespace ferry::inline FERRY_ABI::detail
