// NumPy's .npy files to sharded arrays and back. Opt-in, as ferry/core/npy.hpp is.
#pragma once
#include <optional>

#include "ferry/core/npy.hpp"
#include "ferry/multigpu/across_processes.hpp"
#include "ferry/multigpu/shard_copy.hpp"

namespace ferry {

namespace detail {

template <std::size_t Rank>
box<Rank> reversed(const box<Rank>& b) {
  box<Rank> r;
  for (std::size_t d = 0; d != Rank; ++d) r.begin[d] = b.begin[Rank - 1 - d], r.end[d] = b.end[Rank - 1 - d];
  return r;
}

// The cells of a box out of a file whose order is row-major in e.
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
      copy(t.stream(m), cells, a.shard(m), source_line{});
    } else {
      const auto cells = read_npy_box<T>(file, reversed(a.extents()), reversed(own), t.device(m));
      copy(t.stream(m), cells.transpose(), a.shard(m), source_line{});
    }
  }
}

// Where process of member 0 writes its draft, in all processes.
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

// Reads a file of elements T and Rank dimensions onto a team, cut as the options say; halos are undefined. Blocks for the
// disk; shards pass through pinned memory, one after the other, Fortran order through scratch memory of the devices, too.
// In a team that spans processes all of them make this call, each reads its own part of the one file, and what fails in
// one of them makes all throw. Throws as load_npy for one device does, and what making the array throws; invalid_argument
// when processes of several machines find files of different shapes; process_error.
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
    a = sharded_array<T, Rank, Kind>(t, e, o);  // whose halos are out of date
    detail::read_npy_shards(*file, a);
  });
  return a;
}

// Writes all elements, without halos; the same bytes as save_npy of an ordinary array. Arrays cut along axis 0 pass through
// memory of the CPU shard by shard, others as a whole. Waits for the work that writes the array, and blocks until the
// file is on the disk. In a team that spans processes all of them make this call, and each writes its own part of the one
// file, shard by shard; what fails in one of them makes all throw, and the file stays as it was. Throws as save_npy does;
// process_error.
template <class T, std::size_t Rank, memory_kind Kind>
void save_npy(const std::string& path, const sharded_array<T, Rank, Kind>& a) {
  const team& t = a.team();
  if (detail::spans_processes(t)) return detail::save_npy_together(path, a);
  if (a.layout().axis() != 0) {
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

}  // namespace ferry
