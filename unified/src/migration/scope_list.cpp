#include "migration/scope_list.hpp"

#include <string>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

void scope_list::add(const scope& s) {
  scopes_.push_back(s);
  if (!s.is_unified) access_policy::held_beside_unified.fetch_add(1, std::memory_order_relaxed);
}

void scope_list::refuse_conflict(const coming_access& a) const {
  const bool writes = a.mode != access_mode::in;
  for (const scope& s : scopes_)
    if (s.where.overlaps(a.where) && (writes || s.writes))
      throw invalid_argument(array_text(a.what) + ": work that " + (writes ? "writes" : "reads") + " it is submitted" +
                             (a.at.is_known() ? " in " + a.at.text() : " in a line that is not known") +
                             " while the CPU still " + (s.writes ? "writes" : "reads") + " it through a " + s.through +
                             " made in " + s.at.text() + ": end " + (s.keeps_pages ? "the guard's" : "its") +
                             " scope first");
}

std::vector<byte_range> scope_list::without_pinned(byte_range where, std::size_t page) const {
  std::vector<byte_range> parts{where};
  for (const scope& s : scopes_) {
    if (!s.keeps_pages) continue;
    const auto first = reinterpret_cast<std::uintptr_t>(s.where.begin) / page * page;
    const auto last = (reinterpret_cast<std::uintptr_t>(s.where.end) + page - 1) / page * page;
    std::vector<byte_range> left;
    for (const byte_range p : parts) {
      const auto begin = reinterpret_cast<std::uintptr_t>(p.begin), end = reinterpret_cast<std::uintptr_t>(p.end);
      if (begin < first) left.push_back({p.begin, p.begin + (std::min(end, first) - begin)});
      if (last < end) left.push_back({p.end - (end - std::max(begin, last)), p.end});
    }
    parts = std::move(left);
  }
  return parts;
}

}  // namespace ferry::inline FERRY_ABI::detail
