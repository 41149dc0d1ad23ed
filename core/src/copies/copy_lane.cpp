#include "copies/copy_lane.hpp"

#include <algorithm>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

copy_lane::copy_lane(detail::backend& backend, const lane_key& key) : backend_(backend), key_(key) {
  try {
    make();
  } catch (...) {
    unmake();
    throw;
  }
}

copy_lane::~copy_lane() { unmake(); }

void copy_lane::make() {
  in_ = backend_.create_stream(key_.in, 0);
  out_ = backend_.create_stream(key_.out, 0);
  in_done_ = backend_.create_event(key_.in, false);
  out_done_ = backend_.create_event(key_.out, false);
  chunks_.resize(key_.chunks);
  for (chunk& c : chunks_) {
    c.data = static_cast<std::byte*>(backend_.allocate(key_.kind, key_.home, key_.chunk_bytes));
    c.filled = backend_.create_event(key_.in, false);
    c.emptied = backend_.create_event(key_.out, false);
  }
}

void copy_lane::unmake() noexcept {
  const auto attempt = [](auto f) {
    try {
      f();
    } catch (const error&) {  // a failed device: process exit frees the rest
    }
  };
  std::vector<native_event> events{in_done_, out_done_};
  events.insert(events.end(), forks_.begin(), forks_.end());
  for (chunk& c : chunks_) {
    if (c.data) attempt([&] { backend_.release(key_.kind, key_.home, c.data, key_.chunk_bytes); });
    events.push_back(c.filled), events.push_back(c.emptied);
  }
  for (const native_event e : events)
    if (e.handle) attempt([&] { backend_.destroy_event(e); });
  for (const native_stream s : {in_, out_})
    if (s.handle) attempt([&] { backend_.destroy_stream(s); });
}

void copy_lane::reserve_fork_event(int device) {
  const auto at = static_cast<std::size_t>(device);
  if (forks_.size() <= at) forks_.resize(at + 1);
  if (!forks_[at].handle) forks_[at] = backend_.create_event(device, false);
}

void copy_lane::fork(native_stream s, int device) {
  const native_event e = forks_[static_cast<std::size_t>(device)];
  last_forked_from_ = s;
  backend_.record(e, s);
  backend_.wait(in_, e);
  backend_.wait(out_, e);
}

void copy_lane::join(native_stream s) {
  backend_.record(in_done_, in_);
  backend_.record(out_done_, out_);
  backend_.wait(s, in_done_);
  backend_.wait(s, out_done_);
}

bool copy_lane::is_idle() { return backend_.is_done(in_done_) && backend_.is_done(out_done_); }

void lane_return::operator()(copy_lane* lane) const { stock->give_back(*lane); }

lane_lease lane_stock::take(const lane_key& key, int forked_from, native_stream in_turn) {
  lane_lease lease(find(key, in_turn), lane_return{this});
  if (!lease) {
    auto fresh = std::make_unique<copy_lane>(backend_, key);
    lock_guard lock(mutex_);
    all_.push_back({std::move(fresh)});
    lease.reset(all_.back().lane.get());
  }
  lease->restart();
  lease->reserve_fork_event(forked_from);
  return lease;
}

copy_lane* lane_stock::find(const lane_key& key, native_stream in_turn) {
  lock_guard lock(mutex_);
  std::vector<entry*> free;
  std::size_t count = 0;
  for (entry& e : all_) {
    if (e.lane->key() != key) continue;
    ++count;
    if (!e.taken) free.push_back(&e);
  }
  std::sort(free.begin(), free.end(), [](const entry* a, const entry* b) { return a->returned < b->returned; });
  const auto idle = std::find_if(free.rbegin(), free.rend(), [in_turn](entry* e) {
    return (in_turn.handle && e->lane->last_forked_from() == in_turn) || e->lane->is_idle();
  });
  entry* const chosen = idle != free.rend() ? *idle : count >= most && !free.empty() ? free.front() : nullptr;
  if (!chosen) return nullptr;
  chosen->taken = true;
  return chosen->lane.get();
}

void lane_stock::give_back(copy_lane& lane) {
  lock_guard lock(mutex_);
  for (entry& e : all_)
    if (e.lane.get() == &lane) e.taken = false, e.returned = ++returns_;
}

std::size_t lane_stock::trim(memory_kind kind, int device) {
  std::vector<std::unique_ptr<copy_lane>> leaving;
  {
    lock_guard lock(mutex_);
    for (entry& e : all_)
      if (!e.taken && e.lane->key().chunks > 0 && e.lane->key().kind == kind && e.lane->key().home == device)
        leaving.push_back(std::move(e.lane));
    std::erase_if(all_, [](const entry& e) { return !e.lane; });
  }
  std::size_t bytes = 0;
  for (auto& lane : leaving) {
    try {
      backend_.synchronize(lane->in());
      backend_.synchronize(lane->out());
    } catch (const error&) {  // a failed device: its work counts as complete
    }
    bytes += lane->key().chunk_bytes * lane->key().chunks;
    lane.reset();
  }
  return bytes;
}

copy_lane& lane_set::get(const lane_key& key) {
  for (const lane_lease& l : leases_)
    if (l->key() == key) return *l;
  leases_.push_back(stock_.take(key, forked_from_, in_turn_));
  return *leases_.back();
}

}  // namespace ferry::inline FERRY_ABI::detail
