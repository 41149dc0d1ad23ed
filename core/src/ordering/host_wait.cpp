#include "ferry/core/detail/ordering/host_wait.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "ferry/core/detail/ordering/access_guard.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

struct point {
  timeline* by;
  ticket at;
};

// The first points that a CPU access must wait for, and the number of all of them.
struct pending_points {
  std::array<point, 16> first;
  std::size_t count = 0;
  host_access_state seen;
  std::uint64_t access_epoch = 0;  // of the history when the points were collected
  std::span<const point> get() const { return {first.data(), std::min(count, first.size())}; }
  bool all() const { return count <= first.size(); }
};

// An array whose elements must not be lost, and the source line of the access.
struct wanted_elements {
  const allocation& of;
  source_line at;
};

pending_points points_before(access_history& log, byte_range where, bool write, bool for_bytes,
                             const wanted_elements* array) {
  pending_points p;
  std::lock_guard lock(log);
  log.each_hazard(nullptr, where, write, [&](timeline& t, ticket at, bool) {
    if (!for_bytes && t.is_migration_only()) return;
    if (p.count < p.first.size()) p.first[p.count] = {&t, at};
    ++p.count;
  });
  if (array && p.count == 0) refuse_lost(array->of, where, array->at);
  p.access_epoch = log.access_epoch();
  p.seen = {write ? p.access_epoch : 0, log.writes()};
  return p;
}

// Blocks until all points are complete. Returns those of the last round.
pending_points wait_for_points(access_history& log, byte_range where, bool write, bool for_bytes,
                               const wanted_elements* array) {
  for (;;) {
    const pending_points pending = points_before(log, where, write, for_bytes, array);
    for (const point& p : pending.get()) p.by->wait(p.at);  // no lock held (R7)
    if (!pending.all()) continue;
    if (array && pending.count > 0) {
      std::lock_guard lock(log);
      refuse_lost(array->of, where, array->at);  // another thread may have found the failure of the device
    }
    return pending;
  }
}

}  // namespace

host_access_state wait_for_uses(access_history& log, byte_range where, bool write, bool for_bytes) {
  return wait_for_points(log, where, write, for_bytes, nullptr).seen;
}

bool are_uses_complete(allocation& what, byte_range where, bool write, std::optional<std::uint64_t> access_epoch) {
  refuse_inside_submission("query whether work is complete");
  std::vector<point> pending;  // a query only: raw pointer uses stay open
  {
    std::lock_guard lock(what.history);
    // a free block's history belongs to its pool
    if (access_epoch && what.history.access_epoch() != *access_epoch) return false;
    for (const access_record& u : what.history.uses())
      if ((write || u.write) && u.where.overlaps(where)) pending.push_back({u.by, u.at});
  }
  return std::all_of(pending.begin(), pending.end(),
                     [](const point& p) { return p.at == open_ticket ? p.by->is_broken() : p.by->poll(p.at); });
}

host_wait wait_for_elements(allocation& what, byte_range where, bool write, source_line at) {
  const wanted_elements elements{what, at};
  const pending_points over = wait_for_points(what.history, where, write, false, &elements);
  return {over.seen, over.access_epoch};
}

}  // namespace ferry::inline FERRY_ABI::detail
