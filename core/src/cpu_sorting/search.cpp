// The task `search` on the CPU.
#include <cstdint>

#include "cpu_sorting/memory_elements.hpp"
#include "cpu_sorting/sort_on_cpu.hpp"
#include "ferry/core/detail/operations/sort_key.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

template <class U>
void search_row_of(const sorting_task& t) {
  const bool are_keys = t.kind == sorting_kind::rank;
  const sort_key<U> key(t.type, t.is_descending, !are_keys || t.is_merged);
  for (std::size_t k = 0; k != t.other_count; ++k) {
    const U other = load_at<U>(t.other, k), wanted = are_keys ? other : key(other);
    std::size_t first = 0, count = t.length;
    while (count != 0) {
      const std::size_t half = count / 2;
      const U middle = key(load_at<U>(t.from, first + half));
      if (middle < wanted || (t.is_after_equal && middle == wanted))
        first += half + 1, count -= half + 1;
      else
        count = half;
    }
    store_at(t.positions, k, static_cast<std::int64_t>(first));
  }
}

}  // namespace

void search_on_cpu(const sorting_task& t) {
  with_key_type(t.type, [&](auto u) { search_row_of<decltype(u)>(t); });
}

}  // namespace ferry::inline FERRY_ABI::detail
