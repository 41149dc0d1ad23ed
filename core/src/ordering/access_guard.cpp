#include "ferry/core/detail/ordering/access_guard.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <string>

#include "ferry/core/detail/ordering/host_tasks.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/small_vector.hpp"
#include "ferry/core/error.hpp"
#include "ordering/capture.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Sorts by address of the access history. Insertion sort, because a submission has few uses.
void sort_by_history(std::span<access> uses) {
  for (std::size_t i = 1; i < uses.size(); ++i)
    if (std::less<>{}(uses[i].what, uses[i - 1].what)) {
      const access moved = uses[i];
      std::size_t j = i;
      for (; j > 0 && std::less<>{}(moved.what, uses[j - 1].what); --j) uses[j] = uses[j - 1];
      uses[j] = moved;
    }
}

template <class F>
void each_history(std::span<access> uses, F f) {
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (i == 0 || uses[i].what != uses[i - 1].what) f(uses[i].what->history);
}

// Locks the access histories of some sorted uses by address, each once (R14). Unlocks them if an exception passes.
class locked_histories {
 public:
  explicit locked_histories(std::span<access> uses) : uses_(uses) {
    each_history(uses_, [](access_history& l) { l.lock(); });
  }
  ~locked_histories() {
    if (!unlocked_) each_history(uses_, [](access_history& l) { l.unlock(); });
  }
  // Records all uses, and unlocks each history after its last use. `on` may become the exclusive owner of histories
  // that no other timeline uses. Returns true if one of them is contended.
  bool add_and_unlock(timeline& on, ticket at) noexcept {
    unlocked_ = true;
    bool shared = false, exclusive = !on.records_always();
    for (const access& a : uses_) exclusive = exclusive && a.what->history.is_only_of(on);
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      access_history& l = uses_[i].what->history;
      l.add(on, at, uses_[i].where, uses_[i].write);
      if (i + 1 < uses_.size() && uses_[i + 1].what == uses_[i].what) continue;
      shared |= l.take_contended();
      exclusive ? l.note_exclusive_use(on) : l.note_other_use();
      l.unlock();
    }
    return shared;
  }
  locked_histories(const locked_histories&) = delete;
  locked_histories& operator=(const locked_histories&) = delete;

 private:
  std::span<access> uses_;
  bool unlocked_ = false;
};

// Kept out of line: inlining this slow path increases register pressure in the guard.
[[gnu::noinline]] void wait_for_what_conflicts(timeline& on, const access& a, std::size_t room) {
  a.what->history.reserve(room);
  a.what->history.each_hazard(&on, a.where, a.write,
                              [&](timeline& t, ticket at, bool reads) { on.wait_on(t, at, reads); });
}

[[gnu::noinline, gnu::cold]] void refuse_lost(std::span<const access> uses) {
  for (const access& a : uses) detail::refuse_lost(*a.what, a.where, a.at);
}

// Returns the number of failures known when the histories were searched for lost data.
unsigned wait_for_what_conflicts(timeline& on, std::span<access> uses) {
  for (const access& a : uses)
    if (!a.what->history.repeats(on, a.where, a.write)) wait_for_what_conflicts(on, a, uses.size());
  const unsigned failures = on.registry().failures();
  if (failures != 0) [[unlikely]]
    refuse_lost(uses);
  return failures;
}

bool all_are_exclusive(const timeline& on, std::span<const access> uses) {
  return std::all_of(uses.begin(), uses.end(), [&](const access& a) { return a.what->history.is_exclusive_to(on); });
}
// The same check with the timeline locked. Also checks that the histories have room for the uses.
bool can_record_exclusive(const timeline& on, std::span<const access> uses) {
  for (const access& a : uses) {
    const access_history& l = a.what->history;
    if (!l.is_exclusive_to(on) || !(l.repeats(on, a.where, a.write) || l.has_room_for(uses.size()))) return false;
  }
  return true;
}
ticket record_locked(timeline& on, std::span<const access> uses) {
  const ticket at = on.reserve_locked();
  for (const access& a : uses) a.what->history.add(on, at, a.where, a.write);
  return at;
}

// Fast path: `on` is the exclusive owner of every history, so there are no cross-stream dependencies. Records the uses
// and returns their ticket, or does nothing and returns 0.
ticket record_exclusive(timeline& on, std::span<const access> uses) {
  if (uses.empty() || !all_are_exclusive(on, uses)) return 0;
  std::lock_guard lock(on);
  return can_record_exclusive(on, uses) ? record_locked(on, uses) : 0;
}

