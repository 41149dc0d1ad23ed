// Elements of dense memory by index, as values of another type of their size.
#pragma once
#include <cstddef>
#include <cstring>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <class U>
U load_at(const std::byte* from, std::size_t i) {
  U v;
  std::memcpy(&v, from + i * sizeof v, sizeof v);
  return v;
}
template <class U>
void store_at(std::byte* to, std::size_t i, U v) {
  std::memcpy(to + i * sizeof v, &v, sizeof v);
}

}  // namespace ferry::inline FERRY_ABI::detail
