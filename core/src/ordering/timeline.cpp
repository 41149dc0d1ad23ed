#include "ferry/core/detail/ordering/timeline.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/error.hpp"

namespace ferry {
namespace {

// A broken device refuses even what it has done.
template <class Verb>
void ignoring_errors(Verb verb) noexcept {
  try {
    verb();
  } catch (const error&) {
  }
}

}  // namespace

// A device that broke never finishes anything: whoever finds out tells everybody.
template <class Verb>
auto timeline::or_give_up(Verb verb) {
  try {
    return verb();
  } catch (const device_error& e) {
    if (e.is_sticky()) family_.give_up(device_, plain_what(e));
    throw;
  }
}

// A mark that covers a ticket, kept as it is for a while: re-recorded, it would stand for work that came later.
struct timeline::pinned_mark {
  pinned_mark(timeline& l, ticket t) : of(l) {
    std::lock_guard lock(of.mutex_);
    is = of.cover(t);
    of.pin(is, +1);
  }
  ~pinned_mark() {
    std::lock_guard lock(of.mutex_);
    of.pin(is, -1);
  }
  pinned_mark(const pinned_mark&) = delete;
  pinned_mark& operator=(const pinned_mark&) = delete;
  timeline& of;
  mark_type is;
};

timeline::timeline(timelines& family, unsigned id, int device, int priority, native_stream stream, stream_origin origin)
    : family_(family),
      verbs_(family.verbs()),
      id_(id),
      device_(device),
      priority_(priority),
      stream_(stream),
      origin_(origin),
      flags_(origin == stream_origin::own ? 0 : exposed) {
  try {
    for (mark_type& m : marks_) m.event = verbs_.create_event(device, false);
  } catch (...) {
    for (mark_type& m : marks_)
      if (m.event.handle) verbs_.destroy_event(m.event);
    throw;
  }
}

timeline::~timeline() {
  for (mark_type& m : marks_) ignoring_errors([&] { verbs_.destroy_event(m.event); });
  for (const native_stream s : replaced_) ignoring_errors([&] { verbs_.destroy_stream(s); });
  if (origin_ == stream_origin::own) ignoring_errors([&] { verbs_.destroy_stream(stream_); });
}

void timeline::wait_until_given(ticket t) const {
  give_way_until([&] { return last() >= t; });
}

ticket timeline::close() {
  if (is_resting()) return last();  // nothing was given to it since its last mark
  const ticket t = reserve();
  begin(t);
  submitted(t);
  return t;
}

void timeline::mark() {
  or_give_up([&] {
    std::lock_guard lock(mutex_);
    if (!is_resting()) record(last());  // else its last mark covers what was given
  });
}

void timeline::follow(timeline& other, ticket t, bool reads) {
  if (&other == this || other.finished(t)) return;
  other.given(t);
  const auto go = [&](bool& recording) {
    std::scoped_lock both(mutex_, other.mutex_);
    if (is_resting()) refuse_rest();  // the wait would land in the capture
    const bool depends = reads && (other.device_ != device_ || !other.dependences_.empty());
    if (depends) make_room_for_dependence();
    if (known_[other.id_].behind < t) {
      recording = true;
      const mark_type m = other.cover(t);
      recording = false;
      verbs_.wait(stream_, m.event);
      learn(other, m.covers);
      for (const fact& f : other.facts())  // R4: only what was true when the event was recorded
        if (f.of && f.since <= m.covers && f.of != this) learn(*f.of, f.behind);
      if (other.device_ != device_ || other.suspects_ != 0)
        note_suspects(timelines::device_bit(other.device_) | other.suspects_, last() + 1);
    }
    if (depends) depend(other, t);
  };
  bool recording = false;  // by the other stream: then it is the other device that broke
  try {
    go(recording);
  } catch (const device_error& e) {
    if (e.is_sticky()) family_.give_up(recording ? other.device_ : device_, plain_what(e));
    throw;
  }
}

void timeline::wait(ticket t) {
  if (finished(t)) return;
  given(t);
  or_give_up([&] {
    ticket covers = 0;
    {
      const pinned_mark m(*this, t);
      verbs_.synchronize(m.is.event);
      covers = m.is.covers;
    }
    finish(covers);
  });
}

void timeline::need(ticket t) {
  wait(t);
  if (is_lost(t)) throw_lost("its result", t);
}

void timeline::throw_lost(std::string_view what, ticket t) const {
  const int device = lost_by(t);
  const std::string failed = "device " + std::to_string(device);
  throw device_error(std::string(what) + " is lost: " +
                     (device == device_ ? failed + " failed before its work on that was known to be over"
                                        : "work of device " + std::to_string(device_) + " may have read what " +
                                              failed + " wrote, which failed before that was known to be over") +
                     ". Make a new array on another device. The failure: " + family_.failure_of(device));
}

void timeline::refuse_rest() const {
  if (is_released())
    throw invalid_argument("the stream was released, and work is given to it: take it by from_native again");
  if (is_captured())
    throw invalid_argument(
        "another thread is capturing the stream, and work is given to it: use a stream of this thread");
}

void timeline::refuse_broken() const {
  if (is_broken())
    throw device_error("device " + std::to_string(device_) +
                       " has failed, and its streams do no more work: use another device, or start the program again. "
                       "The failure: " +
                       family_.failure_of(device_));
}

bool timeline::poll(ticket t) {
  if (finished(t)) return true;
  if (last() < t) return false;
  return or_give_up([&] {
    mark_type m;
    {
      std::lock_guard lock(mutex_);
      m = cover(t);
    }
    if (!verbs_.is_done(m.event)) return false;
    finish(m.covers);
    return true;
  });
}

bool timeline::tell_driver(ticket t) {
  if (last() < t || is_broken()) return false;
  return or_give_up([&] {
    {
      std::lock_guard lock(mutex_);
      if (marks_[newest_].covers < t && finished(t)) return false;  // nothing is recorded only to be asked
    }
    const pinned_mark m(*this, t);
    if (!verbs_.is_done(m.is.event)) return false;
    verbs_.synchronize(m.is.event);
    finish(m.is.covers);
    return true;
  });
}

// By an event behind all that was given: the stream itself may enter a capture of another thread meanwhile.
void timeline::synchronize() {
  refuse_broken();
  if (origin_ != stream_origin::on_the_spot) return need(close());
  or_give_up([&] { verbs_.synchronize(stream_); });  // here its handle may mean another stream:
  need(last());                                      // what ferry saw has a mark
}

bool timeline::is_done() {
  const ticket covers = last();
  bool done = false, asked = false;
  or_give_up([&] {
    std::lock_guard lock(mutex_);  // a capture begins before or after: asking would spoil it
    if (is_resting()) return;
    asked = true;
    done = verbs_.is_done(stream_);
  });
  if (!asked || (done && origin_ == stream_origin::on_the_spot)) return poll(covers);
  if (done) finish(covers);
  return done;
}

// Work here is over well only if no device failed that it depends on: these are asked after it was over, so that none can
// have failed before without an answer that says so (R19).
void timeline::finish(ticket covers) {
  std::uint64_t ask = 0;
  {
    std::lock_guard lock(mutex_);
    ask = suspects_;
  }
  if (ask != 0) family_.look_at(ask);
  std::lock_guard lock(mutex_);
  raise(finished_, covers);
  for (const fact& f : facts())
    if (f.of && f.since <= covers) raise(f.of->finished_, f.behind);
  if (ask == 0) return;
  std::erase_if(dependences_, [&](const dependence& d) { return d.latest <= covers; });
  if (suspects_since_ <= covers) suspects_ = 0;
}

void timeline::expect_timelines(std::size_t count) {
  std::lock_guard lock(mutex_);
  if (known_.size() < count) known_.resize(count);
}

// The last mark covers all that was given; from then on the stream is not recorded any more. In a turn of its own: what
// other threads give comes before the mark, or sees the flag when its turn comes.
void timeline::rest(unsigned why) {
  const turn mine(*this);
  or_give_up([&] {
    std::lock_guard lock(mutex_);
    if (why == captured) refuse_rest();                  // by two threads at once
    if (!is_resting() && !is_broken()) record(mine.at);  // nothing else has this ticket
    flags_.fetch_or(why, std::memory_order_release);
  });
}

// The last mark before the capture covers all that the old stream was given. The old one may stay in its capture until it is
// destroyed, which is all that can be done with it.
void timeline::replace_captured_stream() {
  const native_stream fresh = verbs_.create_stream(device_, priority_);
  native_stream old;
  try {
    std::lock_guard lock(mutex_);
    replaced_.reserve(replaced_.size() + 1);
    verbs_.wait(fresh, marks_[newest_].event);
    old = std::exchange(stream_, fresh);
    if (flags_.load(std::memory_order_relaxed) & exposed) {
      replaced_.push_back(old);
      return;
    }
  } catch (...) {
    ignoring_errors([&] { verbs_.destroy_stream(fresh); });
    throw;
  }
  ignoring_errors([&] { verbs_.destroy_stream(old); });
}

// What was over stays good.
void timeline::give_up(unsigned number) {
  add_loss(finished_.load(std::memory_order_acquire) + 1, open_ticket, device_, number);
  raise(finished_, every_ticket);
  flags_.fetch_or(broken, std::memory_order_release);
}

// After the wait was submitted; the next work given here is the first that comes after it (R3).
void timeline::learn(timeline& of, ticket behind) {
  fact& f = known_[of.id_];
  if (behind > f.behind) f = {behind, last() + 1, &of, f.owed};
  known_end_ = std::max<std::size_t>(known_end_, of.id_ + 1);
}

// The oldest mark that comes after t, or a new one (R2).
timeline::mark_type timeline::cover(ticket t) {
  if (marks_[newest_].covers < t && !is_resting()) return record(last());  // read before the record, not after (R2)
  std::size_t i = newest_;
  for (std::size_t k = 1; k < marks_.size(); ++k) {
    const std::size_t older = (newest_ + marks_.size() - k) % marks_.size();
    if (marks_[older].covers < t) break;
    i = older;
  }
  return marks_[i];
}

timeline::mark_type timeline::record(ticket covers) {
  std::size_t next = (newest_ + 1) % marks_.size();
  for (std::size_t k = 1; marks_[next].waiting > 0 && k < marks_.size(); ++k) next = (next + 1) % marks_.size();
  marks_[next].covers = 0;  // if the record fails, the event that it replaces is gone all the same
  verbs_.record(marks_[next].event, stream_);
  newest_ = next;
  marks_[next].covers = covers;
  return marks_[next];
}

}  // namespace ferry
