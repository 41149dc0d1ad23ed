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

void migration_policy::before_copy(const coming_access& a) {
  if (&a.what.resource->backend() != &runtime_.backend()) return;
  if (const locked_record r = records_.lock(a.what); !r->scopes.empty()) r->scopes.refuse_conflict(a);
}

std::uint64_t migration_policy::add_scope(allocation& a, byte_range where, bool writes, source_line at,
                                          const char* through, bool keeps_pages) {
  const std::uint64_t number = scopes_.fetch_add(1) + 1;
  records_.lock(a)->scopes.add({number, where, writes, at, through, keeps_pages, a.kind == memory_kind::unified});
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

void migration_policy::end_scope(allocation& a, std::uint64_t scope) noexcept { records_.lock(a)->scopes.end(scope); }

std::vector<byte_range> migration_policy::without_kept(allocation& a, byte_range where) {
  return records_.lock(a)->scopes.without_kept(where, settings_.page());
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
  for (array_record* const r : records_.all()) {
    std::lock_guard lock(r->lock);
    std::lock_guard its(r->what.history);
    if (r->discardable.empty()) r->what.history.invalidate();
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
