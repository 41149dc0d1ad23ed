/// @file
/// Hints about unified arrays: prefetch pages, discard contents, and advise the driver.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>

#include "ferry/core/array.hpp"
#include "ferry/core/host.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// Kinds of advice; see advise().
using advice = memory_advice;

/// Returns the CPU memory of one NUMA node, as a location for pages.
/// @param node the number of the node, as Linux has it
/// @return the location
/// @note Programs that were built with CUDA before 12.2 cannot distinguish nodes; a use of the location then throws
///   not_supported.
inline memory_location numa_node(int node) { return {-1, node}; }

/// A view with the location that its pages move to, for several prefetches in one call.
struct page_destination {
  const detail::allocation_ref* owner;
  detail::byte_range bytes;
  memory_location to;
  source_line at;
  /// Sends the pages of a view to a location.
  template <class T, std::size_t Rank>
  page_destination(const array_view<T, Rank, memory_kind::unified>& v, memory_location where,
                   source_line line = source_line::here())
      : owner(&v.owner()),
        bytes(v.bytes()),
        to(where),
        at(line) {}
  /// Sends the pages of a view to a device.
  template <class T, std::size_t Rank>
  page_destination(const array_view<T, Rank, memory_kind::unified>& v, device where,
                   source_line line = source_line::here())
      : page_destination(v, memory_location{where.index()}, line) {}
};

namespace detail {
void prefetch_bytes(stream_ref s, std::span<const page_destination> what);
void discard_bytes(stream_ref s, const allocation_ref& owner, byte_range bytes, bool contiguous, source_line at);
void offer_bytes(const allocation_ref& owner, byte_range bytes, bool contiguous, source_line at);
bool is_discardable(const allocation_ref& owner, byte_range bytes);
void advise_bytes(const allocation_ref& owner, byte_range bytes, memory_advice a, memory_location where,
                  source_line at = {});
// As advise_bytes, until end_advice() is called with the returned number.
std::uint64_t begin_advice(const allocation_ref& owner, byte_range bytes, memory_advice a, memory_location where,
                           source_line at);
void end_advice(const allocation_ref& owner, std::uint64_t number);

template <memory_kind Kind>
constexpr void need_unified() {
  static_assert(Kind == memory_kind::unified,
                "only the pages of a ferry::unified_array can be moved, discarded and advised about: device and "
                "host arrays stay where they were made");
}
}  // namespace detail

