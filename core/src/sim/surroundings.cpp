#include "surroundings.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/thread_object.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

bool is_before(const std::byte* a, const std::byte* b) { return std::less<>{}(a, b); }

template <class F>
void each_use(std::span<const work* const> all, F f) {
  for (const work* w : all)
    for (const kernel_use& u : w->uses)
      if (u.bytes != 0) f(u);
}

}  // namespace

surroundings& surroundings::of(std::span<const work* const> all, const address_space& memory) {
  surroundings& mine = detail::thread_object<surroundings>::get();
  mine.all_ = all;
  mine.zones_.clear();
  if (std::any_of(all.begin(), all.end(), [](const work* w) { return w->has_pointers; })) return mine;
  each_use(all, [&](const kernel_use& u) {
    if (u.writes) mine.add_zones(u, memory);
  });
  return mine;
}

// Adds zones beside the range that u covers together with all uses that overlap it, as parts of a shard overlap its
// bounding range.
void surroundings::add_zones(const kernel_use& u, const address_space& memory) {
  const std::span<const std::byte> block = memory.guarded(u.begin);
  if (block.empty()) return;
  const std::byte *begin = u.begin, *end = u.begin + u.bytes;
  for (bool grows = true; std::exchange(grows, false);)
    each_use(all_, [&](const kernel_use& v) {
      const std::byte* const v_end = v.begin + v.bytes;
      if (!is_before(v.begin, end) || !is_before(begin, v_end)) return;
      if (!is_before(v.begin, begin) && !is_before(end, v_end)) return;
      begin = std::min(begin, v.begin, std::less<>{}), end = std::max(end, v_end, std::less<>{});
      grows = true;
    });
  const std::byte* low = std::max(block.data(), begin - guard_bytes, std::less<>{});
  const std::byte* high = std::min(block.data() + block.size(), end + guard_bytes, std::less<>{});
  each_use(all_, [&](const kernel_use& v) {
    if (!is_before(v.begin, end)) high = std::min(high, v.begin, std::less<>{});
    if (!is_before(begin, v.begin + v.bytes)) low = std::max(low, v.begin + v.bytes, std::less<>{});
  });
  const auto add = [&](const std::byte* from, const std::byte* to) {
    if (is_before(from, to)) zones_.push_back({from, static_cast<std::size_t>(to - from), begin, end, &u});
  };
  add(low, begin);
  add(end, high);
}

void surroundings::before() {
  std::size_t bytes = 0;
  for (const zone& z : zones_) bytes += z.bytes;
  if (saved_.size() < bytes) saved_.resize(bytes);
  std::byte* to = saved_.data();
  for (const zone& z : zones_) std::memcpy(std::exchange(to, to + z.bytes), z.begin, z.bytes);
}

std::string surroundings::after() const {
  const std::byte* was = saved_.data();
  for (const zone& z : zones_) {
    if (std::memcmp(was, z.begin, z.bytes) != 0) {
      const std::byte* const at = std::mismatch(z.begin, z.begin + z.bytes, was).first;
      const std::string text = overrun_text(*z.use, static_cast<std::size_t>(z.used_end - z.used_begin),
                                            at - (z.begin == z.used_end ? z.used_end : z.used_begin));
      if (all_.size() == 1) return concat(all_[0]->verb, " '", all_[0]->name, "': ", text);
      return "a kernel of a graph: " + text;
    }
    was += z.bytes;
  }
  return {};
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
