#include "ferry/core/detail/accounting/memory_counters.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "support/serial_number.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct memory_counters::table {
  explicit table(std::size_t cells) : own(std::make_unique<cell[]>(cells)) {}
  std::unique_ptr<cell[]> own;
  std::vector<memory_counts> before;  // counted by threads that used this entry earlier
  std::atomic<bool> is_taken{true};
};

// Released at thread exit. Frees in destructors of other thread-local objects may come later, and use add_late().
struct memory_counters::thread_tables {
  std::vector<std::pair<std::uint64_t, std::shared_ptr<table>>> all;
  ~thread_tables() {
    quick_ = {};
    ended = true;
    for (const auto& [serial, b] : all) b->is_taken.store(false, std::memory_order_release);
  }
  static thread_local constinit bool ended;
  static thread_tables& mine() {
    static thread_local thread_tables tables;
    return tables;
  }
};

thread_local constinit memory_counters::quick_book memory_counters::quick_{};
thread_local constinit bool memory_counters::thread_tables::ended = false;

memory_counters::memory_counters(std::size_t cells) : serial_(next_serial()), cells_(cells), settled_(cells) {
  tables_.push_back(std::make_shared<table>(cells));  // for late calls: written with the lock held
}

memory_counters::~memory_counters() = default;

memory_counters::cell* memory_counters::find_this_threads() noexcept {
  if (thread_tables::ended) return nullptr;
  try {
    auto& mine = thread_tables::mine().all;
    auto found = std::find_if(mine.begin(), mine.end(), [&](const auto& b) { return b.first == serial_; });
    if (found == mine.end()) {
      std::erase_if(mine, [](const auto& b) { return b.second.use_count() == 1; });  // of destroyed runtimes
      mine.reserve(mine.size() + 1);
      lock_guard lock(mutex_);
      std::shared_ptr<table> free_one;
      for (const auto& b : tables_)
        if (!free_one && b != tables_.front() && !b->is_taken.exchange(true, std::memory_order_acquire)) free_one = b;
      if (!free_one) tables_.push_back(free_one = std::make_shared<table>(cells_));
      free_one->before.resize(cells_);
      for (std::size_t i = 0; i < cells_; ++i) free_one->before[i] = free_one->own[i].counts();
      mine.emplace_back(serial_, std::move(free_one));
      found = mine.end() - 1;
    }
    quick_ = {serial_, found->second->own.get()};
    return quick_.cells;
  } catch (const std::bad_alloc&) {  // out of memory: the thread counts with the lock held
    return nullptr;
  }
}

void memory_counters::settle(cell& c, std::size_t index) noexcept {
  settled_cell& s = settled_[index];
  const std::int64_t pending = c.pending.load(std::memory_order_relaxed);
  const std::int64_t high =
      s.bytes.fetch_add(pending, std::memory_order_relaxed) + c.high.load(std::memory_order_relaxed);
  c.pending.store(0, std::memory_order_relaxed);
  c.high.store(0, std::memory_order_relaxed);
  std::int64_t peak = s.peak.load(std::memory_order_relaxed);
  while (peak < high && !s.peak.compare_exchange_weak(peak, high, std::memory_order_relaxed)) {
  }
}

void memory_counters::add_late(std::size_t index, std::size_t bytes, bool allocation) noexcept {
  lock_guard lock(mutex_);
  cell& c = tables_.front()->own[index];
  bump(allocation ? c.allocations : c.frees, 1);
  bump(allocation ? c.allocated_bytes : c.freed_bytes, bytes);
  settled_[index].bytes.fetch_add(allocation ? static_cast<std::int64_t>(bytes) : -static_cast<std::int64_t>(bytes));
}

memory_counts memory_counters::sum(std::size_t index) const {
  lock_guard lock(mutex_);
  memory_counts all;
  for (const auto& b : tables_) all += b->own[index].counts();
  return all;
}

std::size_t memory_counters::peak(std::size_t index) const {
  lock_guard lock(mutex_);
  std::int64_t now = settled_[index].bytes.load(std::memory_order_relaxed), above = 0;
  for (const auto& b : tables_) {
    const cell& c = b->own[index];
    const std::int64_t pending = c.pending.load(std::memory_order_relaxed);
    now += pending;
    above = std::max(above, c.high.load(std::memory_order_relaxed) - pending);
  }
  return static_cast<std::size_t>(
      std::max({now + above, settled_[index].peak.load(std::memory_order_relaxed), std::int64_t{0}}));
}

memory_counts memory_counters::of_this_thread(std::size_t index) const {
  if (thread_tables::ended) return {};
  for (const auto& [serial, b] : thread_tables::mine().all)
    if (serial == serial_) {
      const memory_counts now = b->own[index].counts(), &was = b->before[index];
      return {now.allocations - was.allocations, now.frees - was.frees, now.allocated_bytes - was.allocated_bytes,
              now.freed_bytes - was.freed_bytes};
    }
  return {};
}

}  // namespace ferry::inline FERRY_ABI::detail