// Records all uses of the parts, whose histories are locked. The parts are sorted by timeline. Returns true if one of
// these histories is contended.
bool record_jointly(std::span<joint_guard::part> parts, std::span<access> all) noexcept {
  // all tickets together, so that two joint operations have the same order on every stream (R16)
  for (const joint_guard::part& p : parts) p.on->lock();
  for (joint_guard::part& p : parts) p.at = p.on->reserve_locked();
  for (const joint_guard::part& p : parts) p.on->unlock();
  for (const joint_guard::part& p : parts)
    for (const access& a : p.uses) a.what->history.add(*p.on, p.at, a.where, a.write);
  bool shared = false;
  each_history(all, [&](access_history& l) {
    shared |= l.take_contended();
    l.note_other_use();
  });
  return shared;
}

// The stream was released or captured after the check above. Publish the ticket anyway: a spurious history entry is
// harmless, an unpublished ticket deadlocks waiters.
template <class Publish>
[[gnu::noinline, gnu::cold]] void refuse_in_turn(timeline& on, Publish publish) {
  try {
    on.refuse_quiesced();  // if the stream takes work again, the submission goes on
  } catch (...) {
    publish();
    throw;
  }
}

// Makes the parts depend on each other in a ring: if one part is lost, all are.
void depend_jointly(std::span<const joint_guard::part> parts, unsigned failures) noexcept {
  std::uint64_t devices = 0;
  for (const joint_guard::part& p : parts) devices |= p.on->devices_needed();
  if ((devices & (devices - 1)) == 0) return;  // all parts are on one device
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const joint_guard::part& next = parts[(i + 1) % parts.size()];
    parts[i].on->depend_on_part(parts[i].at, *next.on, next.at, devices, failures);
  }
  timelines& all = parts.front().on->registry();
  if (failures % 2 != 0 || all.failures() != failures) [[unlikely]]
    all.spread_again();  // a failure may have been found between the reservation and the dependences
}

// The stream is damaged. If a failure became known between the search of the histories and the reservation, the ticket
// is lost too.
[[gnu::noinline, gnu::cold]] void lose_if_late(timeline& on, ticket at, unsigned failures) noexcept {
  if (on.is_damaged() && (failures % 2 != 0 || on.registry().failures() != failures)) on.lose_late(at, failures & ~1u);
}

// Publishing must not fail, because threads that wait for the ticket would hang (R15). If recording the event fails, a
// later wait records one.
void publish(timeline& on, ticket at, bool mark) noexcept {
  on.submitted(at);
  if (!mark) return;
  try {
    on.record_event();
  } catch (...) {
  }
}

}  // namespace

[[gnu::noinline]] void refuse_special(timeline& on) {
  on.refuse_quiesced();
  on.refuse_broken();
  if (on.is_lost_for_good())
    throw device_error(
        concat("the stream accepts no more work: a raw pointer was taken on it, whose uses ferry cannot track, and it "
               "was ordered behind work that is lost by the failure of device ",
               on.lost_by(open_ticket), ": make a new stream"));
  detail::backend& backend = on.registry().backend();
  if (on.origin() == stream_origin::default_stream) {
    const int current = backend.exchange_current_device(on.device());
    backend.exchange_current_device(current);
    if (current != on.device())
      throw invalid_argument(concat("a default stream of device ", on.device(), " is used while device ", current,
                                    " is current, whose default stream it names: make a ferry::stream"));
  }
  if (backend.is_capturing(on.stream()))
    throw not_supported("the stream is being captured outside ferry: capture with ferry::capture(stream, body)");
}

[[gnu::noinline, gnu::cold]] void refuse_inside_submission(std::string_view what) {
  refuse_inside_host_task(what);
  if (this_thread_state.submitting)
    throw invalid_argument(
        concat("ferry was called (", what, ") from inside a submission: call it before or after the submission"));
}

void refuse_inside_capture(std::string_view what) {
  if (this_thread_state.capture)
    throw invalid_argument(
        concat(what, " inside a capture: a graph holds only work on arrays; move it before or after ferry::capture"));
}

