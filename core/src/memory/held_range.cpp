#include "ferry/core/detail/memory/held_range.hpp"

#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns the policy of the allocation's runtime if that is the current one, else null.
access_policy* policy_of(const allocation& a) {
  runtime& m = runtime::current();
  return &a.resource->backend() == &m.backend() ? m.policy() : nullptr;
}

class hold_of_host {
 public:
  hold_of_host(const allocation_ref& owner, std::uint64_t number) : owner_(owner), number_(number) {}
  ~hold_of_host() {
    if (owner_.is_freed()) return;
    if (access_policy* p = policy_of(*owner_.unchecked())) p->let_go(*owner_.unchecked(), number_);
  }
  hold_of_host(const hold_of_host&) = delete;
  hold_of_host& operator=(const hold_of_host&) = delete;

 private:
  allocation_ref owner_;
  std::uint64_t number_;
};

}  // namespace

held_range hold_for_host(const allocation_ref& owner, byte_range where, memory_kind as, bool writes, source_line at,
                         const char* through) {
  if (!owner || where.begin == where.end) return nullptr;
  allocation& a = owner.get();
  const bool is_unified = a.kind == memory_kind::unified || as == memory_kind::unified;
  access_policy* const p = is_unified ? policy_of(a) : nullptr;
  const std::uint64_t number = p ? p->hold(a, where, writes, at, through) : 0;
  return number ? std::make_shared<hold_of_host>(owner, number) : nullptr;
}

}  // namespace ferry::inline FERRY_ABI::detail
