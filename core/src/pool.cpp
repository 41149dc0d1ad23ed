#include "ferry/core/pool.hpp"

#include <algorithm>

#include "ferry/core/access_guard.hpp"
#include "ferry/core/error.hpp"

namespace ferry {
namespace {

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  if (bytes > SIZE_MAX - to) throw out_of_memory("the size of an allocation overflows", bytes);
  return (bytes + to - 1) / to * to;
}

bool is_whole_segment(const allocation& a) { return a.is_free && !a.before && !a.after; }

}  // namespace

caching_pool::caching_pool(memory_ledger& ledger, memory_kind kind, int device, pool_options options)
    : ledger_(ledger),
      verbs_(ledger.verbs()),
      kind_(kind),
      device_(device),
      options_(options) {
  ledger_.enroll(*this);
}

caching_pool::~caching_pool() {
  ledger_.dismiss(*this);
  try {
    trim();
  } catch (const error&) {  // a broken device: its memory goes with the process
  }
  static std::mutex burying;
  static auto* graveyard = new std::vector<std::unique_ptr<allocation>>;
  std::lock_guard lock(burying);  // arrays that were freed may still look at their node
  for (auto& n : nodes_) graveyard->push_back(std::move(n));
}

allocation_ref caching_pool::allocate(std::size_t bytes) {
  refuse_inside_submission("allocate");
  bytes = rounded_up(std::max<std::size_t>(bytes, 1), options_.granularity);
  ledger_.before_allocate(*this, bytes);
  std::unique_lock lock(mutex_);
  allocation* a = nullptr;
  if (const auto at = free_.lower_bound(bytes); at != free_.end()) {
    a = *at;
    withdraw(at);
  } else {
    a = grow(bytes, lock);
  }
  if (a->bytes > bytes) split(*a, bytes);
  a->is_free = false;
  statistics_.allocated_bytes += a->bytes;
  ++statistics_.allocations;
  a->name.clear();
  a->log.invalidate();  // what another owner's array had asked does not hold for this one
  lock.unlock();
  ledger_.allocated(*a);
  return allocation_ref::first(*a);
}

void caching_pool::deallocate(allocation& a) noexcept {
  ledger_.freed(a);
  std::lock_guard lock(mutex_);
  a.log.invalidate();
  a.is_free = true;
  statistics_.allocated_bytes -= a.bytes;
  --statistics_.allocations;
  allocation* into = &a;
  if (a.after && a.after->is_free) {
    withdraw(free_.find(a.after));
    swallow_next(a);
  }
  if (a.before && a.before->is_free) {
    into = a.before;
    withdraw(free_.find(into));
    swallow_next(*into);
  }
  offer(*into);
}

// The segments leave the pool before anybody waits for them, and the wait holds no lock (R7, R14).
std::size_t caching_pool::release_cached(release_depth how) {
  std::vector<allocation*> leaving;
  {
    std::lock_guard lock(mutex_);
    for (auto at = free_.begin(); at != free_.end();) {
      const auto here = at++;
      if (!is_whole_segment(**here)) continue;
      if (how == release_depth::finished && !uses_are_over(**here, (*here)->range(), true)) continue;
      leaving.push_back(*here);
      statistics_.reserved_bytes -= (*here)->bytes;
      --statistics_.segments;
      withdraw(here);
    }
  }
  std::size_t bytes = 0;
  for (allocation* a : leaving) {
    bytes += a->bytes;
    for (bool over = false; !over;) {
      try {
        wait_for_uses(a->log, a->range(), true);
        over = true;
      } catch (const device_error& e) {
        if (!e.is_sticky()) throw;  // that device was given up: what it was doing counts as over next time
      }
    }
    ledger_.returning(*this, a->begin, a->bytes);
    verbs_.release(kind_, device_, a->begin, a->bytes);
    ledger_.returned(*this, a->bytes);
    std::lock_guard lock(mutex_);
    retire(*a);
  }
  return bytes;
}

source_state caching_pool::state() const {
  std::lock_guard lock(mutex_);
  return {statistics_.allocated_bytes, statistics_.reserved_bytes, free_.empty() ? 0 : (*free_.rbegin())->bytes};
}

pool_statistics caching_pool::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

// Takes a segment from the backend, with the lock released meanwhile.
allocation* caching_pool::grow(std::size_t bytes, std::unique_lock<std::mutex>& lock) {
  std::size_t segment = rounded_up(bytes, options_.granularity);
  if (bytes <= options_.small_segment / 2)
    segment = options_.small_segment;
  else if (bytes <= options_.large_segment / 2)
    segment = options_.large_segment;
  allocation* a = node();
  lock.unlock();
  void* p = nullptr;
  const auto attempt = [&] { p = verbs_.allocate(kind_, device_, segment); };
  try {
    try {
      ledger_.acquire_once(*this, segment, attempt);
    } catch (const out_of_memory&) {
      segment = bytes;  // no spare room this time
      ledger_.acquire(*this, segment, attempt);
    }
    ledger_.reserved(*this, p, segment);
  } catch (...) {
    lock.lock();
    retire(*a);
    throw;
  }
  lock.lock();
  a->begin = static_cast<std::byte*>(p);
  a->bytes = segment;
  statistics_.reserved_bytes += segment;
  ++statistics_.segments;
  return a;
}

// Both parts keep the uses that overlap them (R12).
void caching_pool::split(allocation& a, std::size_t bytes) {
  allocation* rest = node();
  rest->begin = a.begin + bytes;
  rest->bytes = a.bytes - bytes;
  rest->before = &a;
  rest->after = a.after;
  if (rest->after) rest->after->before = rest;
  a.after = rest;
  a.bytes = bytes;
  rest->log.inherit(a.log);
  rest->log.keep_only(rest->range());
  a.log.keep_only(a.range());
  offer(*rest);
}

void caching_pool::swallow_next(allocation& a) {
  allocation& next = *a.after;
  a.log.inherit(next.log);
  a.bytes += next.bytes;
  a.after = next.after;
  if (a.after) a.after->before = &a;
  retire(next);
}

void caching_pool::offer(allocation& a) noexcept {
  free_set::node_type handle = std::move(handles_.back());
  handles_.pop_back();
  handle.value() = &a;
  free_.insert(std::move(handle));
}

void caching_pool::withdraw(free_set::iterator at) { handles_.push_back(free_.extract(at)); }

allocation* caching_pool::node() {
  if (spare_.empty()) {
    auto fresh = std::make_unique<allocation>();
    fresh->home = this;
    fresh->kind = kind_;
    fresh->device = device_;
    nodes_.reserve(nodes_.size() + 1);
    spare_.reserve(nodes_.capacity());
    handles_.reserve(nodes_.capacity() + 1);
    handles_.push_back(free_.extract(free_.insert(fresh.get()).first));
    spare_.push_back(fresh.get());
    nodes_.push_back(std::move(fresh));
  }
  allocation* a = spare_.back();
  spare_.pop_back();
  a->is_free = true;
  ++statistics_.blocks;
  return a;
}

void caching_pool::retire(allocation& a) {
  a.begin = nullptr;
  a.bytes = 0;
  a.before = a.after = nullptr;
  a.log.keep_only({});
  spare_.push_back(&a);
  --statistics_.blocks;
}

}  // namespace ferry
