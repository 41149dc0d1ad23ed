#include "ferry/unified/host_guard.hpp"

#include "migrator.hpp"

namespace ferry::detail {

std::uint64_t begin_host_scope(const allocation_ref& owner, byte_range bytes, access_mode mode, source_line at) {
  if (bytes.begin == bytes.end) return 0;
  allocation& a = owner.get();
  if (a.kind == memory_kind::device)
    throw invalid_argument("host_guard in " + at.text() + ": array '" + a.name.get() +
                           "' lies in device memory, which the CPU cannot touch: copy it with ferry::to_vector(a) or "
                           "ferry::to_unified(a), or make it a ferry::unified_array");
  wait_for_host_access(a, bytes, mode, {host_reach::range, nullptr, at});
  migrator* known = migrator::of(machine::current());
  return known ? known->begin_scope(a, bytes, mode != access_mode::in, at) : 0;
}

void end_host_scope(const allocation_ref& owner, std::uint64_t scope) noexcept {
  if (scope == 0 || owner.is_freed()) return;
  if (migrator* known = migrator::of(machine::current())) known->end_scope(*owner.unchecked(), scope);
}

}  // namespace ferry::detail
