#include "pools/block_release.hpp"

#include "ferry/core/error.hpp"
#include "pools/block_uses.hpp"

namespace ferry::inline FERRY_ABI::detail {

bool release_if_unused(allocation& a, release_depth how, memory_source& pool, memory_accounting& accounting,
                       std::exception_ptr& first) {
  try {
    if (!is_unused(a, how)) return false;
  } catch (...) {
    if (!first) first = std::current_exception();
    return false;
  }
  accounting.returning(pool, a.begin, a.bytes);
  try {
    accounting.backend().release(pool.kind(), pool.device(), a.begin, a.bytes);
  } catch (const device_error& e) {  // a failed device: process exit frees its memory
    if (!e.is_sticky() && !first) first = std::current_exception();
  }
  accounting.returned(pool, a.bytes);
  return true;
}

}  // namespace ferry::inline FERRY_ABI::detail
