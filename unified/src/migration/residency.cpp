#include "ferry/unified/residency.hpp"

#include <ostream>

#include "ferry/core/detail/runtime/submission.hpp"
#include "migration/migration_policy.hpp"
#include "migration/places.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

std::ostream& operator<<(std::ostream& out, const residency_bytes& r) {
  out << r.on_cpu << " bytes on the CPU";
  for (std::size_t d = 0; d < r.on_device.size(); ++d)
    if (r.on_device[d] > 0) out << ", " << r.on_device[d] << " on device " << d;
  if (r.unknown > 0) out << ", " << r.unknown << " in an unknown location";
  return out;
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
    each_place(m, known.settings().page(), runs, add);
  else  // the driver reports locations of its own memory only
    for (const page_run& g : runs) add(g.where, g.range());
  return result;
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
