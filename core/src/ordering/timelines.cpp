#include "ferry/core/detail/ordering/timelines.hpp"

#include <algorithm>
#include <exception>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

timelines::timelines(detail::backend& backend)
    : backend_(backend),
      task_failures_(std::make_shared<host_task_failures>()) {}

timelines::~timelines() = default;

timeline& timelines::take(int device, int priority) {
  refuse_inside_host_task("create a stream");
  lock_guard lock(mutex_);
  std::vector<timeline*>& stock = stock_[{device, priority}];
  while (!stock.empty()) {
    timeline* t = stock.back();
    stock.pop_back();
    if (!t->is_lost_for_good()) return *t;
  }
  stock.reserve(all_.size() + 1);  // give_back() must not fail
  const native_stream s = backend_.create_stream(device, priority);
  try {
    return create(device, priority, s, stream_origin::own);
  } catch (...) {
    backend_.destroy_stream(s);
    throw;
  }
}

void timelines::give_back(timeline& t) noexcept {
  t.end_pointers();
  lock_guard lock(mutex_);
  stock_[{t.device(), t.priority()}].push_back(&t);
}

timeline& timelines::foreign(int device, native_stream stream, stream_origin origin) {
  const std::uint64_t id = backend_.stream_id(stream);
  lock_guard lock(mutex_);
  timeline*& t = foreign_[{device, id}];
  if (!t) t = &create(device, 0, stream, origin);
  return *t;
}

void timelines::release_foreign(timeline& t) {
  t.release();
  lock_guard lock(mutex_);
  std::erase_if(foreign_, [&](const auto& entry) { return entry.second == &t; });
}

timeline* timelines::find(const timeline* t) const noexcept {
  lock_guard lock(mutex_);
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.get() == t; });
  return at == all_.end() ? nullptr : at->get();
}

// failed_ is odd during the search: a submission that is ordered meanwhile searches again (access_guard).
void timelines::fail(int device, std::string_view why) {
  lock_guard lock(mutex_);
  const bool is_new = failures_.try_emplace(device, why).second;
  if (!is_new) return;
  const unsigned number = ++failed_;
  for (auto& t : all_)
    if (t->device() == device) t->fail(number);
  spread_losses();
  ++failed_;
}

// Uses a new number, so that it is later than the failures known to the affected dependences.
void timelines::spread_again() noexcept {
  lock_guard lock(mutex_);
  ++failed_;
  spread_losses();
  ++failed_;
}

void timelines::spread_losses() noexcept {
  std::uint64_t failed_devices = 0;
  for (const auto& [which, text] : failures_) failed_devices |= device_bit(which);
  for (bool more = true; more;) {
    more = false;
    for (auto& t : all_) more = t->spread_losses(failed_, failed_devices) || more;
  }
}

void timelines::look_at(std::uint64_t devices) {
  for (timeline* t = next_to_ask(devices, -1); t; t = next_to_ask(devices, t->device())) {
    try {
      t->ask_device();
    } catch (const device_error& e) {
      if (!e.is_sticky()) throw;
      fail(t->device(), plain_what(e));
    }
  }
}

// Returns a stream of the next of these devices, preferably one with enqueued work, because its newest event says most.
// Reuses the stream that was queried before if possible.
timeline* timelines::next_to_ask(std::uint64_t devices, int after) {
  lock_guard lock(mutex_);
  for (auto at = asked_.upper_bound(after); at != asked_.end(); ++at) {
    const int device = at->first;
    timeline*& one = at->second;
    if (!one || !(devices & device_bit(device)) || failures_.contains(device)) continue;
    if (one->is_released() || one->last() == 0)
      for (const auto& t : all_)
        if (t->device() == device && !t->is_released() && (one->is_released() || t->last() != 0)) one = t.get();
    if (!one->is_released()) return one;
  }
  return nullptr;
}

std::string timelines::failure_of(int device) const {
  lock_guard lock(mutex_);
  const auto found = failures_.find(device);
  return found == failures_.end() ? std::string() : found->second;
}

void timelines::synchronize() {
  const std::size_t count = size();
  std::exception_ptr first;  // continue with the other devices if one has failed
  for (std::size_t i = 0; i < count; ++i) {
    timeline* t = nullptr;
    {
      lock_guard lock(mutex_);
      t = all_[i].get();
    }
    try {
      if (!t->is_released()) t->synchronize();
    } catch (const error&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

std::size_t timelines::size() const {
  lock_guard lock(mutex_);
  return all_.size();
}

timeline& timelines::create(int device, int priority, native_stream stream, stream_origin origin) {
  const auto id = static_cast<unsigned>(all_.size());
  auto fresh = make_owning<timeline>(*this, id, device, priority, stream, origin);
  if (all_.size() >= expected_) expected_ *= 2;
  fresh->reserve_timelines(expected_);
  for (auto& t : all_) t->reserve_timelines(expected_);
  timeline*& asked = asked_[device];
  all_.push_back(std::move(fresh));
  if (!asked) asked = all_.back().get();
  return *all_.back();
}

}  // namespace ferry::inline FERRY_ABI::detail
