#include "pools/driver_pool.hpp"

#include <algorithm>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "support/memory_sizes.hpp"
#include "support/process_exit.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t granularity = 512;  // of the driver's blocks

// Enqueues one submission that uses no array. Returns its ticket.
template <class Submit>
ticket submit_on(timeline& on, Submit submit) {
  const ticket t = on.reserve();
  on.begin(t);
  struct publish {
    timeline& on;
    ticket t;
    ~publish() { on.submitted(t); }
  } const done{on, t};
  submit(on.stream());
  return t;
}

}  // namespace

driver_pool::driver_pool(memory_accounting& accounting, timelines& streams, memory_kind kind, int device,
                         const pool_options& options)
    : memory_pool(accounting, kind, device, options),
      backend_(*accounting.backend().pools()),
      streams_(streams),
      pool_(options.shared && kind == memory_kind::device ? backend_.default_pool(device, options)
                                                          : backend_.create_pool(kind, device, options)),
      own_(streams.take(device, 0)),
      nodes_(*this, kind, device) {
  if (kind == memory_kind::device) ungranted_ = ~(std::uint64_t{1} << device);
  frees_[&own_] = 0;
  watch_for_exit();
}

driver_pool::~driver_pool() {
  try {
    trim();
  } catch (const error&) {  // a failed device: process exit frees its memory
  }
}

void driver_pool::grant_peer(const allocation&, int device) {
  std::lock_guard lock(granting_);
  backend_.grant(pool_, device);
  ungranted_.fetch_and(~(std::uint64_t{1} << device), std::memory_order_release);
}

// Prefers the stream that this thread last enqueued work on: it will most likely use the bytes, and need not wait then.
timeline& driver_pool::line_to_allocate_on() {
  timeline* const last = streams_.find(this_thread_state.last_timeline);
  const bool usable = last && last->device() == device_ && last->origin() == stream_origin::own && !last->is_special();
  return usable ? *last : own_;
}

allocation_ref driver_pool::allocate(std::size_t bytes) {
  refuse_inside_submission("allocate");
  const std::size_t size = checked_size(bytes);
  tag_reservation booked = accounting_.before_allocate(*this, size);
  watch_for_exit();
  free_what_was_put_off();
  timeline& on = line_to_allocate_on();
  allocation* a = nullptr;
  {
    lock_guard lock(mutex_);
    a = &nodes_.take();
  }
  ticket t = 0;
  try {
    a->history.reserve(1);
    accounting_.acquire(*this, size, [&] {
      t = submit_on(on,
                    [&](native_stream s) { a->begin = static_cast<std::byte*>(backend_.allocate(pool_, size, s)); });
    });
  } catch (...) {
    lock_guard lock(mutex_);
    nodes_.give_back(*a);
    throw;
  }
  a->bytes = size;
  a->is_free = false;
  a->is_pooled = kind_ == memory_kind::device;
  set_labels(*a, 0);
  a->history.add(on, t, a->range(), true);
  a->history.change_owner();
  {
    lock_guard lock(mutex_);
    statistics_.allocated_bytes += size;
    ++statistics_.allocations, ++statistics_.made;
  }
  accounting_.reserved(*this, a->begin, size);
  allocation_ref r = allocation_ref::first(*a);
  accounting_.allocated(*a, booked);
  return r;
}

// After main the driver is not called: process exit frees its memory.
void driver_pool::deallocate(allocation& a) noexcept {
  take_from_owner(a);
  {
    lock_guard lock(mutex_);
    statistics_.allocated_bytes -= a.bytes;
    --statistics_.allocations;
  }
  put_off_.add(a);
  if (!this_thread_state.submitting && !is_exiting()) free_what_was_put_off();
}

// Frees that the driver refuses stay deferred for the next call.
void driver_pool::free_what_was_put_off() noexcept {
  put_off_.take_all([this](allocation& a) {
    try {
      free_or_fail(a);
    } catch (...) {
      put_off_.add(a);
    }
  });
}

// Work of another device that has failed counts as complete, and then the bytes are freed. Bytes of a failed device are
// freed by process exit.
void driver_pool::free_or_fail(allocation& a) {
  bool told = false;
  while (!own_.is_broken()) {
    timeline* with = nullptr;
    try {
      return free_now(a, with, told);
    } catch (const device_error& e) {
      if (!e.is_sticky()) throw;
      if (with) streams_.fail(with->device(), plain_what(e));
    }
  }
  if (!told) accounting_.returning(*this, a.begin, a.bytes);
  accounting_.returned(*this, a.bytes);
  lock_guard lock(mutex_);
  given_up_ += a.bytes;
  nodes_.give_back(a);
}

