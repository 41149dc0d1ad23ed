#include "pools/segment_blocks.hpp"

#include <algorithm>
#include <new>

#include "pools/block_uses.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {

segment_blocks::segment_blocks(memory_resource& home, memory_kind kind, int device, const block_rules& rules,
                               const block_placement& placement)
    : rules_(rules),
      placement_(placement),
      nodes_(home, kind, device) {}

allocation* segment_blocks::take(std::size_t size, const timeline* on, search how) {
  lock_guard lock(mutex_);
  allocation* a = free_.find(
      size, on,
      [&](const allocation& b) FERRY_UNCHECKED_LOCKS {
        return rules_.fits(b.bytes, b.was_used, size) &&
               (how == search::tight || placement_.gap_before(b.range(), b.before, b.after, size).has_value());
      },
      how >= search::thorough);
  if (!a || (how == search::ready && !a->history.is_ready_for(on))) return nullptr;
  free_.remove(*a);
  try {
    a = &placed(*a, size);
    cut(*a, size);
  } catch (...) {
    free_.add(*a);
    throw;
  }
  a->was_used = true;
  counts_.allocated(a->bytes);
  return a;
}

// Cuts a block that is in no list. Both parts inherit the uses that overlap them (R12). If it throws, the block is
// unchanged.
void segment_blocks::cut(allocation& a, std::size_t size) {
  if (a.bytes == size || !rules_.can_cut(a.bytes, a.was_used)) return;
  allocation& rest = nodes_.take();
  rest.begin = a.begin + size;
  rest.bytes = a.bytes - size;
  try {
    rest.history.merge(a.history);
  } catch (...) {
    nodes_.give_back(rest);
    throw;
  }
  rest.history.clip_to(rest.range());
  rest.before = &a;
  rest.after = a.after;
  if (rest.after) rest.after->before = &rest;
  rest.tag = a.tag;
  a.after = &rest;
  a.bytes = size;
  a.history.clip_to(a.range());
  free_.add(rest);
}

// Returns the part of a block that a request is cut from. The block is in no list. If it throws, the block is
// unchanged.
allocation& segment_blocks::placed(allocation& a, std::size_t size) {
  const std::size_t gap = placement_.gap_before(a.range(), a.before, a.after, size).value_or(0);
  placement_.placed(size);
  if (gap == 0) return a;
  cut(a, gap);
  if (a.bytes != gap) return a;  // the block is never cut
  allocation& rest = *a.after;
  free_.remove(rest), free_.add(a);
  return rest;
}

void segment_blocks::store(allocation* chain) noexcept {
  lock_guard lock(mutex_);
  while (chain) {
    allocation& a = *chain;
    chain = a.next;
    free_.add(rules_.joins() ? join(a) : a);
  }
}

allocation& segment_blocks::join(allocation& a) noexcept {
  if (a.after && a.after->is_free) {
    allocation& next = *a.after;
    free_.remove(next);
    if (!swallow_next(a)) free_.add(next);
  }
  if (!a.before || !a.before->is_free) return a;
  allocation& before = *a.before;
  free_.remove(before);
  if (swallow_next(before)) return before;
  free_.add(before);
  return a;
}

// Returns false if there is no memory for the merged history: the two blocks are then unchanged.
bool segment_blocks::swallow_next(allocation& a) noexcept {
  allocation& next = *a.after;
  try {
    a.history.merge(next.history);
  } catch (const std::bad_alloc&) {
    return false;
  }
  a.tag = std::max(a.tag, next.tag);  // as old as its youngest part
  a.bytes += next.bytes;
  a.after = next.after;
  if (a.after) a.after->before = &a;
  nodes_.give_back(next);
  return true;
}

std::size_t segment_blocks::segment_for(std::size_t size) const {
  if (!rules_.shares_segments(size)) return size;
  lock_guard lock(mutex_);
  const std::size_t segment = rules_.shared_segment(size, reserved_), stride = placement_.stride(size);
  if (stride > segment / 2) return rounded_up(size + placement_.offset(size), rules_.granularity());
  return rounded_up(stride == size ? segment : segment / stride * stride, rules_.granularity());
}

allocation& segment_blocks::add_segment(void* begin, std::size_t segment, std::size_t size) {
  lock_guard lock(mutex_);
  allocation* a = &nodes_.take();
  a->begin = static_cast<std::byte*>(begin);
  a->bytes = segment;
  a->is_free = false;
  reserved_ += segment;
  ++segments_;
  try {
    a = &placed(*a, size);
    cut(*a, size);
  } catch (const std::bad_alloc&) {  // then the whole segment is one block
  }
  a->was_used = true;
  counts_.allocated(a->bytes);
  return *a;
}

std::vector<allocation*> segment_blocks::take_free_segments() {
  lock_guard lock(mutex_);
  std::vector<allocation*> whole;
  free_.each([&](allocation& a) {
    if (a.before) return;
    for (const allocation* b = a.after; b; b = b->after)
      if (!b->is_free) return;
    whole.push_back(&a);
  });
  std::erase_if(whole, [&](allocation* a) FERRY_LOCKED(mutex_) { return !take_merged(*a); });
  std::sort(whole.begin(), whole.end(), [](auto* a, auto* b) { return a->tag < b->tag; });
  return whole;
}

// Merges the blocks of a free segment into its first one, and takes it off the index. Returns false if there is no
// memory for the merged history: the blocks then stay in the index.
bool segment_blocks::take_merged(allocation& first) noexcept {
  while (first.after) {
    allocation& next = *first.after;
    free_.remove(next), free_.remove(first);
    const bool joined = swallow_next(first);
    free_.add(first);
    if (joined) continue;
    free_.add(next);
    return false;
  }
  free_.remove(first);
  return true;
}

void segment_blocks::remove_segment(allocation& a) noexcept {
  lock_guard lock(mutex_);
  reserved_ -= a.bytes;
  --segments_;
  nodes_.give_back(a);
}

bool segment_blocks::can_serve(std::size_t size) const {
  bool found = false;
  each_segment([&](const allocation& first) FERRY_UNCHECKED_LOCKS {
    std::size_t run = 0;
    const allocation* in_use = nullptr;  // the block before the run
    for (const allocation* a = &first; a && !found; a = a->after) {
      const bool is_used = is_taken(*a);
      if (is_used) in_use = a;
      run = is_used ? 0 : (rules_.joins() ? run : 0) + a->bytes;
      const bool run_ends = !rules_.joins() || !a->after || is_taken(*a->after);
      std::byte* const end = a->begin + a->bytes;
      found = run_ends && run >= size && rules_.fits(run, a->was_used, size) &&
              placement_.gap_before({end - run, end}, in_use, a->after, size).has_value();
    }
  });
  return found;
}

std::size_t segment_blocks::reserved_bytes() const {
  lock_guard lock(mutex_);
  return reserved_;
}

std::size_t segment_blocks::largest_free() const {
  lock_guard lock(mutex_);
  return free_.largest();
}

pool_statistics segment_blocks::statistics() const {
  lock_guard lock(mutex_);
  return {counts_.bytes, reserved_, counts_.allocations, nodes_.in_use(), segments_, counts_.made};
}

}  // namespace ferry::inline FERRY_ABI::detail
