// Where the pages of unified arrays are: moving them ahead of their use, and telling the driver how they are used.
#pragma once
#include "ferry/core/array.hpp"
#include "ferry/core/host.hpp"

namespace ferry {

using advice = memory_advice;

namespace detail {
void prefetch_bytes(stream_ref s, const allocation_ref& owner, byte_range bytes, memory_location to);
void advise_bytes(const allocation_ref& owner, byte_range bytes, memory_advice a, memory_location where);
}  // namespace detail

// Moves the pages under a view to a device, or to the CPU with ferry::host, as work on `s`: ordered behind what writes
// the array and before what uses it later. Never blocks. Contents do not change; whole pages move, 2 MiB or less. Does
// nothing where unified memory is pinned (machine::migrates_unified). Throws invalid_argument for a device not there.
template <class T, std::size_t Rank>
void prefetch(stream_ref s, const array_view<T, Rank, memory_kind::unified>& v, memory_location to) {
  detail::prefetch_bytes(s, v.owner(), v.bytes(), to);
}
template <class T, std::size_t Rank>
void prefetch(stream_ref s, const array_view<T, Rank, memory_kind::unified>& v, device to) {
  prefetch(s, v, memory_location{to.index()});
}
// The same on this thread's stream of the device that the pages go to, or that they come from.
template <class T, std::size_t Rank>
void prefetch(const array_view<T, Rank, memory_kind::unified>& v, device to) {
  prefetch(default_stream(to), v, to);
}
template <class T, std::size_t Rank>
void prefetch(const array_view<T, Rank, memory_kind::unified>& v, memory_location to) {
  prefetch(default_stream(v.device()), v, to);
}

// Tells the driver how the pages under a view will be used (cudaMemAdvise). Takes effect at once; orders nothing; does nothing where unified memory is pinned.
template <class T, std::size_t Rank>
void advise(const array_view<T, Rank, memory_kind::unified>& v, advice a, memory_location where = host) {
  detail::advise_bytes(v.owner(), v.bytes(), a, where);
}
template <class T, std::size_t Rank>
void advise(const array_view<T, Rank, memory_kind::unified>& v, advice a, device where) {
  advise(v, a, memory_location{where.index()});
}

}  // namespace ferry
