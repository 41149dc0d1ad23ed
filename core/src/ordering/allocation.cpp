#include "ferry/core/detail/ordering/allocation.hpp"

#include <mutex>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {
constexpr std::uint64_t stale = std::uint64_t{1} << 32;  // see allocation::state
constexpr std::uint64_t one_generation = 2 * stale;
constexpr std::uint64_t references_mask = stale - 1;
}  // namespace

byte_range range_now(allocation& a) {
  std::lock_guard lock(a.history);
  return a.range();
}

allocation_ref allocation_ref::another(allocation& a) {
  allocation_ref r;
  r.what_ = &a;
  r.generation_ = generation_of(a.state.fetch_add(1));
  return r;
}

allocation_ref::allocation_ref(const allocation_ref& o) : what_(o.what_), generation_(o.generation_) {
  if (!what_) return;
  std::uint64_t now = what_->state.load(std::memory_order_relaxed);
  while (generation_of(now) == generation_ && !what_->state.compare_exchange_weak(now, now + 1)) {
  }
}

void allocation_ref::drop() noexcept {
  std::uint64_t now = what_->state.load(std::memory_order_acquire);
  for (;;) {
    if (generation_of(now) != generation_) return;
    if ((now & references_mask) == 1) {  // the only reference: no other thread can copy or free it
      what_->state.store(now - 1 + one_generation, std::memory_order_release);
      return what_->resource->deallocate(*what_);
    }
    if (what_->state.compare_exchange_weak(now, now - 1, std::memory_order_acq_rel)) return;
  }
}

void allocation_ref::free(freed_by how) noexcept {
  if (!what_) return;
  std::uint64_t now = what_->state.load(std::memory_order_relaxed);
  while (generation_of(now) == generation_)
    if (what_->state.compare_exchange_weak(now, ((now & ~references_mask) + one_generation) | stale,
                                           std::memory_order_acq_rel)) {
      remember_freed(*what_, generation_, how);
      what_->resource->deallocate(*what_);
      return;
    }
}

void throw_moved_from(const char* what) {
  throw invalid_argument(concat(what,
                                " was moved from or default-constructed, and holds nothing: use the object that it was "
                                "moved to, or assign a new one to it"));
}

void allocation_ref::throw_none() { throw_moved_from("the array"); }

void refuse_lost(const allocation& a, byte_range where, source_line at) {
  const access_record* const lost = a.history.find_lost(where);
  if (!lost) [[likely]]
    return;
  lost->by->throw_lost(
      "what " + array_text(a) + " holds" + (at.is_known() ? ", used in " + at.text() + "," : std::string()), lost->at);
}

}  // namespace ferry::inline FERRY_ABI::detail
