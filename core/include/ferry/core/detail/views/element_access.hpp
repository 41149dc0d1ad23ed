// What accesses of the CPU to elements of a view return, and the compile error of those that are not possible.
#pragma once
#include <exception>
#include <type_traits>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/device_element.hpp"
#include "ferry/core/memory_kind.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <memory_kind Kind>
constexpr void need_host_access() {
  static_assert(
      is_host_accessible(Kind),
      "a device array cannot be touched by the CPU: copy it with ferry::to_vector(a) (sharded arrays, too) or "
      "ferry::to_unified(a), make it a ferry::unified_array, read one element by a(i, j).get(), or assign to one by "
      "ferry::element(a, i, j) = x");
}

// True if a(i, j) returns a reference. Records of device arrays have one, too, so that a(i).member fails with the
// message of need_host_access.
template <class T, memory_kind Kind>
inline constexpr bool has_element_references = is_host_accessible(Kind) || std::is_aggregate_v<T>;
template <class T, memory_kind Kind>
using element_access = std::conditional_t<has_element_references<T, Kind>, T&, device_element<T, Kind>>;

// What begin() of a device array returns. It is not an iterator, so the array does not satisfy std::ranges::range. Its
// operators exist only so that a range-based for loop fails with the message of need_host_access.
template <class T, memory_kind Kind>
struct no_host_iterator {
  T& operator*() const {
    need_host_access<Kind>();
    std::terminate();
  }
  no_host_iterator& operator++() { return *this; }
  bool operator!=(const no_host_iterator&) const { return false; }
};

}  // namespace ferry::inline FERRY_ABI::detail
