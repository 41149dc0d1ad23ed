// Location of managed memory, in pages of 2 MiB counted from the start of each allocation.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "address_space.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

std::size_t address_space::size_of_page(const allocation& a, std::size_t index) {
  return std::min(page_bytes, a.bytes - index * page_bytes);
}

// Calls f(page, the used part of it) for each managed page of [p, p + bytes).
template <class Self, class F>
void address_space::each_page(Self& self, const void* p, std::size_t bytes, F&& f) {
  const auto* begin = static_cast<const std::byte*>(p);
  const auto found = self.find(begin);
  if (found == self.table_.end() || found->second.freed || found->second.pages.empty()) return;
  auto& pages = self.table_.at(found->first).pages;
  std::size_t from = static_cast<std::size_t>(begin - found->first);
  const std::size_t to = std::min(from + bytes, found->second.bytes);
  for (; from < to; from = (from / page_bytes + 1) * page_bytes) {
    const std::size_t index = from / page_bytes;
    f(pages[index], part_of_page{found->first + from, std::min(to, (index + 1) * page_bytes) - from,
                                 size_of_page(found->second, index), found->first + index * page_bytes});
  }
}

void address_space::move(const void* p, std::size_t bytes, memory_location to) {
  lock_guard lock(mutex_);
  ++operations_;
  each_page(*this, p, bytes, [&](page& g, const part_of_page& part) FERRY_UNCHECKED_LOCKS {
    g.used = operations_;
    carry(g, part, to.device, page_event_cause::asked);
  });
}

void address_space::settle(page& g, std::size_t whole, int to) {
  if (g.device >= 0) resident_[static_cast<std::size_t>(g.device)] -= whole;
  if (to >= 0) resident_[static_cast<std::size_t>(to)] += whole;
  g.device = to;
}

void address_space::carry(page& g, const part_of_page& part, int to, page_event_cause why) {
  if (g.device == to) return;
  if (why == page_event_cause::touched) count(page_event_kind::device_fault, why, part.begin, 0);
  if (to >= 0 && !eviction(to, part.whole)) {
    if (why == page_event_cause::touched) count(page_event_kind::remote_map, why, part.begin, part.bytes);
    return;
  }
  (g.discarded                        ? moved_.discarded
   : why == page_event_cause::touched ? moved_.faulted
                                      : moved_.prefetched) += part.bytes;
  if (!g.discarded)
    count(to < 0          ? page_event_kind::to_cpu
          : g.device >= 0 ? page_event_kind::between_devices
                          : page_event_kind::to_device,
          why, part.begin, part.bytes);
  if (to >= 0 && g.device >= 0 && how_.is_broken(g.device, to, peer_memory::unified))
    std::memset(const_cast<std::byte*>(part.page), 0xBD, part.whole);
  settle(g, part.whole, to);
}

// Evicts least recently used pages, but none that the running operation has used. False if there is no room.
bool address_space::eviction(int device, std::size_t bytes) {
  const auto d = static_cast<std::size_t>(device);
  while (usage_[d].bytes + resident_[d] + bytes > how_.memory_of(static_cast<int>(d))) {
    page* oldest = nullptr;
    part_of_page part{};
    for (auto& [begin, a] : table_)
      for (std::size_t i = 0; i < a.pages.size(); ++i)
        if (page& g = a.pages[i]; g.device == device && g.used < (oldest ? oldest->used : operations_))
          oldest = &g, part = {begin + i * page_bytes, size_of_page(a, i), size_of_page(a, i), begin + i * page_bytes};
    if (!oldest) return false;
    (oldest->discarded ? moved_.discarded : moved_.evicted) += part.whole;
    if (!oldest->discarded) count(page_event_kind::to_cpu, page_event_cause::evicted, part.begin, part.whole);
    settle(*oldest, part.whole, -1);
  }
  return true;
}

void address_space::count(page_event_kind kind, page_event_cause why, const std::byte* at, std::size_t bytes) {
  if (!counting_) return;
  if (events_.size() == most_events) {
    ++lost_events_;
    return;
  }
  const std::uint64_t now = clock();
  events_.push_back({kind, why, reinterpret_cast<std::uintptr_t>(at), bytes, 1, now, now});
}

std::uint64_t address_space::clock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void address_space::count_events(bool on) {
  lock_guard lock(mutex_);
  counting_ = on;
  if (!on) events_.clear();
}

std::size_t address_space::waiting_events() const {
  lock_guard lock(mutex_);
  return events_.size();
}

void address_space::take_events(std::vector<page_event>& to) {
  lock_guard lock(mutex_);
  to.insert(to.end(), events_.begin(), events_.end());
  events_.clear();
}

std::uint64_t address_space::lost_events() const {
  lock_guard lock(mutex_);
  return lost_events_;
}

void address_space::discard(void* p, std::size_t bytes) {
  std::memset(p, 0xFF, bytes);
  lock_guard lock(mutex_);
  each_page(*this, p, bytes,
            [&](page& g, const part_of_page& part) { g.discarded = g.discarded || part.bytes == page_bytes; });
}

traffic address_space::moved() const {
  lock_guard lock(mutex_);
  return moved_;
}

void address_space::touch(int device, std::span<const kernel_use> uses) {
  lock_guard lock(mutex_);
  ++operations_;
  for (const kernel_use& use : uses)
    each_page(*this, use.begin, use.bytes, [&](page& g, const part_of_page& part) FERRY_UNCHECKED_LOCKS {
      g.used = operations_;
      // As the driver does: duplicates read-mostly pages, and maps other advised pages remotely if they are at their
      // preferred location (cudaMemAdviseSetPreferredLocation).
      const bool is_at_home = g.has_preferred && g.preferred == g.device;
      const bool stays =
          (g.read_mostly && !use.writes) || (is_at_home && g.device != device) || (g.accessed_by >> device & 1) != 0;
      if (!stays) carry(g, part, device, page_event_cause::touched);
      g.discarded = g.discarded && !use.writes;
    });
}

void address_space::advise(const void* p, std::size_t bytes, memory_advice advice, memory_location where) {
  const std::uint64_t bit = where.is_host() ? 0 : std::uint64_t{1} << where.device;
  lock_guard lock(mutex_);
  each_page(*this, p, bytes, [&](page& g, const part_of_page&) {
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
  lock_guard lock(mutex_);
  each_page(*this, p, bytes, [&](const page& g, const part_of_page& part) { result[g.device] += part.bytes; });
  return result;
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
