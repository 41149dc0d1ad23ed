// The task `unique` on the CPU.
#include <algorithm>
#include <cstdint>

#include "cpu_sorting/keys_with_places.hpp"
#include "cpu_sorting/sort_on_cpu.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

template <class U>
void find_unique_of(const sorting_task& t) {
  const sort_key<U> key(t.type, false, true);
  auto row = placed_keys(key, t.from, 0, t.length);
  std::sort(row.begin(), row.end());
  std::size_t found = 0;
  for (std::size_t i = 0; i != t.length;) {
    std::size_t end = i;
    while (end != t.length && row[end].key == row[i].key) {
      if (t.inverse) store_at(t.inverse, row[end].place, static_cast<std::int64_t>(found));
      ++end;
    }
    if (found < t.kept) {
      store_at(t.values, found, key.bits(row[i].key));
      if (t.counts) store_at(t.counts, found, static_cast<std::int64_t>(end - i));
    }
    ++found;
    i = end;
  }
  store_at(t.found, 0, static_cast<std::uint64_t>(found));
}

}  // namespace

void find_unique_on_cpu(const sorting_task& t) {
  with_key_type(t.type, [&](auto u) { find_unique_of<decltype(u)>(t); });
}

}  // namespace ferry::inline FERRY_ABI::detail
