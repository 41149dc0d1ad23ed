#include "pools/direct_pool.hpp"

#include <exception>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "pools/block_release.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {

direct_pool::direct_pool(memory_accounting& accounting, memory_kind kind, int device, const pool_options& options)
    : memory_pool(accounting, kind, device, options),
      backend_(accounting.backend()),
      nodes_(*this, kind, device) {}

direct_pool::~direct_pool() {
  try {
    trim();
  } catch (const error&) {  // a failed device: process exit frees its memory
  }
}

allocation_ref direct_pool::allocate(std::size_t bytes) {
  refuse_inside_submission("allocate");
  bytes = checked_size(bytes);  // not rounded, so that memory checkers see the array's true end
  tag_reservation booked = accounting_.before_allocate(*this, bytes);
  release_cached(release_depth::finished);
  allocation* a = nullptr;
  {
    lock_guard lock(mutex_);
    a = &nodes_.take();
  }
  try {
    accounting_.acquire(*this, bytes,
                        [&] { a->begin = static_cast<std::byte*>(backend_.allocate(kind_, device_, bytes)); });
  } catch (...) {
    lock_guard lock(mutex_);
    nodes_.give_back(*a);
    throw;
  }
  a->bytes = bytes;
  a->is_free = false;
  accounting_.reserved(*this, a->begin, bytes);
  {
    lock_guard lock(mutex_);
    statistics_.allocated_bytes += bytes, statistics_.reserved_bytes += bytes;
    ++statistics_.allocations, ++statistics_.segments, ++statistics_.made;
  }
  set_labels(*a, 0);
  a->history.change_owner();
  allocation_ref r = allocation_ref::first(*a);
  accounting_.allocated(*a, booked);
  return r;
}

void direct_pool::deallocate(allocation& a) noexcept {
  take_from_owner(a);
  lock_guard lock(mutex_);
  a.is_free = true;
  a.next = freed_;
  freed_ = &a;
  statistics_.allocated_bytes -= a.bytes;
  --statistics_.allocations;
}

// Takes the blocks off the list before it checks them, and holds no lock during the check (R7, R14).
std::size_t direct_pool::release_cached(release_depth how) {
  refuse_inside_submission("trim a pool");
  allocation* looked_at = nullptr;
  {
    lock_guard lock(mutex_);
    looked_at = std::exchange(freed_, nullptr);
  }
  std::size_t bytes = 0;
  std::exception_ptr first;
  while (looked_at) {
    allocation& a = *looked_at;
    looked_at = a.next;
    const bool over = release_if_unused(a, how, *this, accounting_, first);
    lock_guard lock(mutex_);
    if (over) {
      bytes += a.bytes;
      statistics_.reserved_bytes -= a.bytes;
      --statistics_.segments;
      nodes_.give_back(a);
    } else {
      a.next = freed_;
      freed_ = &a;
    }
  }
  if (first) std::rethrow_exception(first);
  return bytes;
}

void direct_pool::each_block(const std::function<void(const block_info&)>& f) const {
  lock_guard lock(mutex_);
  nodes_.each([&](const allocation& a) { f(info_of(a)); });
}

request_cost direct_pool::cost_of(std::size_t bytes) const {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  return {size, false, size};
}

trimmable_bytes direct_pool::trimmable() const {
  const pool_statistics s = statistics();
  const std::size_t freed = s.reserved_bytes - s.allocated_bytes;
  return {freed, freed, 0};
}

source_state direct_pool::state() const {
  const pool_statistics s = statistics();
  return {s.allocated_bytes, s.reserved_bytes, 0};
}

pool_statistics direct_pool::statistics() const {
  lock_guard lock(mutex_);
  pool_statistics s = statistics_;
  s.blocks = nodes_.in_use();
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail
