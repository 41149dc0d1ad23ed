#include "pools/block_uses.hpp"

#include <mutex>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Repeats f() if a device fails meanwhile: that device is marked as failed, and its work counts as complete next time.
template <class F>
auto past_failures(F f) {
  for (;;) try {
      return f();
    } catch (const device_error& e) {
      if (!e.is_sticky()) throw;
    }
}

}  // namespace

bool is_unused(allocation& a, release_depth how) {
  return past_failures([&] {
    if (how == release_depth::finished) return are_uses_complete(a, a.range(), true);
    wait_for_uses(a.history, a.range(), true);
    return true;
  });
}

void wait_for_all_uses(allocation& a, byte_range bytes) {
  past_failures([&] { wait_for_uses(a.history, bytes, true); });
}

void follow_all_uses(timeline& on, allocation& a, byte_range bytes) {
  std::lock_guard lock(a.history);
  a.history.each_hazard(&on, bytes, true, [&](timeline& t, ticket at, bool reads) { on.wait_on(t, at, reads); });
}

}  // namespace ferry::inline FERRY_ABI::detail
