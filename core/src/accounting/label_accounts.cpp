#include "ferry/core/detail/accounting/label_accounts.hpp"

#include <algorithm>

namespace ferry::inline FERRY_ABI::detail {

template <class F>
void label_accounts::each(F f) const {
  const auto in = [&](label_kind kind, const auto& pages) {
    for (std::size_t i = 0; i < pages.size(); ++i)
      if (const page* const p = pages[i].load(std::memory_order_acquire))
        for (std::size_t k = 0; k < page_size; ++k)
          if (account* const a = (*p)[k].load(std::memory_order_acquire))
            f(kind, static_cast<memory_label>(i * page_size + k), *a);
  };
  in(label_kind::tag, tags_);
  in(label_kind::name, names_);
}

label_accounts::~label_accounts() {
  each([](label_kind, memory_label, account& a) { delete &a; });
  for (auto& p : tags_) delete p.load();
  for (auto& p : names_) delete p.load();
}

void label_accounts::expect(label_kind kind, memory_label label) {
  if (find(kind, label)) return;
  std::lock_guard lock(growing_);
  auto& at = kind == label_kind::tag ? tags_[label / page_size] : names_[label / page_size];
  page* p = at.load(std::memory_order_relaxed);
  if (!p) {
    p = std::make_unique<page>().release();
    at.store(p, std::memory_order_release);
  }
  std::atomic<account*>& one = (*p)[label % page_size];
  if (!one.load(std::memory_order_relaxed))
    one.store(std::make_unique<account>(cells_).release(), std::memory_order_release);
}

void label_accounts::account::add(std::size_t cell, std::size_t bytes) noexcept {
  by_cell[cell].bytes += bytes;
  ++by_cell[cell].allocations;
  ++all.allocations;
  total.fetch_add(bytes, std::memory_order_relaxed);
  const std::size_t now = all.bytes += bytes;
  std::size_t most = peak.load();
  while (most < now && !peak.compare_exchange_weak(most, now)) {
  }
}

void label_accounts::account::remove(std::size_t cell, std::size_t bytes) noexcept {
  by_cell[cell].bytes -= bytes;
  --by_cell[cell].allocations;
  all.bytes -= bytes;
  --all.allocations;
}

label_use label_accounts::use(label_kind kind, memory_label label, std::size_t cell) const {
  const account* const a = find(kind, label);
  if (!a) return {kind, label};
  return {kind, label, a->by_cell[cell].bytes, a->peak, a->by_cell[cell].allocations, a->total};
}

label_use label_accounts::labelled(std::size_t cell) const {
  return {{}, 0, any_.by_cell[cell].bytes, any_.peak, any_.by_cell[cell].allocations, any_.total};
}

std::vector<label_use> label_accounts::all() const {
  std::vector<label_use> uses;
  each([&](label_kind kind, memory_label label, const account& a) {
    if (a.peak > 0) uses.push_back({kind, label, a.all.bytes, a.peak, a.all.allocations, a.total});
  });
  std::stable_sort(uses.begin(), uses.end(), [](const label_use& a, const label_use& b) { return a.bytes > b.bytes; });
  return uses;
}

}  // namespace ferry::inline FERRY_ABI::detail
