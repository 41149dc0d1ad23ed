#include "migration/page_eviction.hpp"

#include <algorithm>
#include <cstdint>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/detail/ordering/idle_guard.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/error.hpp"
#include "migration/places.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::size_t beyond_edge(const std::byte* p, std::size_t page) { return reinterpret_cast<std::uintptr_t>(p) % page; }

// The driver moves whole pages. A partial page stays for the other arrays that share it. Pools give a large array
// separate pages (if memory is not short), so that no array shares its first and last one.
byte_range whole_pages(byte_range r, byte_range array, std::size_t page) {
  const bool own = array.size() >= page;
  if (!own || r.begin != array.begin) r.begin += (page - beyond_edge(r.begin, page)) % page;
  if (!own || r.end != array.end) r.end -= beyond_edge(r.end, page);
  return r.begin < r.end ? r : byte_range{};
}

// Returns the first `pages` pages of the range, or all if there are fewer.
byte_range first_pages(byte_range r, std::size_t pages, std::size_t page) {
  const std::size_t most = pages * page - beyond_edge(r.begin, page);
  return {r.begin, r.begin + std::min(most, r.size())};
}
std::size_t bytes_of_pages(byte_range r, std::size_t page) {
  return (beyond_edge(r.begin, page) + r.size() + page - 1) / page * page;
}

// The access epoch, as idle_guard requires it.
std::uint64_t access_epoch_of(allocation& a) {
  std::lock_guard lock(a.history);
  return a.history.access_epoch();
}

}  // namespace

page_eviction::page_eviction(runtime& m, const migration_settings& settings, array_records& records,
                             migration_streams& streams)
    : runtime_(m),
      settings_(settings),
      records_(records),
      streams_(streams) {
  handlers_[0] =
      m.memory().handlers().add({"contents of unified arrays that may be discarded", handler_order::discard_scratch,
                                 [this](const memory_demand& d) { return evict(d, page_step::drop); }});
  handlers_[1] =
      m.memory().handlers().add({"moving the longest unused unified arrays to the CPU", handler_order::move_out,
                                 [this](const memory_demand& d) { return evict(d, page_step::move); }});
}
page_eviction::~page_eviction() {
  for (const std::uint64_t handler : handlers_) runtime_.memory().handlers().remove(handler);
}

void page_eviction::mark_discardable(allocation& a, byte_range where) {
  const locked_record r = records_.lock(a);
  std::lock_guard log(a.history);
  if (r->discardable_at != a.history.access_epoch()) r->discardable.clear();
  a.history.invalidate();  // the CPU must check again before its next access
  r->discardable_at = a.history.access_epoch();
  r->discardable.push_back(where);
}

bool page_eviction::is_discardable(allocation& a, byte_range where) {
  const locked_record r = records_.lock(a);
  return r->discardable_at == access_epoch_of(a) &&
         std::any_of(r->discardable.begin(), r->discardable.end(), [&](byte_range o) { return o.covers(where); });
}

// Never waits for work of the program, and makes no work wait: bytes in use stay, and moves run on a separate stream.
std::size_t page_eviction::evict(const memory_demand& d, page_step how) {
  if (d.kind != memory_kind::device || this_thread_state.capture || !runtime_.migrates_unified()) return 0;
  const std::size_t page = settings_.page();
  const std::size_t needed = (d.bytes + page - 1) / page * page;
  std::size_t freed = 0;
  try {
    // If enough memory is free, a limit forbids the allocation. Pages of unified arrays do not count for limits.
    std::size_t free = runtime_.backend().memory(d.device).free_bytes;
    if (free >= needed) return 0;
    for (const candidate& c : candidates(how)) {
      const std::size_t bytes = take_from(*c.of, d, how, std::min(needed - free, needed - freed));
      if (bytes == 0) continue;
      timeline& out = streams_.out_of(d.device);
      out.wait(out.last());
      freed += bytes;
      free = runtime_.backend().memory(d.device).free_bytes;
      if (free >= needed || freed >= needed) break;  // some drivers do not count pages
    }
  } catch (const error&) {  // a device failed: the error of the allocation states what was freed
  }
  return freed;
}

// Returns arrays in the order of their last use, least recent first.
std::vector<page_eviction::candidate> page_eviction::candidates(page_step how) {
  std::vector<candidate> all;
  for (array_record* const r : records_.all()) {
    std::lock_guard lock(r->lock);
    if (r->is_managed && !r->scopes.keeps(r->pages.all()) && (how == page_step::move || !r->discardable.empty()))
      all.push_back({r, r->used});
  }
  std::sort(all.begin(), all.end(), [](const candidate& a, const candidate& b) { return a.used < b.used; });
  return all;
}

std::size_t page_eviction::take_from(array_record& r, const memory_demand& d, page_step how, std::size_t enough) {
  const std::size_t page = settings_.page();
  allocation& a = r.what;
  std::vector<page_run> runs;
  byte_range edges;                                 // only whole pages can be discarded
  std::uint64_t access_epoch = access_epoch_of(a);  // before the state below is read
  {
    std::lock_guard lock(r.lock);
    const std::uint64_t state = a.state.load();
    const bool is_alive = r.generation == state >> 32 && (state & 0xFFFFFFFFu) != 0;
    if (!is_alive || !a.resource->accounting() || (how == page_step::drop && r.discardable_at != access_epoch))
      return 0;
    const auto add = [&](page_run& g) {
      if (!g.has_a_place) runs.push_back(g);  // else the program has set a preferred location
    };
    if (how == page_step::move) {
      edges = r.pages.all();
      r.pages.each(edges, add);
    } else {
      for (const byte_range o : r.discardable) r.pages.each(o, add);
    }
  }
  std::vector<byte_range> there;
  each_place(runtime_, page, runs, [&](int place, byte_range part) {
    if (place != d.device) return;
    if (!there.empty() && there.back().end == part.begin)
      there.back().end = part.end;
    else
      there.push_back(part);
  });
  std::size_t freed = 0;
  for (const byte_range part : there) {
    if (freed >= enough) break;
    const byte_range own = whole_pages(part, edges, page);
    if (own.begin == own.end) continue;
    const byte_range pages = first_pages(own, (enough - freed + page - 1) / page, page);
    if (send_away(r, pages, d.device, how, access_epoch)) freed += bytes_of_pages(pages, page);
  }
  return freed;
}

bool page_eviction::send_away(array_record& r, byte_range where, int device, page_step how,
                              std::uint64_t& access_epoch) {
  allocation& a = r.what;
  if (!are_uses_complete(a, where, true, access_epoch)) return false;
  const page_move one{const_cast<std::byte*>(where.begin), where.size(), {}};
  const std::uint64_t before = access_epoch;
  {
    timeline& out = streams_.out_of(device);
    const idle_guard guard(out, {&a, where, how == page_step::drop}, access_epoch);
    if (!guard.is_entered()) return false;
    access_epoch = guard.access_epoch();
    if (how == page_step::drop)
      runtime_.backend().prefetch_many(out.stream(), {&one, 1}, true);
    else
      runtime_.backend().prefetch(out.stream(), one.begin, one.bytes, {});
  }
  std::lock_guard lock(r.lock);
  if (r.generation != a.state.load() >> 32) return true;            // freed meanwhile
  if (r.discardable_at == before) r.discardable_at = access_epoch;  // this access must not remove the mark
  r.pages.each(where, [](page_run& g) { g.where = on_the_cpu; });
  return true;
}

}  // namespace ferry::inline FERRY_ABI::detail
