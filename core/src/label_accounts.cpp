#include "ferry/core/label_accounts.hpp"

#include <algorithm>

namespace ferry {

label_accounts::~label_accounts() {
  for (const auto& a : accounts_) delete a.load();
}

void label_accounts::expect(memory_label label, bool is_tag) {
  account* a = accounts_[label].load(std::memory_order_acquire);
  if (!a) {
    std::lock_guard lock(growing_);
    a = accounts_[label].load(std::memory_order_relaxed);
    if (!a) {
      a = std::make_unique<account>(cells_).release();
      accounts_[label].store(a, std::memory_order_release);
    }
  }
  if (is_tag) a->is_tag.store(true, std::memory_order_relaxed);
}

void label_accounts::add(memory_label label, std::size_t cell, std::size_t bytes) noexcept {
  account& a = *accounts_[label].load(std::memory_order_acquire);
  a.by_cell[cell].bytes += bytes;
  ++a.by_cell[cell].allocations;
  ++a.all.allocations;
  a.total.fetch_add(bytes, std::memory_order_relaxed);
  const std::size_t now = a.all.bytes += bytes;
  std::size_t peak = a.peak.load();
  while (peak < now && !a.peak.compare_exchange_weak(peak, now)) {
  }
}

void label_accounts::remove(memory_label label, std::size_t cell, std::size_t bytes) noexcept {
  account& a = *accounts_[label].load(std::memory_order_acquire);
  a.by_cell[cell].bytes -= bytes;
  --a.by_cell[cell].allocations;
  a.all.bytes -= bytes;
  --a.all.allocations;
}

label_use label_accounts::use(memory_label label, std::size_t cell) const {
  const account* a = accounts_[label].load(std::memory_order_acquire);
  if (!a) return {label};
  return {label, a->is_tag, a->by_cell[cell].bytes, a->peak, a->by_cell[cell].allocations, a->total};
}

std::vector<label_use> label_accounts::all() const {
  std::vector<label_use> uses;
  for (memory_label l = 1; l < most_labels; ++l)
    if (const account* a = accounts_[l].load(std::memory_order_acquire); a && a->peak > 0)
      uses.push_back({l, a->is_tag, a->all.bytes, a->peak, a->all.allocations, a->total});
  std::stable_sort(uses.begin(), uses.end(), [](const label_use& a, const label_use& b) { return a.bytes > b.bytes; });
  return uses;
}

}  // namespace ferry
