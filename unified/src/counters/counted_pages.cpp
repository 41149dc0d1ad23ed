#include "counters/counted_pages.hpp"

#include <algorithm>

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::uint64_t forever = ~std::uint64_t{0};
// The driver reports a fault by its CPU page, which may begin before the array.
constexpr std::uint64_t fault_page = 4096;

bool is_fault(page_event_kind k) { return k == page_event_kind::cpu_fault || k == page_event_kind::device_fault; }

bool is_move(page_event_kind k) {
  return k == page_event_kind::to_device || k == page_event_kind::to_cpu || k == page_event_kind::between_devices;
}

}  // namespace

const std::string& counted_pages::owner::phase_at(std::uint64_t time) const {
  const auto later =
      std::upper_bound(phases.begin(), phases.end(), time, [](std::uint64_t t, const asked& a) { return t < a.since; });
  return later == phases.begin() ? phases.front().phase : std::prev(later)->phase;
}

void counted_pages::end_of(std::map<std::uint64_t, owner>::iterator o, std::uint64_t now) {
  o->second.until = now;
  past_.push_back(std::move(o->second));
  if (past_.size() > most_past) past_.pop_front();
  now_.erase(o);
}

void counted_pages::used(byte_range where, const std::string& name, const std::string& phase, std::uint64_t now) {
  const auto begin = reinterpret_cast<std::uintptr_t>(where.begin), end = begin + where.size();
  if (begin == end) return;
  auto o = now_.upper_bound(begin);
  if (o != now_.begin() && std::prev(o)->second.end > begin) --o;
  while (o != now_.end() && o->second.begin < end) {
    owner& known = o->second;
    if (known.begin == begin && known.end == end && known.name == name) {
      if (known.phases.back().phase == phase) return;
      known.phases.push_back({now, phase});
      if (known.phases.size() > most_phases) known.phases.pop_front();
      return;
    }
    end_of(o++, now);
  }
  now_.emplace(begin, owner{begin, end, now, forever, name, {{now, phase}}});
}

std::vector<counted_pages::part> counted_pages::parts_of(const page_event& e) const {
  const std::uint64_t begin = e.address, end = begin + e.bytes;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;  // by past owners
  std::vector<part> parts;
  std::uint64_t left = e.bytes;
  const auto give = [&](const owner& o, std::uint64_t bytes) {
    if (bytes == 0) return;
    parts.push_back({&o, bytes});
    left -= std::min(left, bytes);
  };
  for (auto o = past_.rbegin(); o != past_.rend() && e.start < o->until; ++o) {
    if (e.start < o->since || o->end <= begin || end <= o->begin) continue;
    taken.emplace_back(std::max(begin, o->begin), std::min(end, o->end));
    give(*o, taken.back().second - taken.back().first);
  }
  auto o = now_.upper_bound(begin);
  if (o != now_.begin()) --o;
  for (; o != now_.end() && o->second.begin < end; ++o) {
    const std::uint64_t from = std::max(begin, o->second.begin), to = std::min(end, o->second.end);
    if (to <= from) continue;
    std::uint64_t others = 0;
    for (const auto& [b, f] : taken)
      if (b < to && from < f) others += std::min(f, to) - std::max(b, from);
    give(o->second, to - from - std::min(to - from, others));
  }
  if (left > 0) parts.push_back({nullptr, left});
  return parts;
}

// Returns the owner of the address, or else the first owner in its page.
const counted_pages::owner* counted_pages::owner_of_fault(const page_event& e) const {
  page_event at = e;
  at.bytes = 1;
  if (const owner* o = parts_of(at).front().of) return o;
  at.address = e.address / fault_page * fault_page;
  at.bytes = fault_page;
  return parts_of(at).front().of;
}

counted_pages::row& counted_pages::row_of(const owner* o, std::uint64_t time) {
  return rows_[o ? row_name(o->name, o->phase_at(time)) : row_name(other_memory, "")];
}

void counted_pages::add(row& r, const page_event& e, std::uint64_t bytes) {
  counted_moves& c = r.counts;
  const bool asked = e.cause == page_event_cause::asked, evicted = e.cause == page_event_cause::evicted;
  switch (e.kind) {
    case page_event_kind::to_device: (asked ? c.to_devices.by_prefetch : c.to_devices.by_fault) += bytes; break;
    case page_event_kind::to_cpu:
      (evicted ? c.evicted : asked ? c.to_cpu.by_prefetch : c.to_cpu.by_fault) += bytes;
      break;
    case page_event_kind::between_devices:
      (asked ? c.between_devices.by_prefetch : c.between_devices.by_fault) += bytes;
      break;
    case page_event_kind::cpu_fault: c.cpu_faults += e.times; break;
    case page_event_kind::device_fault: c.device_faults += e.times; break;
    case page_event_kind::thrashing: ++c.thrashing; break;
    case page_event_kind::throttling: ++c.throttled; break;
    case page_event_kind::remote_map: c.remote += bytes; break;
  }
  // The driver serves the faults of one batch together: the union of their times counts, not the sum.
  const bool waited_for = e.kind == page_event_kind::device_fault || e.kind == page_event_kind::throttling ||
                          (is_move(e.kind) && !asked && !evicted);
  const std::uint64_t from = std::max(e.start, r.busy_until);
  if (!waited_for || e.end <= from) return;
  r.busy += e.end - from;
  r.busy_until = e.end;
}

void counted_pages::enter(std::vector<page_event> events) {
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const page_event& e : events) {
    if (is_fault(e.kind) || e.bytes == 0)
      add(row_of(owner_of_fault(e), e.start), e, 0);
    else
      for (const part& p : parts_of(e)) add(row_of(p.of, e.start), e, p.bytes);
  }
}

std::map<counted_pages::row_name, counted_moves> counted_pages::rows() const {
  std::map<row_name, counted_moves> result;
  for (const auto& [name, r] : rows_) {
    counted_moves& c = result[name] = r.counts;
    c.busy_milliseconds = static_cast<double>(r.busy) * 1e-6;
  }
  return result;
}

}  // namespace ferry::inline FERRY_ABI::detail
