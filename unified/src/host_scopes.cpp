// What the CPU works on now, by guards and, where they are checked, by spans; and the error for work that conflicts.
#include <algorithm>
#include <cstdlib>

#include "ferry/core/error.hpp"
#include "migrator.hpp"

namespace ferry {

span_checks span_checks_of_environment() {
  const char* text = std::getenv("FERRY_CHECK_SPANS");
  const std::string value = text ? text : "";
  if (value.empty() || value == "off") return span_checks::off;
  if (value == "on") return span_checks::on;
  throw parse_error("FERRY_CHECK_SPANS='" + value + "': allowed are on and off");
}

void migrator::refuse_conflict(const record& r, const coming_access& a) {
  const bool writes = a.mode != access_mode::in;
  for (const record::host_scope& h : r.scopes)
    if (h.where.overlaps(a.where) && (writes || h.writes))
      throw invalid_argument(
          "array '" + a.what.name.get() + "': work that " + (writes ? "writes" : "reads") + " it is submitted" +
          (a.at.is_known() ? " in " + a.at.text() : " (wrap the argument in in() or inout() to see the line)") +
          " while the CPU still " + (h.writes ? "writes" : "reads") + " it through a " + h.through + " made in " +
          h.at.text() + ": end " + (h.keeps_pages ? "the guard's" : "its") + " scope first");
}

std::uint64_t migrator::add_scope(allocation& a, byte_range where, bool writes, source_line at, const char* through,
                                  bool keeps_pages) {
  const std::uint64_t number = scopes_.fetch_add(1) + 1;
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  r.scopes.push_back({number, where, writes, at, through, keeps_pages});
  return number;
}

std::uint64_t migrator::begin_scope(allocation& a, byte_range where, bool writes, source_line at) {
  return add_scope(a, where, writes, at, "host_guard", true);
}

std::uint64_t migrator::hold(allocation& a, byte_range where, bool writes, source_line at, const char* through) {
  if (!checks_spans_.load(std::memory_order_relaxed)) return 0;
  return add_scope(a, where, writes, at, through, false);
}

void migrator::end_scope(allocation& a, std::uint64_t scope) noexcept {
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  std::erase_if(r.scopes, [&](const record::host_scope& h) { return h.number == scope; });
}

void migrator::set_span_checks(span_checks how) {
  const bool on = how == span_checks::on;
  if (checks_spans_.exchange(on) != on) checking.fetch_add(on ? 1 : -1);
}

void check_spans(span_checks how) { migrator::current().set_span_checks(how); }

}  // namespace ferry
