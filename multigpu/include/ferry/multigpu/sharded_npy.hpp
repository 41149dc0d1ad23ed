// NumPy's .npy files to sharded arrays and back. Opt-in, as ferry/core/npy.hpp is.
#pragma once
#include "ferry/core/npy.hpp"
#include "ferry/multigpu/shard_copy.hpp"

namespace ferry {

// Reads a file of elements T and Rank dimensions onto a team, cut as the options say; halos are undefined. Blocks for the
// disk; the elements pass through memory of the CPU. In a team that spans processes each reads the file. Throws as
// load_npy for one device does, and what making the array throws.
template <class T, std::size_t Rank, memory_kind Kind = memory_kind::device>
sharded_array<T, Rank, Kind> load_npy(const std::string& path, const team& t, const shard_options& o) {
  const auto all = load_npy<T, Rank, memory_kind::host>(path, t.device(t.first_local()));
  sharded_array<T, Rank, Kind> a(t, all.extents(), o);
  copy(std::span<const T>(all.cbegin(), all.size()), a);
  return a;
}

// Writes all elements, without halos; the same bytes as save_npy of an ordinary array. Arrays cut along axis 0 pass through
// memory of the CPU shard by shard, others as a whole. Waits for the work that writes the array, and blocks until the
// file is on the disk. Throws as save_npy does; not_supported for a team that spans processes (gather() first).
template <class T, std::size_t Rank, memory_kind Kind>
void save_npy(const std::string& path, const sharded_array<T, Rank, Kind>& a) {
  const team& t = a.team();
  if (t.local_size() < t.size())
    throw not_supported("save_npy(\"" + path + "\"): the array is spread over several processes: gather() it in one");
  if (a.layout().axis() != 0) return save_npy(path, to_vector(a), a.extents());
  detail::npy_writer file(path, detail::npy_type_of<T>(), detail::shape_list(a.extents()), storage_order::row_major);
  for (std::size_t m = 0; m < t.size(); ++m) {
    const std::vector<T> part = to_vector(a.shard(m));
    file.write(part.data(), part.size() * sizeof(T));
  }
  file.commit();
}

}  // namespace ferry
