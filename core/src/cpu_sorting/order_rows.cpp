// The task `order` on the CPU.
#include <algorithm>
#include <cstdint>

#include "cpu_sorting/keys_with_places.hpp"
#include "cpu_sorting/sort_on_cpu.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

template <class U>
void order_rows_of(const sorting_task& t) {
  const sort_key<U> key(t.type, t.is_descending, true);
  for (std::size_t r = 0; r != t.rows; ++r) {
    auto row = placed_keys(key, t.from, r * t.length, t.length);
    const auto end = row.begin() + static_cast<std::ptrdiff_t>(t.kept);
    if (end != row.end()) std::nth_element(row.begin(), end, row.end());
    std::sort(row.begin(), end);
    for (std::size_t i = 0; i != t.kept; ++i) {
      store_at(t.positions, r * t.kept + i, static_cast<std::int64_t>(row[i].place));
      if (t.values) store_at(t.values, r * t.kept + i, load_at<U>(t.from, r * t.length + row[i].place));
    }
  }
}

}  // namespace

void order_rows_on_cpu(const sorting_task& t) {
  with_key_type(t.type, [&](auto u) { order_rows_of<decltype(u)>(t); });
}

}  // namespace ferry::inline FERRY_ABI::detail
