// Whole sharded arrays from and to memory of the CPU and ordinary arrays.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/copy.hpp"
#include "ferry/multigpu/sharded_array.hpp"

namespace ferry {

namespace detail {

// Box b of a row-major array, as a strided view's slices.
template <class View, std::size_t Rank>
auto slice_box(View& whole, const box<Rank>& b) {
  return [&]<std::size_t... D>(std::index_sequence<D...>) {
    return whole.slice({ferry::slice{static_cast<std::size_t>(b.begin[D]), static_cast<std::size_t>(b.end[D])}...});
  }
  (std::make_index_sequence<Rank>());
}

// Calls f(address in a row-major array, address in the box alone, bytes) for each contiguous run of a box.
template <class T, std::size_t Rank, class F>
void for_each_run(T* whole, const extents<Rank>& e, const box<Rank>& b, F f) {
  const auto s = row_major(e);
  std::array<std::ptrdiff_t, Rank> at = b.begin;
  std::size_t done = 0;
  const std::size_t run = b.length(Rank - 1);
  while (done < b.extents().count()) {
    std::ptrdiff_t offset = 0;
    for (std::size_t d = 0; d != Rank; ++d) offset += at[d] * s[d];
    f(whole + offset, done, run);
    done += run;
    for (std::size_t d = Rank - 1; d-- > 0;) {
      if (++at[d] < b.end[d]) break;
      at[d] = b.begin[d];
    }
  }
}

[[noreturn]] void throw_other_count(std::size_t given, const std::string& shape);

}  // namespace detail

// The elements in row-major order, from memory of the CPU; halos are left alone. Blocks until that memory was read.
// Throws invalid_argument when the counts differ.
template <class T, std::size_t Rank, memory_kind Kind>
void copy(std::span<const std::type_identity_t<T>> from, sharded_array<T, Rank, Kind>& to) {
  if (from.size() != to.size()) detail::throw_other_count(from.size(), to.extents().text());
  for (std::size_t i = 0; i < to.team().local_size(); ++i) {
    const std::size_t m = to.team().first_local() + i;
    const box<Rank> own = to.layout().own(m);
    if (own.empty()) continue;
    if (to.layout().axis() == 0) {
      const std::size_t row = to.size() / to.extent(0);
      copy(from.subspan(static_cast<std::size_t>(own.begin[0]) * row, own.length(0) * row), to.shard(m));
      continue;
    }
    std::vector<T> part(own.extents().count());
    detail::for_each_run(from.data(), to.extents(), own,
                         [&](const T* p, std::size_t at, std::size_t n) { std::copy_n(p, n, part.data() + at); });
    copy(std::span<const T>(part), to.shard(m));
  }
}

// To memory of the CPU: the elements of local members, at their places in the row-major order of the whole; the others are
// left alone. Blocks until the array is written and copied. Throws invalid_argument when the counts differ.
template <class T, std::size_t Rank, memory_kind Kind>
void copy(const sharded_array<T, Rank, Kind>& from, std::span<std::type_identity_t<T>> to) {
  if (from.size() != to.size()) detail::throw_other_count(to.size(), from.extents().text());
  for (std::size_t i = 0; i < from.team().local_size(); ++i) {
    const std::size_t m = from.team().first_local() + i;
    const box<Rank> own = from.layout().own(m);
    if (own.empty()) continue;
    if (from.layout().axis() == 0) {
      const std::size_t row = from.size() / from.extent(0);
      copy(from.shard(m), to.subspan(static_cast<std::size_t>(own.begin[0]) * row, own.length(0) * row));
      continue;
    }
    const std::vector<T> part = to_vector(from.shard(m));
    detail::for_each_run(to.data(), from.extents(), own,
                         [&](T* p, std::size_t at, std::size_t n) { std::copy_n(part.data() + at, n, p); });
  }
}

// The elements in row-major order; those of other processes are T(). Blocks until the array is written and copied.
template <class T, std::size_t Rank, memory_kind Kind>
std::vector<T> to_vector(const sharded_array<T, Rank, Kind>& a) {
  std::vector<T> v(a.size());
  copy(a, std::span<T>(v));
  return v;
}

// From an ordinary array or to one, wherever it lies. Ordered on the streams of the team; does not block, but as copy
// between ordinary arrays does. Throws invalid_argument when the shapes differ.
template <class T, class U, std::size_t Rank, memory_kind From, memory_kind Kind>
void copy(const array_view<U, Rank, From>& from, sharded_array<T, Rank, Kind>& to) {
  detail::need_same_shape(from.extents(), to.extents());
  to.team().for_each([&](std::size_t m) {
    const box<Rank> own = to.layout().own(m);
    if (!own.empty()) copy(to.team().stream(m), detail::slice_box(from, own), to.shard(m));
  });
}
template <class T, class U, std::size_t Rank, memory_kind Kind, memory_kind To>
void copy(const sharded_array<T, Rank, Kind>& from, array_view<U, Rank, To>& to) {
  detail::need_same_shape(from.extents(), to.extents());
  from.team().for_each([&](std::size_t m) {
    const box<Rank> own = from.layout().own(m);
    if (!own.empty()) copy(from.team().stream(m), from.shard(m), detail::slice_box(to, own));
  });
}

// Every cell, those of the halos too. On the streams of the team; does not block.
template <class T, std::size_t Rank, memory_kind Kind>
void fill(sharded_array<T, Rank, Kind>& a, std::type_identity_t<T> value) {
  a.team().for_each([&](std::size_t m) {
    if (!a.layout().own(m).empty()) fill(a.team().stream(m), a.shard_with_halo(m), value);
  });
}

}  // namespace ferry
