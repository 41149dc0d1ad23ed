// The tasks `sort` and `partition` on the CPU.
#include <algorithm>
#include <vector>

#include "cpu_sorting/memory_elements.hpp"
#include "cpu_sorting/sort_on_cpu.hpp"
#include "ferry/core/detail/operations/sort_key.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

template <class U>
void sort_rows_of(const sorting_task& t) {
  const sort_key<U> key(t.type, t.is_descending, false);
  std::vector<U> row(t.length);
  for (std::size_t r = 0; r != t.rows; ++r) {
    const std::size_t first = r * t.length;
    for (std::size_t i = 0; i != t.length; ++i) row[i] = key(load_at<U>(t.from, first + i));
    if (t.kind == sorting_kind::partition)
      std::nth_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(t.kept), row.end());
    else
      std::sort(row.begin(), row.end());
    for (std::size_t i = 0; i != t.length; ++i) store_at(t.values, first + i, key.bits(row[i]));
  }
}

}  // namespace

void sort_rows_on_cpu(const sorting_task& t) {
  with_key_type(t.type, [&](auto u) { sort_rows_of<decltype(u)>(t); });
}

void sort_on_cpu(const sorting_task& t) {
  switch (t.kind) {
    case sorting_kind::sort:
    case sorting_kind::partition: return sort_rows_on_cpu(t);
    case sorting_kind::order: return order_rows_on_cpu(t);
    case sorting_kind::unique: return find_unique_on_cpu(t);
    case sorting_kind::search:
    case sorting_kind::rank: return search_on_cpu(t);
    case sorting_kind::select: return select_on_cpu(t);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
