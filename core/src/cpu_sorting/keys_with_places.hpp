// Keys of a row, each with the position of its element.
#pragma once
#include <cstddef>
#include <vector>

#include "cpu_sorting/memory_elements.hpp"
#include "ferry/core/detail/operations/sort_key.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A key and the position of its element. Equal keys are ordered by position.
template <class U>
struct placed_key {
  U key;
  std::size_t place;
  bool operator<(const placed_key& o) const { return key != o.key ? key < o.key : place < o.place; }
};

// Returns the keys of `count` elements of memory, from element `first` on.
template <class U>
std::vector<placed_key<U>> placed_keys(const sort_key<U>& key, const std::byte* from, std::size_t first,
                                       std::size_t count) {
  std::vector<placed_key<U>> all(count);
  for (std::size_t i = 0; i != count; ++i) all[i] = {key(load_at<U>(from, first + i)), i};
  return all;
}

}  // namespace ferry::inline FERRY_ABI::detail
