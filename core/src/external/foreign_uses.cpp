#include "external/foreign_uses.hpp"

#include <mutex>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::string text_of(byte_range bytes, const std::string& name) {
  plain_stream out;
  if (!name.empty()) out << "'" << name << "', ";
  out << bytes.size() << " bytes at " << static_cast<const void*>(bytes.begin);
  return out.str();
}

void wait_for_all_uses(allocation& a, byte_range bytes) {
  for (;;) {
    try {
      wait_for_uses(a.history, bytes, true);
      return;
    } catch (const device_error& e) {
      if (!e.is_sticky()) throw;
    }
  }
}

void follow_all_uses(timeline& on, allocation& a, byte_range bytes) {
  std::lock_guard lock(a.history);
  a.history.each_hazard(&on, bytes, true, [&](timeline& t, ticket at, bool reads) { on.wait_on(t, at, reads); });
}

}  // namespace ferry::inline FERRY_ABI::detail
