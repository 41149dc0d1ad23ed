/// @file
/// The location of the pages of a unified array.
#pragma once
#include <iosfwd>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// Bytes by location.
struct residency_bytes {
  std::size_t on_cpu = 0, unknown = 0;
  std::vector<std::size_t> on_device;  ///< by index of the device
  /// Returns the bytes on one device.
  std::size_t on(device d) const { return on_device[static_cast<std::size_t>(d.index())]; }
};
/// Writes the bytes of each location.
std::ostream& operator<<(std::ostream& out, const residency_bytes& r);

namespace detail {
residency_bytes residency_of(const allocation_ref& owner, byte_range bytes);
}

/// Returns the bytes of a view by location, as they are when all earlier submissions are complete. The library derives
/// locations from the last user of each range. If that is unknown, it takes the location of the driver's last prefetch.
/// Orders nothing; never blocks. Where unified memory is pinned, all bytes are on the CPU, as is adopted memory that
/// as_unified had to pin. For adopted memory that devices read in place, the driver is not queried.
/// @param v the view
/// @return the bytes by location
template <class T, std::size_t Rank>
residency_bytes residency(const array_view<T, Rank, memory_kind::unified>& v) {
  return detail::residency_of(v.owner(), v.bytes());
}

/// @}

}  // namespace ferry::inline FERRY_ABI
