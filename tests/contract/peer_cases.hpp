// Shared by the peer cases: kernels on memory of other devices, and the number of times a message was printed.
#pragma once
#include <string_view>

#include "contract/fixture.hpp"

namespace contract {

struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};
struct add {
  int by;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += by; }
};
struct value_of {
  FERRY_HOST_DEVICE std::int64_t operator()(std::size_t i, const int* x) const { return x[i]; }
};

inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace contract
