// Where managed memory lies, in pages of 2 MiB counted from the start of each allocation.
#include <algorithm>
#include <cstring>

#include "address_space.hpp"

namespace ferry::sim {

// Calls f(page, bytes of the range within it) for the managed pages of [p, p + bytes).
template <class Self, class F>
void address_space::each_page(Self& self, const void* p, std::size_t bytes, F&& f) {
  const auto* begin = static_cast<const std::byte*>(p);
  const auto found = self.find(begin);
  if (found == self.table_.end() || found->second.freed || found->second.pages.empty()) return;
  auto& pages = self.table_.at(found->first).pages;
  std::size_t from = static_cast<std::size_t>(begin - found->first);
  const std::size_t to = std::min(from + bytes, found->second.bytes);
  for (; from < to; from = (from / page_bytes + 1) * page_bytes)
    f(pages[from / page_bytes], std::min(to, (from / page_bytes + 1) * page_bytes) - from);
}

void address_space::move(const void* p, std::size_t bytes, memory_location to) {
  std::lock_guard lock(mutex_);
  each_page(*this, p, bytes, [&](page& g, std::size_t n) { carry(g, n, to.device, moved_.prefetched, moved_); });
}

void address_space::carry(page& g, std::size_t bytes, int to, std::size_t& account, traffic& all) {
  if (g.device == to) return;
  (g.discarded ? all.discarded : account) += bytes;
  g.device = to;
}

void address_space::discard(void* p, std::size_t bytes) {
  std::memset(p, 0xFF, bytes);
  std::lock_guard lock(mutex_);
  each_page(*this, p, bytes, [&](page& g, std::size_t n) { g.discarded = g.discarded || n == page_bytes; });
}

traffic address_space::moved() const {
  std::lock_guard lock(mutex_);
  return moved_;
}

void address_space::touch(int device, std::span<const kernel_use> uses) {
  std::lock_guard lock(mutex_);
  for (const kernel_use& use : uses)
    each_page(*this, use.begin, use.bytes, [&](page& g, std::size_t n) {
      // As the driver does: duplicates of read-mostly pages, remote mappings of the others that were advised about.
      const bool stays = (g.read_mostly && !use.writes) || (g.has_preferred && g.preferred != device) ||
                         (g.accessed_by >> device & 1) != 0;
      if (!stays) carry(g, n, device, moved_.faulted, moved_);
      g.discarded = g.discarded && !use.writes;
    });
}

void address_space::advise(const void* p, std::size_t bytes, memory_advice advice, memory_location where) {
  const std::uint64_t bit = where.is_host() ? 0 : std::uint64_t{1} << where.device;
  std::lock_guard lock(mutex_);
  each_page(*this, p, bytes, [&](page& g, std::size_t) {
    switch (advice) {
      case memory_advice::read_mostly: g.read_mostly = true; break;
      case memory_advice::unset_read_mostly: g.read_mostly = false; break;
      case memory_advice::preferred_location: g.has_preferred = true, g.preferred = where.device; break;
      case memory_advice::unset_preferred_location: g.has_preferred = false; break;
      case memory_advice::accessed_by: g.accessed_by |= bit; break;
      case memory_advice::unset_accessed_by: g.accessed_by &= ~bit; break;
    }
  });
}

std::map<int, std::size_t> address_space::residency(const void* p, std::size_t bytes) const {
  std::map<int, std::size_t> result;
  std::lock_guard lock(mutex_);
  each_page(*this, p, bytes, [&](const page& g, std::size_t n) { result[g.device] += n; });
  return result;
}

}  // namespace ferry::sim
