// Accesses of the CPU for a scope: through guards, and through spans with span checks. Also the setting for element
// traces.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "ferry/core/runtime.hpp"
#include "ferry/unified/host_guard.hpp"
#include "ferry/unified/report.hpp"
#include "migration/array_records.hpp"
#include "migration/migration_settings.hpp"

namespace ferry::inline FERRY_ABI::detail {

class host_scopes {
 public:
  // Reads FERRY_CHECK_SPANS and FERRY_TRACE_ELEMENTS. If the former is not set, spans are checked at check_level::all.
  // Throws parse_error.
  host_scopes(check_level level, array_records& records, const migration_settings& settings);
  ~host_scopes() { set_span_checks(span_checks::off); }
  host_scopes(const host_scopes&) = delete;
  host_scopes& operator=(const host_scopes&) = delete;

  // Records that the CPU accesses a range, until end() with the returned number. Guards pin the pages to the CPU.
  std::uint64_t begin_guard(allocation& a, byte_range where, bool writes, source_line at);
  // Returns 0, without effect, if spans are not checked. Spans do not pin pages: they only make conflicting work an
  // error.
  std::uint64_t begin_span(allocation& a, byte_range where, bool writes, source_line at, const char* through);
  void end(allocation& a, std::uint64_t number) noexcept { records_.lock(a)->scopes.end(number); }
  // Returns the range without the pages that guards pin to the CPU.
  std::vector<byte_range> without_pinned(allocation& a, byte_range where);

  void set_span_checks(span_checks how);
  void set_element_traces(element_traces how);
  // True if every access to an element is checked.
  bool traces_elements() const { return traces_elements_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t begin(allocation& a, byte_range where, bool writes, source_line at, const char* through,
                      bool keeps_pages);

  array_records& records_;
  const migration_settings& settings_;
  std::atomic<std::uint64_t> latest_{0};  // number of the latest scope
  std::atomic<bool> checks_spans_{false};
  std::atomic<bool> traces_elements_{false};
};

}  // namespace ferry::inline FERRY_ABI::detail
