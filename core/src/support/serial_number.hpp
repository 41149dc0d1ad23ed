// Numbers that this process gives once: stale references to objects of a kind are found by them.
#pragma once
#include <atomic>
#include <cstdint>

namespace ferry {

inline std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace ferry
