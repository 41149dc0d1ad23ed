// Bytes in use by label: tags, and names of arrays. Shared counters suffice, because few programs tag every allocation.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/memory_label.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Use of one label.
struct label_use {
  label_kind kind = label_kind::name;
  memory_label label = 0;
  std::size_t bytes = 0, peak_bytes = 0, allocations = 0;
  std::size_t total_bytes = 0;  // of all allocations so far; like the peak, of all kinds and devices
};

class label_accounts {
 public:
  // cells: number of combinations of kind and device.
  explicit label_accounts(std::size_t cells) : cells_(cells), any_(cells) {}
  ~label_accounts();
  label_accounts(const label_accounts&) = delete;
  label_accounts& operator=(const label_accounts&) = delete;

  // Makes room for a label, so that add() and remove() cannot fail later.
  void expect(label_kind kind, memory_label label);
  void add(label_kind kind, memory_label label, std::size_t cell, std::size_t bytes) noexcept {
    find(kind, label)->add(cell, bytes);
  }
  void remove(label_kind kind, memory_label label, std::size_t cell, std::size_t bytes) noexcept {
    find(kind, label)->remove(cell, bytes);
  }
  // The same for the account of all labelled allocations. Counts an allocation with tag and name once.
  void add_labelled(std::size_t cell, std::size_t bytes) noexcept { any_.add(cell, bytes); }
  void remove_labelled(std::size_t cell, std::size_t bytes) noexcept { any_.remove(cell, bytes); }

  label_use use(label_kind kind, memory_label label, std::size_t cell) const;
  label_use labelled(std::size_t cell) const;
  // Labels that hold or have held bytes; most bytes first.
  std::vector<label_use> all() const;

 private:
  struct counts {
    std::atomic<std::size_t> bytes{0}, allocations{0};
  };
  struct account {
    explicit account(std::size_t cells) : by_cell(cells) {}
    void add(std::size_t cell, std::size_t bytes) noexcept;
    void remove(std::size_t cell, std::size_t bytes) noexcept;
    counts all;
    std::atomic<std::size_t> peak{0}, total{0};
    std::vector<counts> by_cell;
  };
  // Accounts by label number, in pages that are allocated on first use.
  static constexpr std::size_t page_size = 512;
  using page = std::array<std::atomic<account*>, page_size>;
  template <std::size_t Most>
  using table = std::array<std::atomic<page*>, Most / page_size>;
  static_assert(most_tags % page_size == 0 && most_names % page_size == 0);
  const std::atomic<page*>* pages(label_kind kind) const {
    return kind == label_kind::tag ? tags_.data() : names_.data();
  }
  account* find(label_kind kind, memory_label label) const {
    const page* const p = pages(kind)[label / page_size].load(std::memory_order_acquire);
    return p ? (*p)[label % page_size].load(std::memory_order_acquire) : nullptr;
  }
  template <class F>
  void each(F f) const;

  const std::size_t cells_;
  std::mutex growing_;
  account any_;
  table<most_tags> tags_{};
  table<most_names> names_{};
};

}  // namespace ferry::inline FERRY_ABI::detail
