#include "transport/enqueued_operation.hpp"

#include <algorithm>
#include <utility>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

event_stock::~event_stock() {
  for (const auto& [of, events] : unused_)
    for (const native_event e : events) {
      try {
        of.first->destroy_event(e);
      } catch (const error&) {  // a failed device, or the end of the program: its events end with the process
      }
    }
}

native_event event_stock::take(detail::backend& backend, int device) {
  {
    lock_guard lock(mutex_);
    std::vector<native_event>& events = unused_[{&backend, device}];
    if (!events.empty()) {
      const native_event e = events.back();
      events.pop_back();
      return e;
    }
  }
  return backend.create_event(device, false);
}

void event_stock::give_back(detail::backend& backend, int device, native_event e) noexcept {
  try {
    lock_guard lock(mutex_);
    unused_[{&backend, device}].push_back(e);
  } catch (...) {  // out of memory: the event is lost
  }
}

enqueued_operation::enqueued_operation(event_stock& events, std::span<timeline* const> on) : events_(events) {
  parts_.reserve(on.size());
  try {
    for (timeline* const t : on) {
      detail::backend& backend = t->registry().backend();
      parts_.push_back({t, t->last() + 1, events_.take(backend, t->device())});
      backend.record(parts_.back().before, t->stream());
    }
  } catch (...) {
    for (part& p : parts_) let_go(p);
    throw;
  }
}

enqueued_operation::enqueued_operation(event_stock& events, timeline& on)
    : events_(events),
      parts_{{&on, on.last(), {}}} {}

enqueued_operation::~enqueued_operation() {
  for (part& p : parts_) let_go(p);
}

void enqueued_operation::let_go(part& p) noexcept {
  if (p.before.handle)
    events_.give_back(p.on->registry().backend(), p.on->device(), std::exchange(p.before, native_event{}));
}

std::vector<const timeline*> enqueued_operation::streams() const {
  std::vector<const timeline*> all;
  for (const part& p : parts_) all.push_back(p.on);
  return all;
}

bool enqueued_operation::has_begun() {
  for (part& p : parts_) {
    if (p.before.handle && !p.on->registry().backend().is_done(p.before)) return false;
    let_go(p);
  }
  return true;
}

bool enqueued_operation::is_over() {
  return std::all_of(parts_.begin(), parts_.end(), [](const part& p) { return p.on->poll(p.at); });
}

}  // namespace ferry::inline FERRY_ABI::detail
