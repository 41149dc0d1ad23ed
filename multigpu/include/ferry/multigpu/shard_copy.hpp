/// @file
/// Copies of whole sharded arrays from and to memory of the CPU and ordinary arrays.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/copy.hpp"
#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {

// Returns box b of a row-major array, as a strided view.
template <class View, std::size_t Rank>
auto slice_box(View& whole, const box<Rank>& b) {
  return [&]<std::size_t... D>(std::index_sequence<D...>) {
    return whole.slice({ferry::slice{b.begin[D], b.end[D]}...});
  }
  (std::make_index_sequence<Rank>());
}

// Calls f(offset in a row-major array, offset in the box alone, elements) for each contiguous run of a box, in order.
template <std::size_t Rank, class F>
void for_each_run(const extents<Rank>& e, const box<Rank>& b, F f) {
  std::size_t last = Rank - 1;  // the box is complete in all dimensions after it
  while (last > 0 && b.length(last) == e[last]) --last;
  std::size_t run = 1;
  for (std::size_t d = last; d != Rank; ++d) run *= b.length(d);
  const auto s = row_major(e);
  std::array<std::ptrdiff_t, Rank> at = b.begin;
  for (std::size_t done = 0, all = b.extents().count(); done < all; done += run) {
    std::ptrdiff_t offset = 0;
    for (std::size_t d = 0; d != Rank; ++d) offset += at[d] * s[d];
    f(static_cast<std::size_t>(offset), done, run);
    for (std::size_t d = last; d-- > 0;) {
      if (++at[d] < b.end[d]) break;
      at[d] = b.begin[d];
    }
  }
}
// As for_each_run, with the address in the array.
template <class T, std::size_t Rank, class F>
void for_each_run(T* whole, const extents<Rank>& e, const box<Rank>& b, F f) {
  for_each_run(e, b, [&](std::size_t from, std::size_t at, std::size_t n) { f(whole + from, at, n); });
}

[[noreturn]] void throw_other_count(std::size_t given, const array_look& a, source_line at);

// Calls f(member) for each local member. f copies about `bytes` between its shard and memory of the CPU, and waits for
// the copy. Uses one thread for each member if `bytes` is at least copy_options::parallel_from_bytes, so that all links
// are busy. Otherwise calls f for one member after the other. It also does so:
// - for shards that are not in order, which are scattered in memory of the CPU and need as much again there;
// - for memory that is not of devices;
// - inside a workspace_scope, which is for one thread;
// - if no threads can be started.
// Rethrows the first exception of f.
void for_each_waiting_copy(const team& t, memory_kind kind, bool are_in_order, std::size_t bytes,
                           function_ref<void(std::size_t member)> f);

}  // namespace detail

template <class T, std::size_t Rank, memory_kind Kind>
sharded_array<T, Rank, Kind> sharded_array<T, Rank, Kind>::clone() const {
  sharded_array copied(shared_layout());
  team().for_each(
      [&](std::size_t m) { copy(team().stream(m), local(m), copied.store_->shards[m - first()], source_line{}); });
  if (store_->halos_are_filled()) copied.store_->currency->filled();
  if (validity() && copied.validity()) copied.validity()->copied_from(*validity());
  return copied;
}

/// Copies elements from memory of the CPU to a sharded array. Halos do not change. Large shards are copied
/// concurrently, see detail::for_each_waiting_copy. Ordered as any other work, but on the default streams of the
/// members' devices instead of those of the team: escaped pointers to shards are valid until then. Blocks until the
/// memory has been read.
/// @param from the elements in row-major order
/// @param to the array
/// @param line the caller's source line, for error texts
/// @throws invalid_argument for different numbers of elements
template <class T, std::size_t Rank, memory_kind Kind>
void copy(std::span<const std::type_identity_t<T>> from, sharded_array<T, Rank, Kind>& to,
          source_line line = source_line::here()) {
  if (from.size() != to.size()) detail::throw_other_count(from.size(), to.look(), line);
  const team& t = to.team();
  detail::for_each_waiting_copy(
      t, Kind, to.layout().is_in_order(), to.size() / t.size() * sizeof(T), [&](std::size_t m) {
        const box<Rank> own = to.layout().own(m);
        if (own.empty()) return;
        const stream_ref on = default_stream(t.device(m));
        if (to.layout().is_in_order()) {
          const std::size_t row = to.size() / to.extent(0);
          return copy(on, from.subspan(static_cast<std::size_t>(own.begin[0]) * row, own.length(0) * row),
                      detail::cells_for_call(to, m), line);
        }
        const detail::cpu_buffer<T> part(own.extents().count());
        detail::for_each_run(from.data(), to.extents(), own,
                             [&](const T* p, std::size_t at, std::size_t n) { std::copy_n(p, n, part.data() + at); });
        copy(on, std::span<const T>(part.span()), detail::cells_for_call(to, m), line);
      });
  to.note_changed();
}

