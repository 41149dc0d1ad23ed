// The edges of checked blocks: copied to the CPU behind all uses, compared there, and reported.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "checking/memory_checker.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/allocation_labels.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t looked_at = 256;  // bytes at each end of a freed block

std::size_t edge_of(std::size_t bytes) { return std::min(bytes, looked_at); }

}  // namespace

// Copies the edges of a block to the CPU behind all its uses; then poisons the block if requested.
void memory_checker::copy_edges(const block& b, allocation& of, bool then_poison) {
  const std::byte* const begin = b.what.address;
  const std::byte* const end = begin + b.what.bytes;
  const std::size_t edge = edge_of(b.what.bytes), half = b.zone + edge;
  std::byte* slot = nullptr;
  {
    std::lock_guard lock(mutex_);
    slot = slots_.take(2 * half);
  }
  try {
    const ticket at = submit(of, {begin - b.zone, end + b.zone}, then_poison, [&](native_stream s) {
      backend().copy(s, slot, begin - b.zone, half);
      backend().copy(s, slot + half, end - edge, half);
      if (then_poison) fill(s, {begin, end}, poison_byte);
    });
    std::lock_guard lock(mutex_);
    copies_.push_back({b.what, b.serial, b.zone, edge, b.node == nullptr, b.is_poisoned, slot, &line(of.device), at});
    ++waiting_;
  } catch (...) {
    std::lock_guard lock(mutex_);
    slots_.give_back(slot, 2 * half);
    throw;
  }
}

void memory_checker::look_at_copies(bool wait) noexcept {
  if (this_thread_state.submitting) return;
  std::lock_guard lock(mutex_);
  for (auto c = copies_.begin(); c != copies_.end();) {
    bool is_there = false;
    try {
      if (wait) c->by->wait(c->at);
      is_there = wait || c->by->poll(c->at);
      if (is_there && !c->by->is_lost(c->at)) look_at(*c);
    } catch (const error&) {  // the device failed: there is no data to check
      is_there = true;
    }
    if (!is_there) {
      ++c;
      continue;
    }
    slots_.give_back(c->slot, 2 * (c->zone + c->edge));
    c = copies_.erase(c);
    --waiting_;
  }
}

void memory_checker::look_at(const copied_edges& c) {
  const std::size_t half = c.zone + c.edge;
  const auto piece = [&](memory_fault::place where, std::size_t in_slot, std::size_t count, std::ptrdiff_t offset,
                         std::byte expected) {
    const std::byte* const begin = c.slot + in_slot;
    const auto is_wrong = [&](std::byte b) { return b != expected; };
    const auto* const first = std::find_if(begin, begin + count, is_wrong);
    if (first == begin + count) return;
    memory_fault f = c.what;
    f.where = where;
    f.first = offset + (first - begin);
    f.changed = static_cast<std::size_t>(std::count_if(begin, begin + count, is_wrong));
    report(std::move(f), c.serial);
  };
  const auto bytes = static_cast<std::ptrdiff_t>(c.what.bytes), edge = static_cast<std::ptrdiff_t>(c.edge);
  piece(memory_fault::place::before, 0, c.zone, -static_cast<std::ptrdiff_t>(c.zone), zone_byte);
  piece(memory_fault::place::after, half + c.edge, c.zone, bytes, zone_byte);
  if (!c.was_freed || !c.is_poisoned) return;
  piece(memory_fault::place::freed, c.zone, c.edge, 0, poison_byte);
  if (c.what.bytes > looked_at) piece(memory_fault::place::freed, half, c.edge, bytes - edge, poison_byte);
}

// A fault around a live array is found again when the array is freed, and when its quarantine ends.
void memory_checker::report(memory_fault f, std::uint64_t serial) {
  if (!told_.insert({serial, f.where}).second) return;
  std::fprintf(stderr, "ferry: %s\n", f.text().c_str());
  faults_.push_back(std::move(f));
}

std::vector<memory_fault> memory_checker::check() {
  refuse_inside_submission("check memory");
  refuse_inside_capture("checking memory");
  retire_late_ones();
  {
    std::lock_guard lock(mutex_);  // other threads that free these blocks wait, or defer the free
    for (auto& [node, b] : live_) {
      b.what.name = node->name.get();
      b.what.tag = label_text(label_kind::tag, labels_of(*node).tag);
      copy_edges(b, *node, false);
    }
    for (const block& b : quarantine_)
      if (b.is_poisoned) copy_edges(b, *b.inner.unchecked(), false);
  }
  look_at_copies(true);
  std::lock_guard lock(mutex_);
  return std::exchange(faults_, {});
}

}  // namespace ferry::inline FERRY_ABI::detail