// Flattened: the calls of the functions above would take an eighth of the guard's time.
[[gnu::flatten]] access_guard::access_guard(timeline& on, std::span<access> uses) : on_(on), uses_(uses) {
  if (this_thread_state.submitting) [[unlikely]]
    refuse_inside_submission("submit");
  if (this_thread_state.capture) [[unlikely]] {
    this_thread_state.capture->order(on, uses);
    capture_ = this_thread_state.capture;
    this_thread_state.submitting = true;
    return;
  }
  bool may_be_exclusive = true;
  if (on.is_special()) [[unlikely]] {
    refuse_special(on);
    may_be_exclusive = !on.is_damaged();
  }
  at_ = may_be_exclusive ? record_exclusive(on, uses) : 0;
  if (at_ == 0) {
    sort_by_history(uses);
    locked_histories locked(uses);
    failures_ = wait_for_what_conflicts(on, uses);
    at_ = on.reserve();  // after the waits: a reserved ticket must not wait for the lock of a history (R1)
    mark_ = locked.add_and_unlock(on, at_) || on.records_always();
  }
  on.begin(at_);
  if (on.needs_recheck()) [[unlikely]] {
    if (on.is_quiesced()) refuse_in_turn(on, [&] { on.submitted(at_); });
    lose_if_late(on, at_, failures_);
  }
  this_thread_state.submitting = true;
  this_thread_state.last_timeline = &on;
}

access_guard::~access_guard() {
  this_thread_state.submitting = false;
  if (capture_)
    capture_->submitted(on_, uses_);
  else
    publish(on_, at_, mark_);
}

joint_guard::joint_guard(std::span<part> parts) : parts_(parts) {
  refuse_inside_submission("submit to several streams");
  std::sort(parts.begin(), parts.end(), [](const part& p, const part& q) { return std::less<>{}(p.on, q.on); });
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i].on == parts[i - 1].on)
      throw invalid_argument("a joint operation names one stream twice: give it one part");
  if (this_thread_state.capture) {  // until the guard is destroyed: a capture cannot end inside a submission
    this_thread_state.capture->order(parts);
    this_thread_state.submitting = true;
    return;
  }
  const unsigned failures = parts.empty() ? 0 : parts.front().on->registry().failures();  // before any ordering
  small_vector<access, 16> copies;
  for (const part& p : parts) {
    if (p.on->is_special()) refuse_special(*p.on);
    p.on->reserve_dependence();
    for (const access& a : p.uses) copies.push_back(a);
  }
  const std::span<access> all = copies.get();
  sort_by_history(all);
  {
    const locked_histories locked(all);
    each_history(all, [&](access_history& l) { l.reserve(all.size()); });
    for (const part& p : parts) wait_for_what_conflicts(*p.on, p.uses);
    mark_ = record_jointly(parts, all);
  }
  depend_jointly(parts, failures);
  for (const part& p : parts) p.on->begin(p.at);
  for (const part& p : parts)
    if (p.on->is_quiesced())
      refuse_in_turn(*p.on, [&] {
        for (const part& q : parts) q.on->submitted(q.at);
      });
  for (const part& p : parts) lose_if_late(*p.on, p.at, failures);
  this_thread_state.submitting = true;
}

joint_guard::~joint_guard() {
  this_thread_state.submitting = false;
  if (this_thread_state.capture) {
    this_thread_state.capture->submitted(parts_);
    return;
  }
  for (part& p : parts_) publish(*p.on, p.at, mark_ || p.on->records_always());
}

void takes_part(timeline& on, int device) {
  if (this_thread_state.capture)
    this_thread_state.capture->uses_device(device);
  else
    on.depend_on_device(device);
}

void escaped_pointer_use(const admission& what) {
  timeline& on = what.on();
  const std::span<access> uses = what.uses();
  refuse_inside_submission("take a raw pointer");
  if (this_thread_state.capture) this_thread_state.capture->refuse("a raw pointer", uses);
  if (on.is_special()) refuse_special(on);
  if (on.origin() == stream_origin::default_stream)
    throw invalid_argument("a raw pointer" + (uses.empty() ? "" : " to " + use_text(uses.front())) +
                           " was asked for on a default stream, which cannot be marked later: use a stream of ferry, "
                           "or one of your own by stream_ref::from_native");
  sort_by_history(uses);
  on.note_pointer();
  locked_histories locked(uses);
  const unsigned failures = wait_for_what_conflicts(on, uses);
  locked.add_and_unlock(on, open_ticket);
  lose_if_late(on, open_ticket, failures);
  if (on.is_quiesced())
    on.refuse_quiesced();  // The stream was quiesced after the check. The event recorded then covers all uses up to it.
}

}  // namespace ferry::inline FERRY_ABI::detail