/// Copies the elements of local members to memory of the CPU, to their places in the row-major order of the whole
/// array. The elements of other processes do not change, and the call does not wait for these processes. Blocks until
/// the array has been written and copied.
/// @param from the array
/// @param to memory for all elements of the array
/// @param line the caller's source line, for error texts
/// @throws invalid_argument for different numbers of elements
template <class T, std::size_t Rank, memory_kind Kind>
void copy(const sharded_array<T, Rank, Kind>& from, std::span<std::type_identity_t<T>> to,
          source_line line = source_line::here()) {
  if (from.size() != to.size()) detail::throw_other_count(to.size(), from.look(), line);
  const team& t = from.team();
  detail::for_each_waiting_copy(
      t, Kind, from.layout().is_in_order(), from.size() / t.size() * sizeof(T), [&](std::size_t m) {
        const box<Rank> own = from.layout().own(m);
        if (own.empty()) return;
        const stream_ref on = default_stream(t.device(m));
        if (from.layout().is_in_order()) {
          const std::size_t row = from.size() / from.extent(0);
          return copy(on, from.shard(m), to.subspan(static_cast<std::size_t>(own.begin[0]) * row, own.length(0) * row),
                      line);
        }
        const detail::cpu_buffer<T> part(own.extents().count());
        copy(on, from.shard(m), part.span(), line);
        detail::for_each_run(to.data(), from.extents(), own,
                             [&](T* p, std::size_t at, std::size_t n) { std::copy_n(part.data() + at, n, p); });
      });
}

namespace detail {

// As to_vector, into existing memory.
template <class T, std::size_t Rank, memory_kind Kind>
void copy_from_all_processes(const sharded_array<T, Rank, Kind>& a, std::span<T> all, source_line line) {
  const team& t = a.team();
  if (!spans_processes(t)) return copy(a, all, line);
  std::size_t count = 0;
  for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m)
    count += a.layout().own(m).extents().count();
  const cpu_buffer<T> mine(count);
  std::size_t end = 0;
  for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m) {
    const std::size_t at = end, n = a.layout().own(m).extents().count();
    end += n;
    if (n > 0) copy(default_stream(t.device(m)), a.shard(m), mine.span().subspan(at, n), line);
  }
  const bool in_order = a.layout().is_in_order();
  const cpu_buffer<T> shards(in_order ? 0 : a.size());
  join_processes(t, std::as_bytes(mine.span()), std::as_writable_bytes(in_order ? all : shards.span()),
                 "to_vector of a sharded array");
  std::size_t begin = 0;
  for (std::size_t m = 0; m < t.size() && !in_order; ++m) {
    const box<Rank> own = a.layout().own(m);
    for_each_run(all.data(), a.extents(), own,
                 [&](T* p, std::size_t at, std::size_t n) { std::copy_n(shards.data() + begin + at, n, p); });
    begin += own.extents().count();
  }
}

}  // namespace detail

/// Returns all elements in row-major order. Blocks until the array has been written and copied. For a team that spans
/// processes, all of them must call it; each receives all elements, by messages between CPUs. gather() collects them in
/// one process only.
/// @param a the array
/// @param line the caller's source line, for error texts
/// @return the elements
/// @throws process_error if another process fails
template <class T, std::size_t Rank, memory_kind Kind>
std::vector<T> to_vector(const sharded_array<T, Rank, Kind>& a, source_line line = source_line::here()) {
  return detail::written_vector<T>(a.size(), [&](std::span<T> all) { detail::copy_from_all_processes(a, all, line); });
}

/// Copies an ordinary array of any location to a sharded array. Ordered on the streams of the team; blocks only if a
/// copy between ordinary arrays does.
/// @param from the source
/// @param to the destination, of the same shape
/// @param line the caller's source line, for error texts
/// @throws invalid_argument for different shapes
template <class T, class U, std::size_t Rank, memory_kind From, memory_kind Kind>
void copy(const array_view<U, Rank, From>& from, sharded_array<T, Rank, Kind>& to,
          source_line line = source_line::here()) {
  detail::need_same_shape(from.extents(), to.extents(), from, to, line);
  to.team().for_each([&](std::size_t m) {
    const box<Rank> own = to.layout().own(m);
    if (!own.empty()) copy(to.team().stream(m), detail::slice_box(from, own), detail::cells_for_call(to, m), line);
  });
  to.note_changed();
}
/// Copies a sharded array to an ordinary array of any location; as the copy from one.
template <class T, class U, std::size_t Rank, memory_kind Kind, memory_kind To>
void copy(const sharded_array<T, Rank, Kind>& from, array_view<U, Rank, To>& to,
          source_line line = source_line::here()) {
  detail::need_same_shape(from.extents(), to.extents(), from, to, line);
  from.team().for_each([&](std::size_t m) {
    const box<Rank> own = from.layout().own(m);
    if (!own.empty()) copy(from.team().stream(m), from.shard(m), detail::slice_box(to, own), line);
  });
}

/// Fills every cell, including halos, with a value. On the streams of the team; does not block.
template <class T, std::size_t Rank, memory_kind Kind>
void fill(sharded_array<T, Rank, Kind>& a, std::type_identity_t<T> value, source_line line = source_line::here()) {
  a.team().for_each([&](std::size_t m) {
    if (!a.layout().own(m).empty())
      fill(a.team().stream(m), detail::cells_for_call(a, m, a.layout().local(m)), value, line);
  });
  a.note_changed(), a.note_filled();
}

/// @}

}  // namespace ferry::inline FERRY_ABI
