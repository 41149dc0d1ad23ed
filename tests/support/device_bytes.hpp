// Allocates device memory, or returns the text of the failure.
#pragma once
#include <ferry/core/array.hpp>
#include <string>

#include "support/failures.hpp"

namespace support {

inline ferry::device_array<char> device_bytes(std::size_t n, int d = 0) {
  return ferry::device_array<char>({n}, ferry::device(d));
}

// The text of the out-of-memory error; empty if the allocation succeeds.
inline std::string text_of_failure(std::size_t n) {
  return failure_of<ferry::out_of_memory>([&] { device_bytes(n); });
}

}  // namespace support
