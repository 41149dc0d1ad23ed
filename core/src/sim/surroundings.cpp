#include "surroundings.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace ferry::sim {

surroundings::surroundings(std::span<const work* const> all, const address_space& memory) : all_(all) {
  std::vector<kernel_use> uses;
  for (const work* w : all) uses.insert(uses.end(), w->uses.begin(), w->uses.end());
  ranges_ = used_ranges(uses);
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const used_range& r = ranges_[i];
    if (!r.writes) continue;
    const std::span<const std::byte> block = memory.guarded(r.begin);
    if (block.empty()) continue;
    const auto add = [&](const std::byte* begin, const std::byte* end) {
      if (std::less<>{}(begin, end)) zones_.push_back({begin, static_cast<std::size_t>(end - begin), i});
    };
    const std::byte* low = std::max(block.data(), r.begin - guard_bytes, std::less<>{});
    const std::byte* high = std::min(block.data() + block.size(), r.end() + guard_bytes, std::less<>{});
    if (i > 0) low = std::max(low, ranges_[i - 1].end(), std::less<>{});
    if (i + 1 < ranges_.size()) high = std::min(high, ranges_[i + 1].begin, std::less<>{});
    add(low, r.begin);
    add(r.end(), high);
  }
}

void surroundings::before() {
  std::size_t bytes = 0;
  for (const zone& z : zones_) bytes += z.bytes;
  saved_.resize(bytes);
  std::byte* to = saved_.data();
  for (const zone& z : zones_) std::memcpy(std::exchange(to, to + z.bytes), z.begin, z.bytes);
}

std::string surroundings::after() const {
  const std::byte* was = saved_.data();
  for (const zone& z : zones_) {
    if (std::memcmp(was, z.begin, z.bytes) != 0) {
      const used_range& r = ranges_[z.range];
      const std::byte* const at = std::mismatch(z.begin, z.begin + z.bytes, was).first;
      const std::string text = overrun_text(r, z.begin < r.begin ? at - r.begin : at - r.end());
      if (all_.size() == 1) return std::string(all_[0]->verb) + " '" + std::string(all_[0]->name) + "': " + text;
      return "a kernel of a graph: " + text;
    }
    was += z.bytes;
  }
  return {};
}

}  // namespace ferry::sim
