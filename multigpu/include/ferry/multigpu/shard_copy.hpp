// Whole sharded arrays from and to memory of the CPU and ordinary arrays.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ferry/core/copy.hpp"
#include "ferry/multigpu/across_processes.hpp"
#include "ferry/multigpu/sharded_array.hpp"

namespace ferry {

namespace detail {

// Box b of a row-major array, as a strided view's slices.
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
  std::size_t last = Rank - 1;  // the dimensions behind it are whole
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
// The same with the address in the array.
template <class T, std::size_t Rank, class F>
void for_each_run(T* whole, const extents<Rank>& e, const box<Rank>& b, F f) {
  for_each_run(e, b, [&](std::size_t from, std::size_t at, std::size_t n) { f(whole + from, at, n); });
}

[[noreturn]] void throw_other_count(std::size_t given, const array_look& a, source_line at);

// f(member) for each local member, which copies some `bytes` between its shard and memory of the CPU and waits for them: by
// a thread each where that is as much as threads copy (copy_options::parallel_from_bytes), so that all links are in use;
// one after the other for less, for shards along another axis than the first, which lie scattered in memory of the CPU and
// need as much again there, for memory that is not of devices, inside a workspace_scope, which is for one thread, and where
// there are no threads to be had. Throws what the first of them threw.
void for_each_waiting_copy(const team& t, memory_kind kind, std::size_t axis, std::size_t bytes,
                           const std::function<void(std::size_t member)>& f);

}  // namespace detail

// The elements in row-major order, from memory of the CPU; halos are left alone. Large shards travel at the same time, see
// for_each_waiting_copy. Ordered as any other work, on the default streams of the members' devices, not on those of the team:
// raw pointers of shards that are out are good until then. Blocks until that memory was read. Throws invalid_argument when
// the counts differ.
template <class T, std::size_t Rank, memory_kind Kind>
void copy(std::span<const std::type_identity_t<T>> from, sharded_array<T, Rank, Kind>& to,
          source_line line = source_line::here()) {
  if (from.size() != to.size()) detail::throw_other_count(from.size(), to.look(), line);
  const team& t = to.team();
  detail::for_each_waiting_copy(t, Kind, to.layout().axis(), to.size() / t.size() * sizeof(T), [&](std::size_t m) {
    const box<Rank> own = to.layout().own(m);
    if (own.empty()) return;
    const stream_ref on = default_stream(t.device(m));
    if (to.layout().axis() == 0) {
      const std::size_t row = to.size() / to.extent(0);
      return copy(on, from.subspan(static_cast<std::size_t>(own.begin[0]) * row, own.length(0) * row), to.shard(m),
                  line);
    }
    const detail::cpu_buffer<T> part(own.extents().count());
    detail::for_each_run(from.data(), to.extents(), own,
                         [&](const T* p, std::size_t at, std::size_t n) { std::copy_n(p, n, part.data() + at); });
    copy(on, std::span<const T>(part.span()), to.shard(m), line);
  });
  if (to.validity()) to.validity()->changed();
}

// To memory of the CPU: the elements of local members, at their places in the row-major order of the whole; those of other
// processes, for whom nobody waits, are left alone. Blocks until the array is written and copied. Throws invalid_argument
// when the counts differ.
template <class T, std::size_t Rank, memory_kind Kind>
void copy(const sharded_array<T, Rank, Kind>& from, std::span<std::type_identity_t<T>> to,
          source_line line = source_line::here()) {
  if (from.size() != to.size()) detail::throw_other_count(to.size(), from.look(), line);
  const team& t = from.team();
  detail::for_each_waiting_copy(t, Kind, from.layout().axis(), from.size() / t.size() * sizeof(T), [&](std::size_t m) {
    const box<Rank> own = from.layout().own(m);
    if (own.empty()) return;
    const stream_ref on = default_stream(t.device(m));
    if (from.layout().axis() == 0) {
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

// to_vector into memory that is there.
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
  const bool in_order = a.layout().axis() == 0;  // shards lie one behind the other
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

// All elements in row-major order. Blocks until the array is written and copied. For a team that spans processes all of
// them make this call, and each gets the elements of all, by messages of the CPU; gather() brings them to one alone.
// Throws process_error.
template <class T, std::size_t Rank, memory_kind Kind>
std::vector<T> to_vector(const sharded_array<T, Rank, Kind>& a, source_line line = source_line::here()) {
  return detail::written_vector<T>(a.size(), [&](std::span<T> all) { detail::copy_from_all_processes(a, all, line); });
}

// From an ordinary array or to one, wherever it lies. Ordered on the streams of the team; does not block, but as copy
// between ordinary arrays does. Throws invalid_argument when the shapes differ.
template <class T, class U, std::size_t Rank, memory_kind From, memory_kind Kind>
void copy(const array_view<U, Rank, From>& from, sharded_array<T, Rank, Kind>& to,
          source_line line = source_line::here()) {
  detail::need_same_shape(from.extents(), to.extents(), from, to, line);
  to.team().for_each([&](std::size_t m) {
    const box<Rank> own = to.layout().own(m);
    if (!own.empty()) copy(to.team().stream(m), detail::slice_box(from, own), to.shard(m), line);
  });
  if (to.validity()) to.validity()->changed();
}
template <class T, class U, std::size_t Rank, memory_kind Kind, memory_kind To>
void copy(const sharded_array<T, Rank, Kind>& from, array_view<U, Rank, To>& to,
          source_line line = source_line::here()) {
  detail::need_same_shape(from.extents(), to.extents(), from, to, line);
  from.team().for_each([&](std::size_t m) {
    const box<Rank> own = from.layout().own(m);
    if (!own.empty()) copy(from.team().stream(m), from.shard(m), detail::slice_box(to, own), line);
  });
}

// Every cell, those of the halos too. On the streams of the team; does not block.
template <class T, std::size_t Rank, memory_kind Kind>
void fill(sharded_array<T, Rank, Kind>& a, std::type_identity_t<T> value, source_line line = source_line::here()) {
  a.team().for_each([&](std::size_t m) {
    if (!a.layout().own(m).empty())
      fill(a.team().stream(m), detail::cells_for_call(a, m, a.layout().local(m)), value, line);
  });
  if (a.validity()) a.validity()->refreshed();
}

}  // namespace ferry
