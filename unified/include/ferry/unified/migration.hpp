// Hints: moving pages of unified arrays ahead of their use, dropping their contents, and telling the driver of their use.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>

#include "ferry/core/array.hpp"
#include "ferry/core/host.hpp"

namespace ferry {

using advice = memory_advice;

// The CPU's memory of one NUMA node, as a place for pages. Programs that were built with CUDA before 12.2 cannot tell nodes
// apart: where it is used there it is a not_supported error.
inline memory_location numa_node(int node) { return {-1, node}; }

// A view with the place that its pages are to go to: for several prefetches at once.
struct page_destination {
  const allocation_ref* owner;
  byte_range bytes;
  memory_location to;
  source_line at;
  template <class T, std::size_t Rank>
  page_destination(const array_view<T, Rank, memory_kind::unified>& v, memory_location where,
                   source_line line = source_line::here())
      : owner(&v.owner()),
        bytes(v.bytes()),
        to(where),
        at(line) {}
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
// The same until end_advice() with the number.
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

// Moves the pages under a view to a device, or to the CPU with ferry::host or numa_node(n), as work on `s`: ordered behind
// what writes the array and before what writes it later. Never blocks. Contents do not change; whole pages move, 2 MiB or
// less. Pages that a host_guard holds go to no device. Does nothing where unified memory is pinned
// (machine::migrates_unified). Throws invalid_argument for a device or node that is not there, and inside a capture: prefetch
// before the launch.
template <class T, std::size_t Rank, memory_kind Kind>
void prefetch(stream_ref s, const array_view<T, Rank, Kind>& v, memory_location to,
              source_line at = source_line::here()) {
  detail::need_unified<Kind>();
  const page_destination one(v, to, at);
  detail::prefetch_bytes(s, {&one, 1});
}
template <class T, std::size_t Rank, memory_kind Kind>
void prefetch(stream_ref s, const array_view<T, Rank, Kind>& v, device to, source_line at = source_line::here()) {
  prefetch(s, v, memory_location{to.index()}, at);
}
// The same on this thread's stream of the device that the pages go to, or that they come from.
template <class T, std::size_t Rank, memory_kind Kind>
void prefetch(const array_view<T, Rank, Kind>& v, device to, source_line at = source_line::here()) {
  prefetch(default_stream(to), v, to, at);
}
template <class T, std::size_t Rank, memory_kind Kind>
void prefetch(const array_view<T, Rank, Kind>& v, memory_location to, source_line at = source_line::here()) {
  prefetch(default_stream(v.device()), v, to, at);
}
// Several views, each to a place of its own, as one piece of work: prefetch(s, {{u, d0}, {v, d1}, {w, host}}).
inline void prefetch(stream_ref s, std::initializer_list<page_destination> what) {
  detail::prefetch_bytes(s, {what.begin(), what.size()});
}

// From here on the contents are undefined until somebody writes them. Pages of 2 MiB that lie wholly inside go to the device
// of `s` without their contents, where CUDA 13 is (on CUDA 12 they stay). A write to the array, ordered on `s`. Never blocks.
// Throws invalid_argument for strided views, and inside a capture.
template <class T, std::size_t Rank, memory_kind Kind>
void discard(stream_ref s, array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_unified<Kind>();
  static_assert(!std::is_const_v<T>, "discard(view): the view is read-only");
  detail::discard_bytes(s, v.owner(), v.bytes(), v.is_contiguous(), at);
}
template <class T, std::size_t Rank, memory_kind Kind>
void discard(stream_ref s, array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  discard(s, v, at);
}
template <class V>
void discard(V&& v, source_line at = source_line::here()) {
  discard(default_stream(v.device()), v, at);
}

// What the view holds by all that was submitted so far is not needed any more: when a device runs out of memory, its pages
// there may be given up without being copied, once no work uses them (madvise has this as MADV_FREE). Costs nothing until
// then. It ends with the next use of the array, by whomever: what is written from then on stays. So a scratch array is
// offered anew each time its contents are done with. What was given up is undefined until it is written. Never blocks; does
// nothing where unified memory is pinned. Throws invalid_argument for strided views.
template <class T, std::size_t Rank, memory_kind Kind>
void discard_when_needed(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_unified<Kind>();
  static_assert(!std::is_const_v<T>, "discard_when_needed(view): the view is read-only");
  detail::offer_bytes(v.owner(), v.bytes(), v.is_contiguous(), at);
}
template <class T, std::size_t Rank, memory_kind Kind>
void discard_when_needed(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  discard_when_needed(v, at);
}
// Whether that still holds.
template <class T, std::size_t Rank, memory_kind Kind>
bool may_be_discarded(const array_view<T, Rank, Kind>& v) {
  detail::need_unified<Kind>();
  return detail::is_discardable(v.owner(), v.bytes());
}

// Tells the driver how the pages under a view will be used (cudaMemAdvise). Takes effect at once; orders nothing; does
// nothing where unified memory is pinned. Pages with a preferred location, or read mostly, are left to the driver by automatic
// migration. With several GPUs, read_mostly for pages that had a device as preferred location (or share 2 MiB with such) moves
// them to the CPU first, whose memory must have room, and waits for that: else the driver would give stale bytes
// (docs/decisions/0027). Preferences that differ within 2 MiB are lost then. Throws invalid_argument for a device or node that
// is not there, and inside a capture.
template <class T, std::size_t Rank, memory_kind Kind>
void advise(const array_view<T, Rank, Kind>& v, advice a, memory_location where = host,
            source_line at = source_line::here()) {
  detail::need_unified<Kind>();
  refuse_inside_capture("advise");
  detail::advise_bytes(v.owner(), v.bytes(), a, where, at);
}
template <class T, std::size_t Rank, memory_kind Kind>
void advise(const array_view<T, Rank, Kind>& v, advice a, device where, source_line at = source_line::here()) {
  advise(v, a, memory_location{where.index()}, at);
}

// Advice for a scope: at its end what else was advised holds again, by advise(), by other scopes, which may end in any
// order, and by the array's policy. Does nothing then if the array was freed meanwhile.
class advice_scope {
 public:
  template <class T, std::size_t Rank>
  advice_scope(const array_view<T, Rank, memory_kind::unified>& v, advice a, memory_location where = host,
               source_line at = source_line::here())
      : owner_(v.owner()),
        number_(detail::begin_advice(owner_, v.bytes(), a, where, at)) {}
  template <class T, std::size_t Rank>
  advice_scope(const array_view<T, Rank, memory_kind::unified>& v, advice a, device where,
               source_line at = source_line::here())
      : advice_scope(v, a, memory_location{where.index()}, at) {}
  ~advice_scope();
  advice_scope(const advice_scope&) = delete;
  advice_scope& operator=(const advice_scope&) = delete;

 private:
  allocation_ref owner_;
  std::uint64_t number_;
};

}  // namespace ferry
