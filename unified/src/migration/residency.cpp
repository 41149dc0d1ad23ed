#include "ferry/unified/residency.hpp"

#include <ostream>

#include "ferry/core/detail/runtime/submission.hpp"
#include "migration/migration_policy.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

std::ostream& operator<<(std::ostream& out, const residency_bytes& r) {
  out << r.on_cpu << " bytes on the CPU";
  for (std::size_t d = 0; d < r.on_device.size(); ++d)
    if (r.on_device[d] > 0) out << ", " << r.on_device[d] << " on device " << d;
  if (r.unknown > 0) out << ", " << r.unknown << " in an unknown location";
  return out;
}

void migration_policy::each_place(std::span<const page_run> runs, const std::function<void(int, byte_range)>& f) const {
  const std::size_t page = page_.load(std::memory_order_relaxed);
  for (const page_run& g : runs) {
    if (g.where != unknown_location && !g.is_advised()) {
      f(g.where, g.range());
      continue;
    }
    for (const std::byte* at = g.begin; at < g.end;) {
      const auto next = (reinterpret_cast<std::uintptr_t>(at) / page + 1) * page;
      const std::byte* end = std::min(reinterpret_cast<const std::byte*>(next), g.end);
      const auto place = runtime_.backend().prefetched_to(at, static_cast<std::size_t>(end - at));
      f(!place ? unknown_location : place->is_host() ? on_the_cpu : place->device, {at, end});
      at = end;
    }
  }
}

namespace detail {

residency_bytes residency_of(const allocation_ref& owner, byte_range bytes) {
  runtime& m = runtime::current();
  residency_bytes result;
  result.on_device.resize(m.devices().size());
  if (!owner || bytes.begin == bytes.end) return result;
  allocation& what = owner.get();
  need_current(what);
  if (!m.migrates_unified() || what.kind == memory_kind::host) {
    result.on_cpu = bytes.size();
    return result;
  }
  migration_policy& known = migration_policy::current();
  const auto add = [&](int where, byte_range part) {
    (where >= 0            ? result.on_device[static_cast<std::size_t>(where)]
     : where == on_the_cpu ? result.on_cpu
                           : result.unknown) += part.size();
  };
  const std::vector<page_run> runs = known.records().runs(what, bytes);
  if (known.records().is_managed(what))
    known.each_place(runs, add);
  else  // the driver reports locations of its own memory only
    for (const page_run& g : runs) add(g.where, g.range());
  return result;
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
