// The accesses of the CPU to one array that are in progress: through guards, and through tracked spans.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ferry/core/detail/ordering/access_policy.hpp"

namespace ferry::inline FERRY_ABI::detail {

class scope_list {
 public:
  struct scope {
    std::uint64_t number;
    byte_range where;
    bool writes;
    source_line at;
    const char* through;
    bool keeps_pages;  // a guard, which pins the pages to the CPU
    bool is_unified;
  };
  scope_list() = default;
  ~scope_list() { clear(); }
  scope_list(const scope_list&) = delete;
  scope_list& operator=(const scope_list&) = delete;

  void add(const scope& s);
  void end(std::uint64_t number) {
    drop([&](const scope& s) { return s.number == number; });
  }
  void clear() {
    drop([](const scope&) { return true; });
  }
  bool empty() const { return scopes_.empty(); }
  // Throws invalid_argument if the access conflicts with an access of the CPU.
  void refuse_conflict(const coming_access& a) const;
  // True if guards pin pages of these bytes to the CPU.
  bool keeps(byte_range where) const {
    return std::any_of(scopes_.begin(), scopes_.end(),
                       [&](const scope& s) { return s.keeps_pages && s.where.overlaps(where); });
  }
  // Returns the range without the pages that guards pin to the CPU.
  std::vector<byte_range> without_pinned(byte_range where, std::size_t page) const;

 private:
  template <class Which>
  void drop(Which which) {
    std::erase_if(scopes_, [&](const scope& s) {
      if (!which(s)) return false;
      if (!s.is_unified) access_policy::held_beside_unified.fetch_sub(1, std::memory_order_relaxed);
      return true;
    });
  }
  std::vector<scope> scopes_;
};

}  // namespace ferry::inline FERRY_ABI::detail
