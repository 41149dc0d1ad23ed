// Current accesses of the CPU, through guards and through tracked spans, and the error for conflicting work. Also the
// setting for element traces.
#include <algorithm>

#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "migration/migration_policy.hpp"

namespace ferry::inline FERRY_ABI::detail {

span_checks span_checks_of_environment(check_level level) {
  const bool on = environment_switch("FERRY_CHECK_SPANS").value_or(level == check_level::all);
  return on ? span_checks::on : span_checks::off;
}
element_traces element_traces_of_environment() {
  const bool on = environment_switch("FERRY_TRACE_ELEMENTS").value_or(false);
  return on ? element_traces::on : element_traces::off;
}

void migration_policy::refuse_conflict(const record& r, const coming_access& a) {
  const bool writes = a.mode != access_mode::in;
  for (const record::host_scope& h : r.scopes)
    if (h.where.overlaps(a.where) && (writes || h.writes))
      throw invalid_argument(array_text(a.what) + ": work that " + (writes ? "writes" : "reads") + " it is submitted" +
                             (a.at.is_known() ? " in " + a.at.text() : " in a line that is not known") +
                             " while the CPU still " + (h.writes ? "writes" : "reads") + " it through a " + h.through +
                             " made in " + h.at.text() + ": end " + (h.keeps_pages ? "the guard's" : "its") +
                             " scope first");
}

void migration_policy::before_copy(const coming_access& a) {
  if (&a.what.resource->backend() != &runtime_.backend()) return;
  record& r = record_of(a.what);
  std::lock_guard lock(r.lock, std::adopt_lock);
  if (!r.scopes.empty()) refuse_conflict(r, a);
}

std::uint64_t migration_policy::add_scope(allocation& a, byte_range where, bool writes, source_line at,
                                          const char* through, bool keeps_pages) {
  const std::uint64_t number = scopes_.fetch_add(1) + 1;
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  const bool is_unified = a.kind == memory_kind::unified;
  r.scopes.push_back({number, where, writes, at, through, keeps_pages, is_unified});
  if (!is_unified) held_beside_unified.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::uint64_t migration_policy::begin_scope(allocation& a, byte_range where, bool writes, source_line at) {
  return add_scope(a, where, writes, at, "host_guard", true);
}

std::uint64_t migration_policy::hold(allocation& a, byte_range where, bool writes, source_line at,
                                     const char* through) {
  if (!checks_spans_.load(std::memory_order_relaxed)) return 0;
  return add_scope(a, where, writes, at, through, false);
}

void migration_policy::end_scope(allocation& a, std::uint64_t scope) noexcept {
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  r.drop_scopes([&](const record::host_scope& h) { return h.number == scope; });
}

std::vector<byte_range> migration_policy::without_kept(allocation& a, byte_range where) {
  const auto page = static_cast<std::uintptr_t>(page_.load(std::memory_order_relaxed));
  std::vector<byte_range> parts{where};
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  for (const record::host_scope& h : r.scopes) {
    if (!h.keeps_pages) continue;
    const auto first = reinterpret_cast<std::uintptr_t>(h.where.begin) / page * page;
    const auto last = (reinterpret_cast<std::uintptr_t>(h.where.end) + page - 1) / page * page;
    std::vector<byte_range> left;
    for (const byte_range p : parts) {
      const auto begin = reinterpret_cast<std::uintptr_t>(p.begin), end = reinterpret_cast<std::uintptr_t>(p.end);
      if (begin < first) left.push_back({p.begin, p.begin + (std::min(end, first) - begin)});
      if (last < end) left.push_back({p.end - (end - std::max(begin, last)), p.end});
    }
    parts = std::move(left);
  }
  return parts;
}

void migration_policy::set_span_checks(span_checks how) {
  const bool on = how == span_checks::on;
  if (checks_spans_.exchange(on) != on) checking.fetch_add(on ? 1 : -1);
}

// Invalidates the permissions that the CPU has already, because accesses would continue without checks. Arrays with
// discardable contents are excluded: the CPU checks them anyway, and a change of the access history would remove the
// mark.
void migration_policy::set_element_traces(element_traces how) {
  const bool on = how == element_traces::on;
  if (traces_elements_.exchange(on) == on || !on) return;
  std::vector<record*> all;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [what, r] : records_) all.push_back(r.get());
  }
  for (record* r : all) {
    std::lock_guard lock(r->lock);
    std::lock_guard its(r->what.history);
    if (r->discardable.empty()) r->what.history.invalidate();
  }
}

}  // namespace ferry::inline FERRY_ABI::detail

namespace ferry::inline FERRY_ABI {

void check_spans(span_checks how) { detail::migration_policy::current().set_span_checks(how); }
void trace_elements(element_traces how) { detail::migration_policy::current().set_element_traces(how); }

}  // namespace ferry::inline FERRY_ABI
