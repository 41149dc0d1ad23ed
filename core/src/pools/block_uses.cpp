#include "pools/block_uses.hpp"

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

}  // namespace ferry::inline FERRY_ABI::detail
