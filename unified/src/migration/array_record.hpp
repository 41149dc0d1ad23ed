// The record of one unified array: the locations of its pages, its settings, and the accesses of the CPU to it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/spin.hpp"
#include "ferry/unified/array_policy.hpp"
#include "ferry/unified/automatic.hpp"
#include "ferry/unified/report.hpp"
#include "migration/host_prefetcher.hpp"
#include "migration/page_map.hpp"
#include "migration/scope_list.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Advice to the driver about bytes of an array. number: of advice for a scope, else 0.
struct advice_given {
  byte_range where;
  memory_advice what;
  memory_location place;
  std::uint64_t number = 0;
};

struct array_record {
  explicit array_record(allocation& a) : what(a) {}
  // Fast path: all pages are there and have been used there many times in a row, except for parts of pages that are
  // mapped. The access changes nothing.
  bool is_settled_at(int place, byte_range where, std::size_t page) const {
    for (const page_run& g : pages.runs()) {
      if (!g.range().overlaps(where)) continue;
      if (g.by_elements) return false;
      if (g.where == place && g.user == place && g.streak == longest_streak) continue;
      const auto part = std::min(g.end, where.end) - std::max(g.begin, where.begin);
      if (place < 0 || g.where < 0 || !(g.mapped >> (place & 63) & 1) || static_cast<std::size_t>(part) >= page)
        return false;
    }
    return true;
  }
  // Ends the host prefetch, as a device accesses the array: pieces that were not sent stay where they are. Blocks until
  // pieces in transfer have arrived.
  void stop_arrival();

  allocation& what;  // the node
  spin_lock lock;    // guards all members below
  std::uint64_t generation = ~std::uint64_t{0};
  std::uint64_t used = 0;  // the time of the last use, as array_records counts it
  bool is_managed = true;  // false: borrowed memory of the program, which does not move. Constant while the array lives
  bool is_borrowed = false;  // its range may grow
  bool has_grown = false;    // the driver has no advice for the added bytes
  page_map pages;
  // Ranges with discardable contents, valid while the access epoch equals discardable_at.
  std::vector<byte_range> discardable;
  std::uint64_t discardable_at = 0;
  std::optional<migration> mode;
  std::optional<array_policy> policy;
  bool has_own_policy = false;       // by set_policy: policies by name do not apply
  std::uint64_t policies_asked = 0;  // number of sets of policies at the last lookup, for name_asked
  std::string name_asked;
  std::vector<advice_given> advice;   // advice of the program that it has not removed
  std::vector<cpu_touch> touches;     // the CPU's accesses, by line
  std::shared_ptr<arrival> arriving;  // host prefetch, in progress or complete
  scope_list scopes;                  // current accesses of the CPU
};

}  // namespace ferry::inline FERRY_ABI::detail
