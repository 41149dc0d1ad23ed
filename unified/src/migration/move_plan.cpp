#include "migration/move_plan.hpp"

#include <optional>

namespace ferry::inline FERRY_ABI::detail {
namespace {

const std::byte* page_at(const std::byte* p, std::size_t page) {
  return reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(p) / page * page);
}

// A part of an access: pages (cut to the allocation), and the bytes of them that the access uses.
struct part {
  byte_range pages, used;
  bool is_last = false;  // of the allocation
  bool all() const { return pages.size() == used.size(); }
  // True if all bytes are used, except for the padding that a pool adds to an array.
  bool whole() const { return all() || (is_last && pages.begin == used.begin && pages.size() - used.size() < 512); }
  bool mostly() const { return 2 * used.size() >= pages.size(); }
};

// Calls f for at most three parts: a first page that other accesses may share, whole pages, and a last page.
template <class F>
void each_part(byte_range where, byte_range all, std::size_t page, F f) {
  where = {std::max(where.begin, all.begin), std::min(where.end, all.end)};
  for (const std::byte* at = where.begin; at < where.end;) {
    const std::byte* first = std::max(page_at(at, page), all.begin);
    const std::byte* last_edge = where.end == all.end ? all.end : page_at(where.end, page);
    if (first == at && last_edge > at) {
      f(part{{at, last_edge}, {at, last_edge}, last_edge == all.end});
      at = last_edge;
      continue;
    }
    const std::byte* end = std::min(page_at(at, page) + page, all.end);
    const std::byte* used_to = std::min(end, where.end);
    f(part{{first, end}, {at, used_to}, end == all.end});
    at = used_to;
  }
}

byte_range common(byte_range a, byte_range b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

void used_by(page_run& g, int who) {
  g.streak = g.user == who ? std::min(g.streak + 1, longest_streak) : 1;
  g.user = who;
  if (g.streak == longest_streak) g.flips = 0, g.before = unknown_location, g.migration_disabled = false;
}

std::uint64_t bit(int device) { return std::uint64_t{1} << (device & 63); }

// Returns the step for a device that uses pages of another device. Disables migration for pages that have moved back
// and forth too often.
page_step step_between_devices(page_run& g, const coming_access& a, const surroundings& s, const part& p, bool large) {
  const int d = a.place.device;
  const bool is_mapped = (g.mapped & bit(d)) != 0, reachable = s.can_reach(d, g.where);
  if (!s.may_move) return is_mapped ? page_step::remote : page_step::fault;
  const page_step stay = is_mapped ? page_step::remote : reachable ? page_step::map : page_step::fault;
  if (!large || !p.whole() || g.migration_disabled) return stay;
  if (a.mode == access_mode::in) {
    if (s.is_read_by_others(g.range(), d)) return stay;
    const bool mine_by_now = g.user == d && g.streak >= s.options.remote_reads;
    if (reachable && !mine_by_now) return stay;
  }
  if (g.before == d && g.flips + 1 >= s.options.flips) {
    g.migration_disabled = true;
    return stay;
  }
  return a.mode == access_mode::out && p.all() ? page_step::drop : page_step::move;
}

page_step device_step(page_run& g, const coming_access& a, const surroundings& s, const part& p, bool large) {
  if (g.where >= 0) return step_between_devices(g, a, s, p, large);
  if (!large || !p.mostly() || !s.may_move) return page_step::fault;
  // A writer waits for all readers first.
  const bool is_read = a.mode == access_mode::in && s.is_read_by_others(g.range(), a.place.device);
  if (is_read || (g.where == on_the_cpu && s.is_held_by_cpu(p.pages)))
    return (g.mapped & bit(a.place.device)) ? page_step::remote : page_step::map;
  return a.mode == access_mode::out && p.all() ? page_step::drop : page_step::move;
}

// Records a move. True if the pages return to the device that they had left.
bool goes(page_run& g, int to) {
  bool went_back = false;
  if (g.where >= 0 && to >= 0) {
    went_back = g.before == to;
    g.flips = went_back ? g.flips + 1 : 0;
    g.before = g.where;
  }
  g.where = to;
  return went_back;
}

// Updates the page records after a step towards a device or the CPU. Returns true as goes() does.
bool arrive(page_run& g, int to, page_step what, bool all_of_it) {
  switch (what) {
    case page_step::move:
    case page_step::drop: return goes(g, to);
    case page_step::fault:
      if (all_of_it) return goes(g, to);
      g.where = unknown_location;
      break;
    case page_step::map: g.mapped |= to >= 0 ? bit(to) : 0; break;
    case page_step::remote: break;
  }
  return false;
}

void add(std::vector<planned>& plan, const planned& next) {
  if (!plan.empty()) {
    planned& last = plan.back();
    if (last.what == next.what && last.from == next.from && last.pages.end == next.pages.begin &&
        last.went_back == next.went_back && last.migration_disabled == next.migration_disabled) {
      last.pages.end = next.pages.end;
      last.used.end = next.used.end;
      return;
    }
  }
  plan.push_back(next);
}

}  // namespace

void plan_device_access(page_map& pages, const coming_access& a, const surroundings& s, std::vector<planned>& plan) {
  const int d = a.place.device;
  const bool large = a.where.size() >= s.options.smallest_to_device, small = a.where.size() < s.options.page;
  each_part(a.where, pages.all(), s.options.page, [&](const part& p) {
    std::optional<bool> crowded;
    const auto is_crowded = [&] {
      if (!crowded) crowded = small && s.is_crowded(p.used, d);
      return *crowded;
    };
    pages.each(p.pages, [&](page_run& g) {
      if (g.by_elements) {
        g.by_elements = false;
        if (s.many_on_cpu(g.range())) g.where = unknown_location;
      }
      const bool was_mine = g.where == d, was_left_alone = g.migration_disabled;
      if (!was_mine && !g.is_advised()) {
        page_step what = device_step(g, a, s, p, large);
        const int from = g.where;
        const bool is_sent = what == page_step::move || what == page_step::drop;
        if (from < 0 && is_sent && is_crowded()) what = page_step::fault;
        const bool back = arrive(g, d, what, large && p.mostly());
        const byte_range used = common(p.used, g.range());
        const bool bounced = g.migration_disabled && !was_left_alone;
        if (used.begin < used.end && (what != page_step::remote || bounced))
          add(plan, {what, g.range(), used, from, d, back, bounced});
      }
      if (large) used_by(g, d);
    });
  });
}

void plan_host_access(page_map& pages, const coming_access& a, const surroundings& s, std::vector<planned>& plan) {
  // only the page of the first element counts as written: other elements are checked later
  if (a.reach == host_reach::elements) {
    each_part(a.where, pages.all(), s.options.page, [&](const part& p) {
      pages.each(p.pages, [&](page_run& g) { g.by_elements = g.where >= 0 && !g.is_advised(); });
    });
    if (a.mode == access_mode::in) return;
    each_part({a.first, a.first + 1}, pages.all(), s.options.page, [&](const part& p) {
      pages.each(p.pages, [&](page_run& g) {
        if (g.where != on_the_cpu && !g.is_advised()) g.where = unknown_location, g.by_elements = false;
      });
    });
    return;
  }
  const bool large = a.where.size() >= s.options.smallest_to_cpu;
  each_part(a.where, pages.all(), s.options.page, [&](const part& p) {
    pages.each(p.pages, [&](page_run& g) {
      g.by_elements = false;
      if (g.where != on_the_cpu && !g.is_advised()) {
        const bool takes_it =
            large && p.mostly() && (a.mode != access_mode::in || !s.is_read_by_others(g.range(), on_the_cpu));
        const bool moves = s.may_move && takes_it && !g.migration_disabled;
        const page_step what = !moves                                  ? page_step::fault
                               : a.mode == access_mode::out && p.all() ? page_step::drop
                                                                       : page_step::move;
        const int from = g.where;
        arrive(g, on_the_cpu, what, takes_it);
        const byte_range used = common(p.used, g.range());
        if (used.begin < used.end) add(plan, {what, g.range(), used, from, on_the_cpu});
      }
      if (large) used_by(g, on_the_cpu);
    });
  });
}

}  // namespace ferry::inline FERRY_ABI::detail
