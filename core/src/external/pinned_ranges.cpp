#include "external/pinned_ranges.hpp"

#include <unistd.h>
#include <algorithm>
#include <functional>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

bool is_before(const byte_range& a, const byte_range& b) {
  return a.begin != b.begin ? std::less<>{}(a.begin, b.begin) : std::less<>{}(a.end, b.end);
}
bool is_same(const byte_range& a, const byte_range& b) { return a.begin == b.begin && a.end == b.end; }

std::vector<byte_range> without(const std::vector<byte_range>& all, const std::vector<byte_range>& those) {
  std::vector<byte_range> rest;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [&](const byte_range& r) {
    return std::none_of(those.begin(), those.end(), [&](const byte_range& t) { return is_same(r, t); });
  });
  return rest;
}

}  // namespace

void pinned_ranges::add(byte_range bytes) {
  const auto at = pins_.insert(std::upper_bound(pins_.begin(), pins_.end(), bytes, is_before), bytes);
  const auto position = at - pins_.begin();
  try {
    bring_about(hulls_of(pins_));
  } catch (...) {
    pins_.erase(pins_.begin() + position);
    throw;
  }
}

void pinned_ranges::remove(byte_range bytes) {
  const auto at = std::find_if(pins_.begin(), pins_.end(), [&](const byte_range& r) { return is_same(r, bytes); });
  if (at != pins_.end()) pins_.erase(at);
  bring_about(hulls_of(pins_));
}

bool pinned_ranges::has(const std::byte* p) const {
  return std::any_of(registered_.begin(), registered_.end(),
                     [&](const byte_range& r) { return !std::less<>{}(p, r.begin) && std::less<>{}(p, r.end); });
}

// CUDA registers ranges at byte granularity, also several in one page, but none that overlap. A copy must not cross
// from one registered range to the next (seen on an H200 with driver 580). So adjacent ranges stay separate until a pin
// spans both.
std::vector<byte_range> pinned_ranges::hulls_of(const std::vector<byte_range>& pins) {
  std::vector<byte_range> hulls;
  for (const byte_range& r : pins)
    if (!hulls.empty() && r.begin < hulls.back().end)
      hulls.back().end = std::max(hulls.back().end, r.end, std::less<>{});
    else
      hulls.push_back(r);
  return hulls;
}

std::size_t pinned_ranges::size_of(const std::vector<byte_range>& ranges) {
  std::size_t bytes = 0;
  for (const byte_range& r : ranges) bytes += r.size();
  return bytes;
}

std::size_t pinned_ranges::growth(byte_range more) const {
  std::vector<byte_range> pins = pins_;
  pins.insert(std::upper_bound(pins.begin(), pins.end(), more, is_before), more);
  return size_of(hulls_of(pins)) - bytes();
}

void pinned_ranges::bring_about(const std::vector<byte_range>& wanted) {
  const std::vector<byte_range> leaving = without(registered_, wanted), coming = without(wanted, registered_);
  const auto unpin = [&](const byte_range& r) { backend_.unpin(const_cast<std::byte*>(r.begin), r.size()); };
  const auto pin = [&](const byte_range& r) { backend_.pin(const_cast<std::byte*>(r.begin), r.size()); };
  const auto change = [&] {
    std::vector<byte_range> now = registered_;
    const auto forget = [&](const byte_range& r) {
      std::erase_if(now, [&](const byte_range& q) { return is_same(q, r); });
    };
    for (const byte_range& r : leaving) forget(r), unpin(r);
    try {
      for (const byte_range& r : coming) pin(r), now.push_back(r);
    } catch (...) {  // restores the previous registrations
      for (const byte_range& r : coming)
        if (std::any_of(now.begin(), now.end(), [&](const byte_range& q) { return is_same(q, r); }))
          forget(r), unpin(r);
      for (const byte_range& r : leaving) pin(r), now.push_back(r);
      registered_ = std::move(now);
      throw;
    }
    std::sort(now.begin(), now.end(), is_before);
    registered_ = std::move(now);
  };
  if (leaving.empty())
    change();
  else
    quiet_(leaving, change);
}

}  // namespace ferry::inline FERRY_ABI::detail
