#include "ferry/core/detail/ordering/access_history.hpp"

#include <algorithm>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::uint16_t short_count(std::size_t n) { return static_cast<std::uint16_t>(std::min<std::size_t>(n, 0xffff)); }

}  // namespace

// Preserves the order, so that inherited entries stay first.
template <class Which>
void access_history::erase_if(Which which) noexcept {
  const std::size_t inherited = inherited_;
  std::size_t left = 0;
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    if (which(uses_[i])) {
      if (i < inherited) --inherited_;
      continue;
    }
    if (left != i) uses_[left] = uses_[i];
    ++left;
  }
  uses_.keep_first(left);
}

void access_history::grow(std::size_t more) { uses_.reserve(2 * (uses_.size() + more)); }

void access_history::revoke_exclusive() noexcept {
  std::lock_guard lock(*exclusive_owner_.load(std::memory_order_relaxed));
  exclusive_owner_.store(nullptr, std::memory_order_relaxed);
  exclusive_uses_ = 0;
}

// behind_others: `by` waits for the entries of other timelines, so a covering use replaces them, too.
void access_history::add_another(timeline& by, ticket at, byte_range where, bool write, bool behind_others) noexcept {
  erase_if([&](const access_record& u) {
    const bool replaced = (behind_others || u.by == &by) && replaces(by, where, write, u);
    if (replaced && u.by == &by && is_open(u)) at = open_ticket;  // the raw pointer may still be in use
    return replaced || is_over(u);
  });
  uses_.push_back({&by, at, write, where});
  if (uses_.size() > limit_) join_by_timeline();
}

void access_history::add_beside(timeline& by, ticket at, byte_range where, bool write) noexcept {
  add_another(by, at, where, write, false);
  invalidate();
}

void access_history::mark_host_clean(std::uint64_t since) noexcept {
  if (host_clean_.load(std::memory_order_relaxed) || writes() != since) return;
  for (const access_record& u : uses_)
    if (u.write && !u.by->is_migration_only() && !is_over(u)) return;
  host_clean_.store(true, std::memory_order_release);
}

// R10: a later ticket and a wider range are always safe. Two or three entries remain for each timeline. With many
// timelines the limit grows, so that the next merge comes later. The order is that of the newest entry of each
// timeline. Lost and intact entries are not merged: the result would have the later ticket.
void access_history::join_by_timeline() {
  const std::size_t own = uses_.size() - inherited_;
  std::reverse(uses_.begin(), uses_.end());
  std::size_t left = 0, left_own = 0;
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    end_open(uses_[i]);
    const access_record u = uses_[i];
    const bool lost = is_lost(u);
    const auto is_like = [&](const access_record& v) {
      return v.by == u.by && v.write == u.write && is_lost(v) == lost;
    };
    std::size_t k = 0;
    while (k < left && !is_like(uses_[k])) ++k;
    if (k == left) {
      uses_[left++] = u;
      left_own += i < own;
      continue;
    }
    access_record& into = uses_[k];
    into.at = std::max<ticket>(into.at, u.at) & open_ticket;
    into.where = {std::min(into.where.begin, u.where.begin), std::max(into.where.end, u.where.end)};
  }
  uses_.keep_first(left);
  std::reverse(uses_.begin(), uses_.end());
  inherited_ = short_count(left - left_own);
  limit_ = short_count(std::max(usual_limit, 2 * left));
}

void access_history::change_owner() noexcept {
  invalidate();
  erase_if([](const access_record& u) { return u.by->finished(u.at); });  // drops lost entries, too
  inherited_ = short_count(uses_.size());
}

const access_record* access_history::last_use(byte_range where) const {
  for (std::size_t i = uses_.size(); i-- > inherited_;)
    if (uses_[i].where.overlaps(where)) return &uses_[i];
  return nullptr;
}

void access_history::clip_to(byte_range where) noexcept {
  drop_exclusive();
  erase_if([&](const access_record& u) { return !u.where.overlaps(where) || u.by->finished(u.at); });
  if (where.begin == where.end) set_advised(false);
  for (access_record& u : uses_) u.where = {std::max(u.where.begin, where.begin), std::min(u.where.end, where.end)};
}

void access_history::merge(const access_history& other) {
  drop_exclusive();
  invalidate();  // earlier host access checks do not cover the writes of the other history
  for (const access_record& u : other.uses_) {
    if (u.by->finished(u.at)) continue;
    // Merge entries that a split has cut in two. Otherwise the history of a block that is split and joined repeatedly
    // would double each time.
    const auto twin = std::find_if(uses_.begin(), uses_.end(), [&](const access_record& v) {
      return v.by == u.by && v.at == u.at && v.write == u.write && v.where.begin <= u.where.end &&
             u.where.begin <= v.where.end;
    });
    if (twin == uses_.end())
      reserve(1), uses_.push_back(u);
    else
      twin->where = {std::min(twin->where.begin, u.where.begin), std::max(twin->where.end, u.where.end)};
  }
  if (uses_.size() > limit_) join_by_timeline();
  if (other.contended_ > contended_) contended_ = other.contended_;
  if (other.is_advised()) set_advised(true);
}

}  // namespace ferry::inline FERRY_ABI::detail
