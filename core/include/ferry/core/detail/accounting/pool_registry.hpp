// The pools of a runtime, and the bytes that they and pinned ranges hold.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <shared_mutex>
#include <vector>

#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/memory_limits.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Thread-safe.
class pool_registry {
 public:
  explicit pool_registry(const backend& of);

  void add(memory_source& s);
  void remove(memory_source& s) noexcept;
  // Calls f with each pool; none is destroyed meanwhile. f must not create or destroy pools.
  void each(const std::function<void(memory_source&)>& f) const;
  // As each(), but begins with pool number `first`, modulo their number, and ends when f returns false.
  void each_from(std::size_t first, const std::function<bool(memory_source&)>& f) const;

  // Bytes that pools have reserved from the backend, or are about to reserve, by kind and device.
  std::size_t reserved_bytes(memory_kind kind, int device) const { return cell(kind, device).load(); }
  void add_reserved(memory_kind kind, int device, std::size_t bytes) noexcept { cell(kind, device) += bytes; }
  void remove_reserved(memory_kind kind, int device, std::size_t bytes) noexcept { cell(kind, device) -= bytes; }
  // Bytes that ferry::pin has pinned.
  std::size_t pinned_bytes() const { return pinned_.load(); }
  void add_pinned(std::size_t bytes) noexcept { pinned_ += bytes; }
  void remove_pinned(std::size_t bytes) noexcept { pinned_ -= bytes; }

  // Bytes of blocks that pools have handed out beyond those of arrays: retained, or in quarantine.
  std::size_t retained_bytes(memory_kind kind, int device, std::size_t of_arrays) const;
  // RAM of the system in use: pinned memory, and unified memory that does not fit on its devices.
  std::size_t bytes_in_system() const;
  // Size of the memory that percentages of a scope refer to, and that its limits must not exceed; 0: none.
  std::size_t capacity_of(const memory_scope& scope) const;
  std::size_t devices() const { return device_bytes_.size(); }

 private:
  std::atomic<std::size_t>& cell(memory_kind kind, int device) const {
    return reserved_[static_cast<std::size_t>(kind) * devices() + static_cast<std::size_t>(device)];
  }

  std::vector<std::size_t> device_bytes_;
  mutable std::shared_mutex enrolling_;
  std::vector<memory_source*> sources_;
  mutable std::vector<std::atomic<std::size_t>> reserved_;  // by kind and device
  std::atomic<std::size_t> pinned_{0};
};

}  // namespace ferry::inline FERRY_ABI::detail
