#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace support {

// How many seeds, or other rounds, a case runs: as many as usual, or $FERRY_TEST_SEEDS if that is less (for sanitizers, which
// are slow).
inline std::size_t seeds(std::size_t usual) {
  const char* asked = std::getenv("FERRY_TEST_SEEDS");
  return asked ? std::min<std::size_t>(usual, std::strtoul(asked, nullptr, 10)) : usual;
}

}  // namespace support
