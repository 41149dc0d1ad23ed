#include "migration/host_scopes.hpp"

#include "ferry/core/detail/support/environment.hpp"

namespace ferry::inline FERRY_ABI::detail {

host_scopes::host_scopes(check_level level, array_records& records, const migration_settings& settings)
    : records_(records),
      settings_(settings) {
  const bool checks = environment_switch("FERRY_CHECK_SPANS").value_or(level == check_level::all);
  traces_elements_ = environment_switch("FERRY_TRACE_ELEMENTS").value_or(false);
  set_span_checks(checks ? span_checks::on : span_checks::off);
}

std::uint64_t host_scopes::begin(allocation& a, byte_range where, bool writes, source_line at, const char* through,
                                 bool keeps_pages) {
  const std::uint64_t number = latest_.fetch_add(1) + 1;
  records_.lock(a)->scopes.add({number, where, writes, at, through, keeps_pages, a.kind == memory_kind::unified});
  return number;
}

std::uint64_t host_scopes::begin_guard(allocation& a, byte_range where, bool writes, source_line at) {
  return begin(a, where, writes, at, "host_guard", true);
}

std::uint64_t host_scopes::begin_span(allocation& a, byte_range where, bool writes, source_line at,
                                      const char* through) {
  if (!checks_spans_.load(std::memory_order_relaxed)) return 0;
  return begin(a, where, writes, at, through, false);
}

std::vector<byte_range> host_scopes::without_pinned(allocation& a, byte_range where) {
  return records_.lock(a)->scopes.without_pinned(where, settings_.page());
}

void host_scopes::set_span_checks(span_checks how) {
  const bool on = how == span_checks::on;
  if (checks_spans_.exchange(on) != on) access_policy::checking.fetch_add(on ? 1 : -1);
}

// Invalidates the permissions that the CPU has already, because accesses would continue without checks. Arrays with
// discardable contents are excluded: the CPU checks them anyway, and a change of the access history would remove the
// mark.
void host_scopes::set_element_traces(element_traces how) {
  const bool on = how == element_traces::on;
  if (traces_elements_.exchange(on) == on || !on) return;
  for (array_record* const r : records_.all()) {
    std::lock_guard lock(r->lock);
    std::lock_guard its(r->what.history);
    if (r->discardable.empty()) r->what.history.invalidate();
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
