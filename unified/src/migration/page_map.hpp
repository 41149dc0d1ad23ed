// Locations and recent users of the pages of one allocation: runs of pages in the same state, by address.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "ferry/core/detail/ordering/access_history.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline constexpr int longest_streak = 16;
inline constexpr int on_the_cpu = -1, unknown_location = -2;

struct page_run {
  const std::byte *begin = nullptr, *end = nullptr;
  int where = unknown_location;  // a device, on_the_cpu, or unknown_location: never used, or written by elements
  int user = unknown_location;   // last user; streak: its uses in a row
  int streak = 0;
  int before = unknown_location;  // device that it left for another one; flips: how often it then went back
  int flips = 0;
  std::uint64_t mapped = 0;                      // bit d: device d has it mapped in place
  bool migration_disabled = false;               // ping-pong limit reached
  bool by_elements = false;                      // the CPU has accessed elements of it after the last device use
  bool has_a_place = false, duplicated = false;  // advice of the program, which has precedence
  bool is_advised() const { return has_a_place || duplicated; }

  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
  byte_range range() const { return {begin, end}; }
  bool same_state(const page_run& o) const {
    return where == o.where && user == o.user && streak == o.streak && before == o.before && flips == o.flips &&
           mapped == o.mapped && migration_disabled == o.migration_disabled && by_elements == o.by_elements &&
           has_a_place == o.has_a_place && duplicated == o.duplicated;
  }
};

class page_map {
 public:
  void reset(byte_range all) {
    runs_.assign(1, page_run{});
    runs_[0].begin = all.begin, runs_[0].end = all.end;
  }
  // Extends the map to a range that has grown at either end.
  void extend(byte_range all) {
    page_run more;
    if (all.begin < runs_.front().begin) {
      more.begin = all.begin, more.end = runs_.front().begin;
      runs_.insert(runs_.begin(), more);
    }
    if (runs_.back().end < all.end) {
      more.begin = runs_.back().end, more.end = all.end;
      runs_.push_back(more);
    }
    join();
  }
  byte_range all() const { return runs_.empty() ? byte_range{} : byte_range{runs_.front().begin, runs_.back().end}; }
  const std::vector<page_run>& runs() const { return runs_; }

  // Calls f(run) for each run in the range, split at the ends of the range. Then joins neighbours in the same state.
  template <class F>
  void each(byte_range where, F f) {
    std::size_t i = cut(where.begin);
    const std::size_t end = cut(where.end);
    for (; i < end; ++i) f(runs_[i]);
    join();
  }

 private:
  // Returns the index of the run that begins at p; splits a run if necessary.
  std::size_t cut(const std::byte* p) {
    std::size_t i = 0;
    while (i < runs_.size() && runs_[i].end <= p) ++i;
    if (i == runs_.size() || p <= runs_[i].begin) return i;
    page_run first = runs_[i];
    first.end = p;
    runs_[i].begin = p;
    runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(i), first);
    return i + 1;
  }
  void join() {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < runs_.size(); ++i)
      if (runs_[kept].same_state(runs_[i]))
        runs_[kept].end = runs_[i].end;
      else
        runs_[++kept] = runs_[i];
    if (!runs_.empty()) runs_.resize(kept + 1);
  }
  std::vector<page_run> runs_;
};

}  // namespace ferry::inline FERRY_ABI::detail
