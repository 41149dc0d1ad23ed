// The task `select` on the CPU.
#include <cstdint>
#include <cstring>

#include "cpu_sorting/memory_elements.hpp"
#include "cpu_sorting/sort_on_cpu.hpp"

namespace ferry::inline FERRY_ABI::detail {

void select_on_cpu(const sorting_task& t) {
  const std::size_t bytes = size_of(t.type);
  std::size_t found = 0;
  for (std::size_t i = 0; i != t.length; ++i) {
    if (load_at<std::uint8_t>(t.from, i) == 0) continue;
    if (found < t.kept) {
      if (t.positions) store_at(t.positions, found, static_cast<std::int64_t>(i));
      if (t.values) std::memcpy(t.values + found * bytes, t.other + i * bytes, bytes);
    }
    ++found;
  }
  store_at(t.found, 0, static_cast<std::uint64_t>(found));
}

}  // namespace ferry::inline FERRY_ABI::detail
