#include "ferry/unified/host_guard.hpp"
#include "ferry/core/detail/runtime/host_access.hpp"

#include "migration/migration_policy.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::uint64_t begin_host_scope(const allocation_ref& owner, byte_range bytes, access_mode mode, source_line at) {
  if (bytes.begin == bytes.end) return 0;
  allocation& a = owner.get(at);
  if (a.kind == memory_kind::device)
    throw invalid_argument("host_guard" + in_line(at) + ": " + array_text(a) +
                           " lies in device memory, which the CPU cannot touch: copy it with ferry::to_vector(a) or "
                           "ferry::to_unified(a), or make it a ferry::unified_array");
  wait_for_host_access(a, bytes, mode, {host_reach::range, nullptr, at});
  migration_policy* known = migration_policy::of(runtime::current());
  return known ? known->scopes().begin_guard(a, bytes, mode != access_mode::in, at) : 0;
}

void end_host_scope(const allocation_ref& owner, std::uint64_t scope) noexcept {
  if (scope == 0 || owner.is_freed()) return;
  if (migration_policy* known = migration_policy::of(runtime::current()))
    known->scopes().end(*owner.unchecked(), scope);
}

void throw_strided_guard(const allocation_ref& owner) {
  throw invalid_argument("begin() of a host_guard over a strided view of " + array_text(owner.get()) +
                         ": use (i, j) on the guard, or guard view.clone()");
}

}  // namespace ferry::inline FERRY_ABI::detail

namespace ferry::inline FERRY_ABI {

void check_spans(span_checks how) { detail::migration_policy::current().scopes().set_span_checks(how); }

}  // namespace ferry::inline FERRY_ABI
