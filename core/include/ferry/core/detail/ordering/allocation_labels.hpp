// Labels of an allocation for the memory accounting: tag, name, and whether it is retained.
#pragma once
#include <cstdint>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/memory_label.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Labels of an allocation in use, packed into its `tag`. Its owner writes them while reports read them. The lowest 19
// bits are the tag, the next 12 the name. The highest bit marks retained blocks, which are in no array and not in their
// pool (see memory_resource::retain).
struct allocation_labels {
  static constexpr std::uint32_t aside = std::uint32_t{1} << 31;
  static constexpr int name_shift = 19;
  static_assert(most_tags == std::size_t{1} << name_shift && most_names << name_shift == aside);
  memory_label tag = 0, name = 0;
  std::uint32_t packed() const { return tag | name << name_shift; }
};
inline void set_labels(allocation& a, std::uint32_t both) noexcept {
  // Not std::atomic_ref: C++20's accepts no const objects, and clang 14 has none.
  __atomic_store_n(&a.tag, both, __ATOMIC_RELAXED);
}
inline std::uint32_t packed_labels(const allocation& a) noexcept { return __atomic_load_n(&a.tag, __ATOMIC_RELAXED); }
inline bool is_retained(const allocation& a) noexcept { return (packed_labels(a) & allocation_labels::aside) != 0; }
inline allocation_labels labels_of(const allocation& a) {
  const std::uint32_t both = packed_labels(a);
  constexpr auto tags = static_cast<memory_label>(most_tags - 1);
  return {both & tags, (both & ~allocation_labels::aside) >> allocation_labels::name_shift};
}

}  // namespace ferry::inline FERRY_ABI::detail
