// Serial numbers, unique in this process: they identify stale references to objects.
#pragma once
#include <atomic>
#include <cstdint>

namespace ferry {

inline std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace ferry
