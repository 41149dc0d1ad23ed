/// @file
/// Whole sharded arrays in the memory of one process, and back, for teams that span processes.
#pragma once
#include "ferry/multigpu/collective_group.hpp"
#include "ferry/multigpu/shard_copy.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// Returns all elements in row-major order, in the process of one member; an empty vector in the others. All processes
/// must call it. Blocks until everything has been copied. One shard at a time passes through the device memory of the
/// root.
/// @param a the array
/// @param root the member whose process receives the elements
/// @return the elements
template <class T, std::size_t Rank, memory_kind Kind>
std::vector<T> gather(const sharded_array<T, Rank, Kind>& a, std::size_t root = 0) {
  const team& t = a.team();
  using memory = std::conditional_t<std::is_same_v<T, bool>, detail::cpu_buffer<T>, std::vector<T>>;
  memory all(0);
  detail::together(t, "gather of a sharded array", [&] { all = memory(t.is_local(root) ? a.size() : 0); });
  if (t.is_local(root)) copy(a, std::span<T>(all.data(), all.size()), source_line{});
  for (std::size_t m = 0; m < t.size(); ++m) {
    const box<Rank> own = a.layout().own(m);
    if (own.empty() || t.is_local(m) == t.is_local(root)) continue;  // both are local, or neither is
    if (t.is_local(m)) {
      device_array<T, Rank> packed(own.extents(), t.device(m));
      copy(t.stream(m), a.shard(m), packed, source_line{});
      collective_group(t).send(packed, m, root).submit();
    } else {
      device_array<T, Rank> arrived(own.extents(), t.device(root));
      collective_group(t).receive(arrived, root, m).submit();
      const detail::cpu_buffer<T> part(own.extents().count());
      copy(arrived, part.span(), source_line{});
      detail::for_each_run(all.data(), a.extents(), own,
                           [&](T* p, std::size_t at, std::size_t n) { std::copy_n(part.data() + at, n, p); });
    }
  }
  if constexpr (std::is_same_v<T, bool>)
    return std::vector<T>(all.data(), all.data() + all.size());
  else
    return all;
}

/// Copies elements from the process of one member to a sharded array. Halos do not change. All processes must call it.
/// @param values the elements in row-major order; only the process of the root needs them
/// @param a the array
/// @param root the member whose process has the elements
/// @throws invalid_argument in the process of the root for a wrong number of elements; the others throw an error that
///   quotes it
template <class T, std::size_t Rank, memory_kind Kind>
void scatter(std::span<const std::type_identity_t<T>> values, sharded_array<T, Rank, Kind>& a, std::size_t root = 0) {
  const team& t = a.team();
  detail::together(t, "scatter of a sharded array", [&] {
    if (t.is_local(root) && values.size() != a.size()) detail::throw_other_count(values.size(), a.look(), {});
  });
  if (t.is_local(root)) copy(values, a, source_line{});
  for (std::size_t m = 0; m < t.size(); ++m) {
    const box<Rank> own = a.layout().own(m);
    if (own.empty() || t.is_local(m) == t.is_local(root)) continue;
    if (t.is_local(m)) {
      device_array<T, Rank> arrived(own.extents(), t.device(m));
      collective_group(t).receive(arrived, m, root).submit();
      copy(t.stream(m), std::as_const(arrived), detail::cells_for_call(a, m), source_line{});
    } else {
      const detail::cpu_buffer<T> part(own.extents().count());
      detail::for_each_run(values.data(), a.extents(), own,
                           [&](const T* p, std::size_t at, std::size_t n) { std::copy_n(p, n, part.data() + at); });
      const auto packed = device_array<T, Rank>::from(std::span<const T>(part.span()), own.extents(), t.device(root));
      collective_group(t).send(packed, root, m).submit();
    }
  }
  a.note_changed();
}

/// @}

}  // namespace ferry::inline FERRY_ABI
