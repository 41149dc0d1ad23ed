#include "external/foreign_blocks.hpp"

#include <algorithm>
#include <vector>

#include "external/foreign_checks.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/error.hpp"
#include "pools/block_uses.hpp"

namespace ferry::inline FERRY_ABI::detail {

foreign_blocks::iterator foreign_blocks::enter(byte_range bytes, memory_kind kind, int device,
                                               const borrow_options& how) {
  auto shared = all_.end();
  for (auto e = all_.begin(); e != all_.end(); ++e) {
    if (e->is_ending || !e->bytes.overlaps(bytes)) continue;
    if (e->borrows == 0)
      throw invalid_argument(text_of(bytes, how.name) + " belong to " + array_text(*e->what) +
                             ", which adopted them: use that array, or views of it");
    if (shared != all_.end())
      throw invalid_argument(
          text_of(bytes, how.name) +
          " overlap several borrows, whose work is not ordered against each other: borrow or pin the "
          "whole first, and then the parts");
    shared = e;
  }
  if (shared == all_.end())
    shared = add(bytes, kind, device, how.name);
  else
    widen(*shared, bytes);
  try {
    take_over_uses(*shared->what, bytes);
    if (!how.stream) return shared;
    timeline& line = how.stream->timeline();
    access_history& log = shared->what->history;
    std::lock_guard lock(log);
    log.reserve(1);
    log.add_beside(line, line.fence(), bytes, true);  // fenced with the history locked: it contains no later ticket yet
    if (line.records_always()) line.record_event();
  } catch (...) {
    if (shared->borrows == 0) erase(shared);
    throw;
  }
  return shared;
}

foreign_blocks::iterator foreign_blocks::add(byte_range bytes, memory_kind kind, int device, const std::string& name) {
  allocation& a = nodes_.take();
  try {
    a.name = name;
    all_.push_back({&a, bytes});
  } catch (...) {
    nodes_.give_back(a);
    throw;
  }
  a.begin = const_cast<std::byte*>(bytes.begin);
  a.bytes = bytes.size();
  a.kind = kind;
  a.device = static_cast<std::int8_t>(device);
  a.history.invalidate();
  return std::prev(all_.end());
}

// Extends a borrow to further bytes.
void foreign_blocks::widen(foreign_block& shared, byte_range bytes) {
  allocation& a = *shared.what;
  std::lock_guard lock(a.history);  // other threads may use it: see range_now
  a.history.invalidate();           // earlier host access checks do not cover the additional bytes
  shared.bytes = {std::min(shared.bytes.begin, bytes.begin, std::less<>{}),
                  std::max(shared.bytes.end, bytes.end, std::less<>{})};
  a.begin = const_cast<std::byte*>(shared.bytes.begin);
  a.bytes = shared.bytes.size();
}

// Borrows of these bytes that are ending may still be in use.
void foreign_blocks::take_over_uses(allocation& a, byte_range bytes) {
  for (const foreign_block& e : all_) {
    if (!e.is_ending || e.what == &a || !e.bytes.overlaps(bytes)) continue;
    const bool in_order = std::less<>{}(&a, e.what);  // as guards lock them
    std::lock_guard first(in_order ? a.history : e.what->history);
    std::lock_guard second(in_order ? e.what->history : a.history);
    a.history.merge(e.what->history);
  }
}

foreign_blocks::iterator foreign_blocks::find(const allocation& a) {
  return std::find_if(all_.begin(), all_.end(), [&](const foreign_block& e) { return e.what == &a; });
}

void foreign_blocks::erase(iterator e) noexcept {
  allocation& a = *e->what;
  {
    std::lock_guard lock(a.history);
    a.history.invalidate();
    nodes_.give_back(a);
  }
  all_.erase(e);
}

// The histories are locked during the change, because parts that stay pinned may be in use again at any time.
void foreign_blocks::while_unused(std::span<const byte_range> ranges, const std::function<void()>& change) {
  std::vector<allocation*> users;
  for (const foreign_block& e : all_)
    if (std::any_of(ranges.begin(), ranges.end(), [&](const byte_range& r) { return r.overlaps(e.bytes); }))
      users.push_back(e.what);
  std::sort(users.begin(), users.end(), std::less<>{});
  struct unlock {
    const std::vector<allocation*>& users;
    ~unlock() {
      for (allocation* a : users) a->history.unlock();
    }
  };
  for (;;) {
    for (allocation* a : users) wait_for_all_uses(*a, a->range());
    for (allocation* a : users) a->history.lock();
    const unlock later{users};
    const bool unused = std::all_of(users.begin(), users.end(), [](allocation* a) {
      const auto& uses = a->history.uses();
      return std::all_of(uses.begin(), uses.end(), [](const access_record& u) { return u.by->finished(u.at); });
    });
    if (unused) return change();
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
