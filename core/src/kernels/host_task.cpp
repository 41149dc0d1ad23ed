#include "ferry/core/host_task.hpp"

#include <algorithm>
#include <string>

#include "external/foreign_memory.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Unified arrays of ferry are pinned memory where a device lacks concurrent managed access. Memory of others may be
// managed nevertheless.
bool is_managed_by_others(runtime& m, const access& a) {
  return a.what->kind == memory_kind::unified && a.what->resource == &m.foreign() &&
         m.backend().attributes(a.where.begin).kind == memory_kind::unified;
}

const device* without_concurrent_access(const runtime& m) {
  const auto found = std::find_if(m.devices().begin(), m.devices().end(),
                                  [&](device d) { return !m.properties(d.index()).concurrent_managed_access; });
  return found == m.devices().end() ? nullptr : &*found;
}

}  // namespace

void need_host_access(std::span<const access> uses) {
  for (const access& a : uses) {
    if (a.what->kind == memory_kind::device)
      throw invalid_argument(concat("host_task: ", use_text(a), " is memory of device ", a.what->device,
                                    ", which the CPU cannot access: copy it to a ferry::host_array and pass that"));
    if (a.what->kind != memory_kind::unified) continue;
    runtime& m = runtime::current();
    const device* const lacking = without_concurrent_access(m);
    if (lacking && is_managed_by_others(m, a))
      throw not_supported(
          concat("host_task: ", use_text(a),
                 " is managed memory that ferry did not allocate, and the CPU must not access it while device ",
                 lacking->index(),
                 " works, which lacks concurrent managed access: copy it to a ferry::host_array or "
                 "ferry::unified_array, which is pinned there, and pass that"));
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
