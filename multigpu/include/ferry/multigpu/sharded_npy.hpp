/// @file
/// Sharded arrays from and to NumPy's .npy files. Optional, as ferry/core/npy.hpp is.
#pragma once
#include <optional>

#include "ferry/core/npy.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"
#include "ferry/multigpu/shard_copy.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup files
/// @{

namespace detail {

template <std::size_t Rank>
box<Rank> reversed(const box<Rank>& b) {
  box<Rank> r;
  for (std::size_t d = 0; d != Rank; ++d) r.begin[d] = b.begin[Rank - 1 - d], r.end[d] = b.end[Rank - 1 - d];
  return r;
}

// Reads the cells of a box from a file in row-major order of shape e.
template <class T, std::size_t Rank>
host_array<T, Rank> read_npy_box(npy_reader& file, const extents<Rank>& e, const box<Rank>& b, device near) {
  host_array<T, Rank> cells(b.extents(), near);
  auto* const to = reinterpret_cast<std::byte*>(cells.begin(source_line{}));
  for_each_run(e, b, [&](std::size_t from, std::size_t at, std::size_t n) {
    file.seek(from * sizeof(T));
    file.read(to + at * sizeof(T), n * sizeof(T));
  });
  return cells;
}

template <class T, std::size_t Rank, memory_kind Kind>
void read_npy_shards(npy_reader& file, sharded_array<T, Rank, Kind>& a) {
  const team& t = a.team();
  for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m) {
    const box<Rank> own = a.layout().own(m);
    if (own.empty()) continue;
    if (!file.info().fortran_order) {
      const auto cells = read_npy_box<T>(file, a.extents(), own, t.device(m));
      copy(t.stream(m), cells, cells_for_call(a, m), source_line{});
    } else {
      const auto cells = read_npy_box<T>(file, reversed(a.extents()), reversed(own), t.device(m));
      copy(t.stream(m), cells.transpose(), cells_for_call(a, m), source_line{});
    }
  }
}

// Returns, in all processes, the path at which the process of member 0 writes its draft.
std::string draft_for_all(const team& t, const npy_writer* mine, std::size_t& elements_at, const std::string& what);

template <class T, std::size_t Rank, memory_kind Kind>
void save_npy_together(const std::string& path, const sharded_array<T, Rank, Kind>& a) {
  const team& t = a.team();
  const std::string what = "save_npy(\"" + path + "\")";
  std::optional<npy_writer> file;
  together(t, what, [&] {
    if (t.is_local(0)) file.emplace(path, npy_type_of<T>(), shape_list(a.extents()), storage_order::row_major);
  });
  std::size_t elements_at = 0;
  const std::string draft = draft_for_all(t, file ? &*file : nullptr, elements_at, what);
  together(t, what, [&] {
    npy_part_writer part(draft, path);
    for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m) {
      const box<Rank> own = a.layout().own(m);
      if (own.empty()) continue;
      const cpu_buffer<T> cells(own.extents().count());
      copy(a.shard(m), cells.span(), source_line{});
      for_each_run(a.extents(), own, [&](std::size_t to, std::size_t at, std::size_t n) {
        part.write(elements_at + to * sizeof(T), cells.data() + at, n * sizeof(T));
      });
    }
    part.finish();
  });
  together(t, what, [&] {
    if (file) file->commit();
  });
}

}  // namespace detail

/// Reads a file into a new sharded array, with undefined halos. Blocks until the file has been read. Shards pass
/// through pinned memory, one after the other; Fortran order also needs scratch memory of the devices. In a team that
/// spans processes, all of them must call it, and each reads its own part of the one file. An error in one process
/// makes all throw.
/// @tparam T element type
/// @tparam Rank number of dimensions
/// @tparam Kind memory kind
/// @param path the file
/// @param t the team
/// @param o the distribution
/// @return the array
/// @throws invalid_argument if processes of several machines find files of different shapes
/// @throws process_error if another process fails
/// @throws error as load_npy for one device and the array's constructor do
template <class T, std::size_t Rank, memory_kind Kind = memory_kind::device>
sharded_array<T, Rank, Kind> load_npy(const std::string& path, const team& t, const shard_options& o) {
  const std::string what = "load_npy(\"" + path + "\")";
  std::optional<detail::npy_reader> file;
  extents<Rank> e;
  detail::together(t, what, [&] {
    file.emplace(path);
    file->check(detail::npy_type_of<T>(), Rank);
    for (std::size_t k = 0; k < Rank; ++k) e[k] = file->info().shape[k];
  });
  detail::for_each_process(t, e, what.c_str(), [&](const extents<Rank>& theirs) {
    if (!(theirs == e))
      throw invalid_argument(what + ": the file has shape " + e.text() + " here and " + theirs.text() +
                             " in another process: all must read the same file");
  });
  sharded_array<T, Rank, Kind> a;
  detail::together(t, what, [&] {
    a = sharded_array<T, Rank, Kind>(t, e, o);  // its halos are out of date
    detail::read_npy_shards(*file, a);
  });
  return a;
}

/// Writes all elements, without halos, to a file: the same bytes as save_npy of an ordinary array. Arrays cut along
/// axis 0 alone pass through memory of the CPU shard by shard, others as a whole. Waits for the work that writes the
/// array, and blocks until the file is on the disk. In a team that spans processes, all of them must call it, and each
/// writes its own part of the one file, shard by shard. An error in one process makes all throw, and the file does not
/// change.
/// @param path the file
/// @param a the array
/// @throws process_error if another process fails
/// @throws error as save_npy of an ordinary array does
template <class T, std::size_t Rank, memory_kind Kind>
void save_npy(const std::string& path, const sharded_array<T, Rank, Kind>& a) {
  const team& t = a.team();
  if (detail::spans_processes(t)) return detail::save_npy_together(path, a);
  if (!a.layout().is_in_order()) {
    const detail::cpu_buffer<T> all(a.size());
    copy(a, all.span(), source_line{});
    return save_npy(path, all.span(), a.extents());
  }
  detail::npy_writer file(path, detail::npy_type_of<T>(), detail::shape_list(a.extents()), storage_order::row_major);
  for (std::size_t m = 0; m < t.size(); ++m) {
    const detail::cpu_buffer<T> part(a.shard(m).size());
    copy(a.shard(m), part.span(), source_line{});
    file.write(part.data(), part.size() * sizeof(T));
  }
  file.commit();
}

/// @}

}  // namespace ferry::inline FERRY_ABI
