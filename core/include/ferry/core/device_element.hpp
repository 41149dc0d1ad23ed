/// @file
/// Single elements of arrays in memory that the CPU cannot access.
#pragma once
#include <type_traits>
#include <utility>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/memory_kind.hpp"
#include "ferry/core/source_line.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @cond
namespace detail {
template <memory_kind Kind>
constexpr void need_host_access();
// Copies one element to the CPU. Blocks until the work that writes it is complete. Throws use_after_free.
void read_element(const allocation_ref& owner, const void* from, void* to, std::size_t bytes, source_line at);
}  // namespace detail
/// @endcond

/// @addtogroup arrays
/// @{

/// One number of an array in memory that the CPU cannot access: a(i, j) of a device array. Only get() reads it; other
/// uses are compile errors that state the alternatives. Keeps the array's memory alive. Records are read by value_at().
/// @tparam T type of the element
/// @tparam Kind kind of memory
template <class T, memory_kind Kind>
class device_element {
 public:
  using value_type = std::remove_const_t<T>;

  /// Used by array_view.
  device_element(detail::allocation_ref owner, T* element, source_line at)
      : owner_(std::move(owner)),
        element_(element),
        at_(at) {}
  /// The value, copied to the CPU. Blocks until the work that writes it is complete. One call costs a copy: copy whole
  /// arrays by to_vector().
  /// @throws use_after_free if the array was freed
  value_type get() const {
    value_type value{};
    detail::read_element(owner_, element_, &value, sizeof value, at_);
    return value;
  }

  /// @cond
  operator value_type() const {
    detail::need_host_access<Kind>();
    return get();
  }
  template <class U>
  device_element& operator=(const U&) {
    detail::need_host_access<Kind>();
    return *this;
  }
  template <class U>
  device_element& operator+=(const U& u) {
    return *this = u;
  }
  template <class U>
  device_element& operator-=(const U& u) {
    return *this = u;
  }
  template <class U>
  device_element& operator*=(const U& u) {
    return *this = u;
  }
  template <class U>
  device_element& operator/=(const U& u) {
    return *this = u;
  }
  /// @endcond

 private:
  detail::allocation_ref owner_;
  T* element_;
  source_line at_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
