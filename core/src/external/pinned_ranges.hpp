// Memory of the CPU that fr::pin has pinned: overlapping spans are registered with the driver as one range.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/access_history.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Not thread-safe: the caller holds a lock.
class pinned_ranges {
 public:
  // Calls change() while no device uses any of the ranges that are about to be unpinned.
  using quiescence = std::function<void(std::span<const byte_range> leaving, const std::function<void()>& change)>;

  pinned_ranges(detail::backend& backend, quiescence quiet) : backend_(backend), quiet_(std::move(quiet)) {}
  // Throws what the backend's pin throws; nothing has changed then.
  void add(byte_range bytes);
  // The bytes must be ones that were added.
  void remove(byte_range bytes);
  bool has(const std::byte* p) const;
  std::size_t registrations() const { return registered_.size(); }
  std::size_t bytes() const { return size_of(registered_); }
  // Returns by how many bytes add() would increase bytes().
  std::size_t growth(byte_range more) const;

 private:
  // Returns the bounding ranges of overlapping pins.
  static std::vector<byte_range> hulls_of(const std::vector<byte_range>& pins);
  static std::size_t size_of(const std::vector<byte_range>& ranges);
  void bring_about(const std::vector<byte_range>& wanted);
  detail::backend& backend_;
  quiescence quiet_;
  std::vector<byte_range> pins_;        // by address, each as often as it was added
  std::vector<byte_range> registered_;  // by address, disjoint
};

}  // namespace ferry::inline FERRY_ABI::detail
