// Bytes in use by label: tags, and names of arrays. Few programs tag every allocation: plain shared counters will do.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ferry/core/memory_tag.hpp"

namespace ferry {

// What one label holds.
struct label_use {
  memory_label label = 0;
  bool is_tag = false;
  std::size_t bytes = 0, peak_bytes = 0, allocations = 0;
  std::size_t total_bytes = 0;  // ever; as the peak, over all kinds and devices
};

class label_accounts {
 public:
  // cells: one for each kind and device.
  explicit label_accounts(std::size_t cells) : cells_(cells) { expect(0); }
  ~label_accounts();
  label_accounts(const label_accounts&) = delete;
  label_accounts& operator=(const label_accounts&) = delete;

  // Makes room for a label, before add and remove, which then cannot fail.
  void expect(memory_label label, bool is_tag = false);
  void add(memory_label label, std::size_t cell, std::size_t bytes) noexcept;
  void remove(memory_label label, std::size_t cell, std::size_t bytes) noexcept;

  // Label 0 counts what has any label.
  label_use use(memory_label label, std::size_t cell) const;
  // Labels that hold something, or did; most bytes first.
  std::vector<label_use> all() const;

 private:
  struct counts {
    std::atomic<std::size_t> bytes{0}, allocations{0};
  };
  struct account {
    explicit account(std::size_t cells) : by_cell(cells) {}
    counts all;
    std::atomic<std::size_t> peak{0}, total{0};
    std::atomic<bool> is_tag{false};
    std::vector<counts> by_cell;
  };
  const std::size_t cells_;
  std::mutex growing_;
  std::array<std::atomic<account*>, most_labels> accounts_{};
};

}  // namespace ferry
