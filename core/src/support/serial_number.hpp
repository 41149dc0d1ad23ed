// Serial numbers, unique in this process: they identify stale references to objects.
#pragma once
#include <atomic>
#include <cstdint>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace ferry::inline FERRY_ABI::detail
