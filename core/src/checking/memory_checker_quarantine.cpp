// Quarantine: freed checked blocks are withheld from their pools for a while, and checked twice.
#include <algorithm>
#include <utility>

#include "checking/memory_checker.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

void memory_checker::deallocate(allocation& a) noexcept {
  if (!this_thread_state.submitting) return retire(leave_live(a));
  late_.add(a);
}

memory_checker::block memory_checker::leave_live(allocation& a) noexcept {
  std::lock_guard lock(mutex_);
  const auto at = live_.find(&a);
  block b = std::move(at->second);
  live_.erase(at);
  b.what.name = a.name.get();
  return b;
}

std::size_t memory_checker::retire_late_ones() noexcept {
  std::size_t bytes = 0;
  late_.take_all([&](allocation& a) {
    bytes += a.bytes;
    retire(leave_live(a));
  });
  return bytes;
}

// No references to the block remain. Never blocks: the check happens when the copies of its edges have arrived.
void memory_checker::retire(block b) noexcept {
  allocation* const node = std::exchange(b.node, nullptr);
  allocation& inner = *b.inner.unchecked();
  try {
    b.what.tag = label_text(label_kind::tag, labels_of(*node).tag);
    const bool poison = runtime_.checks.has(check::poison);
    block live = b;
    live.node = node;
    copy_edges(live, *node, poison);
    b.is_poisoned = poison;
  } catch (const error&) {  // a failed device, or no memory: the block is not checked
  }
  {
    std::lock_guard outer_log(node->history);
    std::lock_guard inner_log(inner.history);
    inner.history.clip_to({});
    inner.history.merge(node->history);
  }
  give_back_node(node);
  runtime_.memory().retain(inner, retained_by::checks);
  inner.name.clear();
  std::size_t bytes = 0, blocks = 0;
  {
    std::lock_guard lock(mutex_);
    quarantine_bytes_ += inner.bytes;
    quarantine_.push_back(std::move(b));
    ++quarantined_;
    bytes = settings_ ? settings_->quarantine_bytes : 0;
    blocks = settings_ ? settings_->quarantine_blocks : 0;
  }
  shrink_quarantine(bytes, blocks);
}

void memory_checker::shrink_quarantine(std::size_t bytes, std::size_t blocks) noexcept {
  for (;;) {
    block b;
    {
      std::lock_guard lock(mutex_);
      if (quarantine_.empty() || (quarantine_bytes_ <= bytes && quarantine_.size() <= blocks)) return;
      b = std::move(quarantine_.front());
      quarantine_.pop_front();
      quarantine_bytes_ -= b.inner.unchecked()->bytes;
    }
    try {
      if (b.is_poisoned && !this_thread_state.submitting) copy_edges(b, *b.inner.unchecked(), false);
    } catch (const error&) {  // as above
    }
    b.inner.free();
    --quarantined_;
  }
}

std::size_t memory_checker::release() noexcept {
  const std::size_t late = retire_late_ones();  // the quarantine may have released some of these already
  std::size_t bytes = 0;
  {
    std::lock_guard lock(mutex_);
    bytes = quarantine_bytes_;
  }
  shrink_quarantine(0, 0);
  return std::max(late, bytes);
}

}  // namespace ferry::inline FERRY_ABI::detail