/// Moves the pages of a view to a device, or to the CPU with ferry::host or numa_node(n). Work on `s`, ordered after
/// earlier writes of the array and before later ones. Never blocks. Contents do not change. Whole pages move, 2 MiB or
/// less. Pages of a host_guard do not move to a device.
/// @param s the stream
/// @param v the view
/// @param to the destination
/// @param at the caller's source line, for error texts
/// @throws invalid_argument for a device or node that does not exist, and inside a capture: prefetch before the launch
/// @note Has no effect where unified memory is pinned (runtime::migrates_unified).
template <class T, std::size_t Rank, memory_kind Kind>
void prefetch(stream_ref s, const array_view<T, Rank, Kind>& v, memory_location to,
              source_line at = source_line::here()) {
  detail::need_unified<Kind>();
  const page_destination one(v, to, at);
  detail::prefetch_bytes(s, {&one, 1});
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
void prefetch(stream_ref s, const array_view<T, Rank, Kind>& v, device to, source_line at = source_line::here()) {
  prefetch(s, v, memory_location{to.index()}, at);
}
/// Prefetches on this thread's default stream of the destination device.
template <class T, std::size_t Rank, memory_kind Kind>
void prefetch(const array_view<T, Rank, Kind>& v, device to, source_line at = source_line::here()) {
  prefetch(default_stream(to), v, to, at);
}
/// Prefetches on this thread's default stream of the device of the view.
template <class T, std::size_t Rank, memory_kind Kind>
void prefetch(const array_view<T, Rank, Kind>& v, memory_location to, source_line at = source_line::here()) {
  prefetch(default_stream(v.device()), v, to, at);
}
/// Prefetches several views, each to its own location, in one submission: prefetch(s, {{u, d0}, {v, d1}, {w, host}}).
inline void prefetch(stream_ref s, std::initializer_list<page_destination> what) {
  detail::prefetch_bytes(s, {what.begin(), what.size()});
}

/// Makes the contents of a view undefined until they are written. Counts as a write of the array, ordered on `s`. Never
/// blocks. With CUDA 13, pages of 2 MiB that lie completely inside move to the device of `s` without their contents.
/// With CUDA 12, they stay where they are.
/// @param s the stream
/// @param v a contiguous view
/// @param at the caller's source line, for error texts
/// @throws invalid_argument for a strided view, and inside a capture
template <class T, std::size_t Rank, memory_kind Kind>
void discard(stream_ref s, array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_unified<Kind>();
  static_assert(!std::is_const_v<T>, "discard(view): the view is read-only");
  detail::discard_bytes(s, v.owner(), v.bytes(), v.is_contiguous(), at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
void discard(stream_ref s, array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  discard(s, v, at);
}
/// Discards on this thread's default stream of the device of the view.
template <class V>
void discard(V&& v, source_line at = source_line::here()) {
  discard(default_stream(v.device()), v, at);
}

/// Marks the contents of a view, as of all earlier submissions, as discardable. If a device runs out of memory, ferry
/// may drop unused pages of the view there without a copy (compare MADV_FREE of madvise). Until then the mark costs
/// nothing. Any next use of the array removes the mark: later writes are preserved. Mark a scratch array again each
/// time its contents are no longer needed. Dropped contents are undefined until they are written. Never blocks.
/// @param v a contiguous view
/// @param at the caller's source line, for error texts
/// @throws invalid_argument for a strided view
/// @note Has no effect where unified memory is pinned.
template <class T, std::size_t Rank, memory_kind Kind>
void discard_when_needed(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_unified<Kind>();
  static_assert(!std::is_const_v<T>, "discard_when_needed(view): the view is read-only");
  detail::offer_bytes(v.owner(), v.bytes(), v.is_contiguous(), at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
void discard_when_needed(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  discard_when_needed(v, at);
}
/// True if the contents of the view are still marked as discardable.
template <class T, std::size_t Rank, memory_kind Kind>
bool may_be_discarded(const array_view<T, Rank, Kind>& v) {
  detail::need_unified<Kind>();
  return detail::is_discardable(v.owner(), v.bytes());
}

/// Advises the driver how the pages of a view will be used (cudaMemAdvise). Takes effect immediately and orders
/// nothing. Automatic migration does not move pages that are read mostly or have a preferred location. With several
/// GPUs, read_mostly first moves pages to the CPU if they, or others in the same 2 MiB, had a device as preferred
/// location. It blocks until they have moved; the CPU's memory must have room. Without this move, the driver would
/// return stale bytes (docs/decisions/0027). Preferences that differ within 2 MiB are then lost.
/// @param v the view
/// @param a the advice
/// @param where the location that the advice is about
/// @param at the caller's source line, for error texts
/// @throws invalid_argument for a device or node that does not exist, and inside a capture
/// @note Has no effect where unified memory is pinned.
template <class T, std::size_t Rank, memory_kind Kind>
void advise(const array_view<T, Rank, Kind>& v, advice a, memory_location where = host,
            source_line at = source_line::here()) {
  detail::need_unified<Kind>();
  detail::refuse_inside_capture("advise");
  detail::advise_bytes(v.owner(), v.bytes(), a, where, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
void advise(const array_view<T, Rank, Kind>& v, advice a, device where, source_line at = source_line::here()) {
  advise(v, a, memory_location{where.index()}, at);
}

/// Advice for a scope. At its end, the remaining advice for the same bytes holds again: that of advise(), of other
/// scopes, and of the array's policy. Scopes may end in any order. If the array was freed meanwhile, the end has no
/// effect.
class advice_scope {
 public:
  /// Gives the advice; parameters and errors as for advise().
  template <class T, std::size_t Rank>
  advice_scope(const array_view<T, Rank, memory_kind::unified>& v, advice a, memory_location where = host,
               source_line at = source_line::here())
      : owner_(v.owner()),
        number_(detail::begin_advice(owner_, v.bytes(), a, where, at)) {}
  /// @overload
  template <class T, std::size_t Rank>
  advice_scope(const array_view<T, Rank, memory_kind::unified>& v, advice a, device where,
               source_line at = source_line::here())
      : advice_scope(v, a, memory_location{where.index()}, at) {}
  /// Ends the advice.
  ~advice_scope();
  advice_scope(const advice_scope&) = delete;
  advice_scope& operator=(const advice_scope&) = delete;

 private:
  detail::allocation_ref owner_;
  std::uint64_t number_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
