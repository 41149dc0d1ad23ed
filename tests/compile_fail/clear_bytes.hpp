// Takes elements as bytes: valid for each type.
#pragma once
#include <cstddef>

#include <ferry/core.hpp>

namespace {
struct clear_bytes {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::byte* x) const { x[i] = std::byte{0}; }
};
}  // namespace
