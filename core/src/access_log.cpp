#include "ferry/core/access_log.hpp"

#include <algorithm>

namespace ferry {

void access_log::add_to_several(timeline& by, ticket at, byte_range where, bool write) noexcept {
  std::erase_if(uses_, [&](const logged_use& u) {
    const bool replaced = replaces(by, where, write, u);
    if (replaced && u.at == open_ticket && u.by == &by) at = open_ticket;  // the raw pointer is still out
    return replaced || u.by->finished(u.at);
  });
  uses_.push_back({&by, at, write, where});
  if (uses_.size() > limit_) join_by_timeline();
}

// R10: later and wider is always safe. Two uses a timeline remain; with many timelines the next time comes later.
void access_log::join_by_timeline() {
  std::size_t kept = 0;
  for (const logged_use& u : uses_) {
    std::size_t k = 0;
    while (k < kept && (uses_[k].by != u.by || uses_[k].write != u.write)) ++k;
    if (k == kept) {
      uses_[kept++] = u;
      continue;
    }
    logged_use& into = uses_[k];
    into.at = std::max<ticket>(into.at, u.at) & open_ticket;
    into.where = {std::min(into.where.begin, u.where.begin), std::max(into.where.end, u.where.end)};
  }
  uses_.erase(uses_.begin() + static_cast<std::ptrdiff_t>(kept), uses_.end());
  limit_ = static_cast<std::uint32_t>(std::max(usual_limit, 2 * kept));
}

void access_log::keep_only(byte_range where) {
  std::erase_if(uses_, [&](const logged_use& u) { return !u.where.overlaps(where) || u.by->finished(u.at); });
  for (logged_use& u : uses_) u.where = {std::max(u.where.begin, where.begin), std::min(u.where.end, where.end)};
}

void access_log::inherit(const access_log& other) {
  for (const logged_use& u : other.uses_) {
    if (u.by->finished(u.at)) continue;
    // What a split cut in two becomes one again: else a block that is split and joined in turn doubles its log each time.
    const auto twin = std::find_if(uses_.begin(), uses_.end(), [&](const logged_use& v) {
      return v.by == u.by && v.at == u.at && v.write == u.write && v.where.begin <= u.where.end &&
             u.where.begin <= v.where.end;
    });
    if (twin == uses_.end())
      uses_.push_back(u);
    else
      twin->where = {std::min(twin->where.begin, u.where.begin), std::max(twin->where.end, u.where.end)};
  }
  if (uses_.size() > limit_) join_by_timeline();
  shared_ = std::max(shared_, other.shared_);
}

}  // namespace ferry
