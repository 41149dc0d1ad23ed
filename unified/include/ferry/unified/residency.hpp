// Where the pages of a unified array are.
#pragma once
#include <iosfwd>
#include <vector>

#include "ferry/core/array_view.hpp"

namespace ferry {

// Bytes by place.
struct residency_bytes {
  std::size_t on_cpu = 0, unknown = 0;
  std::vector<std::size_t> on_device;  // by index
  std::size_t on(device d) const { return on_device[static_cast<std::size_t>(d.index())]; }
};
std::ostream& operator<<(std::ostream& out, const residency_bytes& r);

namespace detail {
residency_bytes residency_of(const allocation_ref& owner, byte_range bytes);
}

// Bytes of the view by place once all that was submitted is over: as the library knows from who used what last, and where
// it does not, by the place that the driver last prefetched them to. Orders nothing; never blocks. Where unified memory
// is pinned all is on the CPU, as is memory of the program that as_unified had to pin; of such memory that devices read in
// place the driver is not asked.
template <class T, std::size_t Rank>
residency_bytes residency(const array_view<T, Rank, memory_kind::unified>& v) {
  return detail::residency_of(v.owner(), v.bytes());
}

}  // namespace ferry
