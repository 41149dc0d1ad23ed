#include "ordering/capture.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// The union of some ranges, as few ranges as possible.
std::vector<byte_range> merged(std::vector<byte_range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](byte_range a, byte_range b) { return std::less<>{}(a.begin, b.begin); });
  std::vector<byte_range> out;
  for (const byte_range& r : ranges)
    if (!out.empty() && r.begin <= out.back().end)
      out.back().end = std::max(out.back().end, r.end);
    else
      out.push_back(r);
  return out;
}

}  // namespace

capture_session::capture_session(timeline& origin) : origin_(origin), backend_(origin.registry().backend()) {
  refuse_inside_submission("capture");
  if (this_thread_state.capture) throw invalid_argument("a capture was begun inside another: end that one first");
  if (origin.is_special()) refuse_special(origin);
  joined_.push_back(&origin_);
  origin_.enter_capture();
  try {
    backend_.begin_capture(origin_.stream());
  } catch (...) {
    origin_.leave_capture();
    throw;
  }
  active_ = true;
  try {
    fork_ = fresh_event(origin_.device());
    backend_.record(fork_, origin_.stream());
  } catch (...) {
    abandon();
    throw;
  }
  ++under_way_;
  this_thread_state.capture = this;
}

capture_session::~capture_session() {
  this_thread_state.capture = nullptr;
  --under_way_;
  abandon();
}

void capture_session::abandon() noexcept {
  try {
    if (active_) backend_.destroy_graph(end());
  } catch (const error&) {  // the capture was already invalid: its body has thrown the error that matters
  }
  for (native_event e : events_) {
    try {
      backend_.destroy_event(e);
    } catch (const error&) {  // a failed device: process exit releases its events
    }
  }
  events_.clear();
}

void capture_session::order(timeline& on, std::span<access> uses) {
  const void* const graph = std::exchange(launching_, nullptr);
  join(on);
  std::map<timeline*, std::size_t> needed;
  for (const access& a : uses) {
    const auto log = logs_.find(a.what);
    if (log == logs_.end()) continue;
    for (const local_use& u : log->second)
      if ((u.write || a.write) && u.where.overlaps(a.where) && steps_[u.step].on != &on) {
        std::size_t& behind = needed[steps_[u.step].on];
        behind = std::max(behind, u.step + 1);
      }
  }
  if (const auto last = launched_.find(graph); graph && last != launched_.end()) {
    const step& s = steps_[last->second];
    if (s.on != &on) needed[s.on] = std::max(needed[s.on], last->second + 1);
  }
  for (const auto& [other, count] : needed) {  // only the newest step of each stream needs a wait
    std::size_t& behind = waited_[{&on, other}];
    if (behind >= count) continue;
    backend_.wait(on.stream(), steps_[count - 1].done);
    behind = count;
  }
  steps_.push_back({&on, fresh_event(on.device())});
  uses_device(on.device());
  if (graph) launched_[graph] = steps_.size() - 1;
  for (const access& a : uses) {
    if (!logs_.contains(a.what)) {
      keep_.push_back(allocation_ref::another(*a.what));
      std::lock_guard lock(a.what->history);
      a.what->history.invalidate();  // the CPU must check again, and the check refuses the access
    }
    std::vector<local_use>& log = logs_[a.what];
    log.push_back({steps_.size() - 1, a.where, a.write});
  }
}

void capture_session::submitted(timeline& on, std::span<access>) noexcept {
  try {
    backend_.record(steps_.back().done, on.stream());
  } catch (const error&) {  // the capture is invalid; ending it reports the error
  }
}

// Joins all streams first, because one of them may be refused: then no use is recorded.
void capture_session::order(std::span<joint_guard::part> parts) {
  for (joint_guard::part& p : parts) join(*p.on);
  for (joint_guard::part& p : parts) order(*p.on, p.uses);
}

void capture_session::submitted(std::span<joint_guard::part> parts) noexcept {
  const std::size_t first = steps_.size() - parts.size();
  try {
    for (std::size_t i = 0; i < parts.size(); ++i) backend_.record(steps_[first + i].done, parts[i].on->stream());
  } catch (const error&) {  // as above
  }
}

void capture_session::refuse(std::string_view what, std::span<const access> uses) const {
  std::string names;
  for (const access& a : uses) names += (names.empty() ? ", of " : ", ") + use_text(a);
  throw invalid_argument(concat(what, " inside a capture", names,
                                ": a graph holds only submitted work; move it before or after ferry::capture"));
}

captured_graph capture_session::finish() {
  for (timeline* t : joined_) {
    if (t == &origin_) continue;
    const native_event e = fresh_event(t->device());
    backend_.record(e, t->stream());
    backend_.wait(origin_.stream(), e);
  }
  captured_graph g;
  g.graph = end();
  for (auto& [what, log] : logs_)
    for (bool write : {false, true}) {
      std::vector<byte_range> ranges;
      for (const local_use& u : log)
        if (u.write == write) ranges.push_back(u.where);
      for (const byte_range& r : merged(std::move(ranges))) g.uses.push_back({what, r, write});
    }
  g.keep = std::move(keep_);
  g.listeners = std::move(listeners_);
  g.effects = std::move(effects_);
  g.page_users = std::move(page_users_);
  g.devices = std::move(devices_);
  return g;
}

native_graph capture_session::end() {
  active_ = false;
  struct leave {
    std::vector<timeline*>& joined;
    ~leave() {
      for (timeline* t : joined) t->leave_capture();
    }
  } leaving{joined_};
  try {
    return backend_.end_capture(origin_.stream());
  } catch (const error&) {
    free_streams();
    throw;
  }
}

// The capture ended with an error. On a failed device it may not have ended at all, and streams of other devices that
// had joined it could never take work again. Replaces ferry's streams that are still capturing. For foreign streams,
// each submission throws that they are being captured.
void capture_session::free_streams() noexcept {
  for (timeline* t : joined_) {
    try {
      bool is_free = false;
      try {
        is_free = !backend_.is_capturing(t->stream());
      } catch (const error&) {
      }
      if (!is_free && t->origin() == stream_origin::own) t->replace_captured_stream();
    } catch (const std::exception&) {  // a failed device: its streams do no more work
    }
  }
}

native_event capture_session::fresh_event(int device) {
  events_.push_back(backend_.create_event(device, false));
  return events_.back();
}

// A stream joins the capture by waiting for the event recorded at its beginning.
void capture_session::join(timeline& on) {
  if (std::find(joined_.begin(), joined_.end(), &on) != joined_.end()) return;
  if (on.is_special()) refuse_special(on);
  joined_.reserve(joined_.size() + 1);
  on.enter_capture();
  joined_.push_back(&on);
  backend_.wait(on.stream(), fork_);
}

}  // namespace ferry::inline FERRY_ABI::detail