// Frees on the one stream that holds all incomplete uses. If there are several, frees on the pool's own stream behind
// them all, so that none of them waits for another (R12). Allocates no CPU memory. with: set to the stream of the free,
// for errors. told: set to true after observers are notified.
void driver_pool::free_now(allocation& a, timeline*& with, bool& told) {
  timeline* on = nullptr;
  const auto each_pending = [&](auto f) {
    std::lock_guard lock(a.history);
    a.history.each_hazard(nullptr, a.range(), true, f);
  };
  each_pending([&](timeline& by, ticket, bool) {
    if (on && on != &by) on = &own_;
    if (!on) on = &by;
  });
  if (!on || on->is_special() || on->origin() != stream_origin::own || !reserve_frees(*on)) on = &own_;
  if (on == &own_)  // wait_on() reports it if one of the two devices has failed
    each_pending([&](timeline& by, ticket at, bool) { own_.wait_on(by, at, false); });
  if (!std::exchange(told, true)) accounting_.returning(*this, a.begin, a.bytes);
  with = on;
  const ticket t = submit_on(*on, [&](native_stream s) { backend_.free(a.begin, s); });
  accounting_.returned(*this, a.bytes);
  lock_guard lock(mutex_);
  nodes_.give_back(a);
  ticket& last = frees_.find(on)->second;
  last = std::max(last, t);
}

// Reserves a place for the ticket, because the free itself must not fail afterwards. Returns false if there is no
// memory for it.
bool driver_pool::reserve_frees(timeline& on) noexcept {
  lock_guard lock(mutex_);
  try {
    frees_.try_emplace(&on, 0);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Waits for the frees on these streams, or queries them, and synchronizes so that the driver sees their completion.
// Returns those that the driver may not have seen. Work of another device that has failed counts as complete.
std::vector<driver_pool::point> driver_pool::see(std::vector<point> frees, release_depth how) {
  std::erase_if(frees, [&](const point& f) {
    try {
      if (how == release_depth::unused) f.by->wait(f.at);
      return f.by->is_broken() || f.by->poll_for_pools(f.at);
    } catch (const device_error& e) {
      if (!e.is_sticky()) throw;
      return true;
    }
  });
  return frees;
}

// The driver releases only bytes that the host has seen to be free. That takes a wait for an event behind the free, on
// the stream of the free; a query is not enough. ferry also concludes completion from events of other streams, and then
// does not wait. So if bytes remain in the pool, waits once more for each of these streams.
std::size_t driver_pool::release_cached(release_depth how) {
  refuse_inside_submission("trim a pool");
  free_what_was_put_off();
  std::vector<point> frees;
  {
    lock_guard lock(mutex_);
    if (own_.is_broken()) return std::exchange(given_up_, 0);
    for (const auto& [by, at] : frees_)
      if (at != 0) frees.push_back({by, at});
  }
  (void)see(frees, how);
  if (own_.is_broken()) return release_cached(how);
  const std::size_t before = backend_.usage(pool_).reserved_bytes;
  backend_.trim(pool_, 0);
  native_pool_usage left = backend_.usage(pool_);
  if (how == release_depth::unused && left.reserved_bytes > left.used_bytes && !frees.empty()) {
    std::vector<point> again = frees;
    for (point& f : again) f.at = f.by->fence();
    const std::vector<point> untold = see(std::move(again), how);  // another thread's query came first
    if (own_.is_broken()) return release_cached(how);
    backend_.trim(pool_, 0);
    left = backend_.usage(pool_);
    std::erase_if(frees, [&](const point& f) {
      return std::any_of(untold.begin(), untold.end(), [&](const point& u) { return u.by == f.by; });
    });
    lock_guard lock(mutex_);
    for (const point& f : frees)
      if (ticket& last = frees_.find(f.by)->second; last == f.at) last = 0;
  }
  return before > left.reserved_bytes ? before - left.reserved_bytes : 0;
}

// The driver does not report its free blocks: only allocated ones are listed.
void driver_pool::each_block(const std::function<void(const block_info&)>& f) const {
  lock_guard lock(mutex_);
  nodes_.each([&](const allocation& a) { f(info_of(a)); });
}

// Free bytes of the driver's pool serve any size once trimmed. So they count as free memory of the device.
request_cost driver_pool::cost_of(std::size_t bytes) const {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  if (size > most_bytes_at_once) return {SIZE_MAX, false, SIZE_MAX};
  request_cost cost{size, false, rounded_up(size, granularity)};
  if (options_.max_bytes != 0) {
    const std::size_t used = own_.is_broken() ? 0 : backend_.usage(pool_).used_bytes;
    cost.most_bytes = options_.max_bytes - std::min(options_.max_bytes, used);
  }
  return cost;
}

// Limits count the bytes of arrays: the driver's cached bytes do not count.
trimmable_bytes driver_pool::trimmable() const {
  if (own_.is_broken()) return {};
  const native_pool_usage now = backend_.usage(pool_);
  return {now.reserved_bytes - std::min(now.reserved_bytes, now.used_bytes), 0, 0};
}

source_state driver_pool::state() const {
  const pool_statistics s = statistics();
  return {s.allocated_bytes, s.reserved_bytes, s.reserved_bytes - std::min(s.reserved_bytes, s.allocated_bytes)};
}

pool_statistics driver_pool::statistics() const {
  const bool broken = own_.is_broken();  // do not call the driver of a failed device
  const std::size_t reserved = broken ? 0 : backend_.usage(pool_).reserved_bytes;
  lock_guard lock(mutex_);
  pool_statistics s = statistics_;
  s.reserved_bytes = broken ? s.allocated_bytes + given_up_ : reserved;
  s.blocks = nodes_.in_use();
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail
