// Which memory of the CPU is pinned for fr::pin: spans that overlap are registered with the driver as one.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/access_history.hpp"

namespace ferry {

// The caller locks.
class pinned_ranges {
 public:
  // Calls change() while no device uses any of the ranges, which are about to be unpinned.
  using quiescence = std::function<void(std::span<const byte_range> leaving, const std::function<void()>& change)>;

  pinned_ranges(ferry::backend& backend, quiescence quiet) : backend_(backend), quiet_(std::move(quiet)) {}
  // Throws what the backend's pin throws; then nothing has changed.
  void add(byte_range bytes);
  // The bytes must have been added.
  void remove(byte_range bytes);
  bool has(const std::byte* p) const;
  std::size_t registrations() const { return registered_.size(); }
  std::size_t bytes() const { return size_of(registered_); }
  // By how much add() would make that more.
  std::size_t growth(byte_range more) const;

 private:
  // The hulls of pins that overlap.
  static std::vector<byte_range> hulls_of(const std::vector<byte_range>& pins);
  static std::size_t size_of(const std::vector<byte_range>& ranges);
  void bring_about(const std::vector<byte_range>& wanted);
  ferry::backend& backend_;
  quiescence quiet_;
  std::vector<byte_range> pins_;        // by address, each as often as it was added
  std::vector<byte_range> registered_;  // by address, disjoint
};

}  // namespace ferry
