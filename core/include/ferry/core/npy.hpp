/// @file
/// Reading and writing NumPy's .npy files.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/npy/npy_file.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup files
/// @{

namespace detail {

inline constexpr std::size_t npy_stage_bytes = std::size_t{64} << 20;

template <std::size_t Rank>
extents<Rank> reversed(const extents<Rank>& e) {
  extents<Rank> r;
  for (std::size_t d = 0; d != Rank; ++d) r[d] = e[Rank - 1 - d];
  return r;
}

// Reads consecutive elements of the file into all of a.
template <class T, std::size_t Rank, memory_kind Kind>
void read_npy_elements(npy_reader& file, array_view<T, Rank, Kind>& a) {
  if (a.empty()) return;
  if constexpr (is_host_accessible(Kind)) {
    file.read(reinterpret_cast<std::byte*>(a.begin(source_line{})), a.size_bytes());
  } else {
    const std::size_t step = std::min(a.size(), npy_stage_bytes / sizeof(T));
    const auto stage = std::make_unique_for_overwrite<T[]>(step);
    auto flat = a.reshape(extents<1>{a.size()});
    for (std::size_t from = 0; from < a.size(); from += step) {
      const std::size_t count = std::min(step, a.size() - from);
      file.read(reinterpret_cast<std::byte*>(stage.get()), count * sizeof(T));
      copy(std::span<const T>(stage.get(), count), flat.slice(slice{from, from + count}), source_line{});
    }
  }
}

// Writes the elements of v in row-major order.
template <class T, std::size_t Rank, memory_kind Kind>
void write_npy_elements(npy_writer& file, const array_view<const T, Rank, Kind>& v) {
  if (v.empty()) return;
  if constexpr (is_host_accessible(Kind)) {
    v.wait_for_host(false, source_line{});
    const copy_side from = side_of(v);
    if (v.is_contiguous()) return file.write(from.data, v.size_bytes());
    file.write_strided(strided_bytes{from.data, from.stride_bytes}, shape_of<T>(v.extents()));
  } else if constexpr (Rank == 0) {
    write_npy_elements(file, v.reshape(extents<1>{1}));
  } else {
    if constexpr (Rank > 1)
      if (v.is_contiguous()) return write_npy_elements(file, v.reshape(extents<1>{v.size()}));
    const std::size_t rows = v.extent(0), row = v.size() / rows;
    const std::size_t step = std::min(rows, std::max(npy_stage_bytes / sizeof(T) / row, std::size_t{1}));
    const auto stage = std::make_unique_for_overwrite<T[]>(step * row);
    for (std::size_t from = 0; from < rows; from += step) {
      const std::size_t count = std::min(step, rows - from);
      copy(v.slice(slice{from, from + count}), std::span<T>(stage.get(), count * row), source_line{});
      file.write(stage.get(), count * row * sizeof(T));
    }
  }
}

template <std::size_t Rank>
std::vector<std::size_t> shape_list(const extents<Rank>& e) {
  std::vector<std::size_t> shape(Rank);
  for (std::size_t d = 0; d != Rank; ++d) shape[d] = e[d];
  return shape;
}

}  // namespace detail

/// Reads a .npy file into a row-major array, whatever the order of the file.
///
/// Converts other byte orders; bytes of a bool other than 0 count as true. Ignores bytes after the data, as NumPy does.
/// Blocks for the disk. Unified and host arrays are read in place, device arrays through at most 64 MiB of host memory.
/// For Fortran order, it also needs a second array of the device, ordered on the device's stream of this thread.
/// @tparam T element type of the file
/// @tparam Rank number of dimensions of the file
/// @tparam Kind kind of memory of the array
/// @param path file to read
/// @param d device of the array
/// @throws error with the system's reason if the file cannot be read
/// @throws parse_error naming the byte, for malformed or short contents and unsupported dtypes
/// @throws invalid_argument if the file has another type or rank
/// @throws out_of_memory if the array or its buffers cannot be allocated
template <class T, std::size_t Rank, memory_kind Kind = default_memory_kind<T>>
basic_array<T, Rank, Kind> load_npy(const std::string& path, device d = default_device()) {
  detail::npy_reader file(path);
  file.check(detail::npy_type_of<T>(), Rank);
  extents<Rank> e;
  for (std::size_t k = 0; k < Rank; ++k) e[k] = file.info().shape[k];
  basic_array<T, Rank, Kind> a(e, d);
  if (!file.info().fortran_order || Rank < 2 || a.empty()) {
    detail::read_npy_elements(file, a);
  } else if constexpr (is_host_accessible(Kind)) {
    a.wait_for_host(true, source_line{});
    const detail::copy_side to = detail::side_of(a.transpose());
    file.read_strided(detail::strided_bytes{to.data, to.stride_bytes}, detail::shape_of<T>(detail::reversed(e)));
  } else {
    basic_array<T, Rank, Kind> raw(detail::reversed(e), d);
    detail::read_npy_elements(file, raw);
    copy(raw.transpose(), a, source_line{});
  }
  return a;
}

/// Writes an array or view as a .npy file, in native byte order and with the same bytes as numpy.save.
///
/// Blocks until the work that writes the array is complete and the file is on the disk. Device arrays pass through host
/// memory, and strided ones through scratch memory of the device. An existing file is replaced at the end by a rename,
/// and does not change on errors.
/// @param path file to write
/// @param a array or view, strided or not
/// @param order row-major or Fortran order
/// @param at source line of the caller, for messages
/// @throws error with the system's reason (no such directory, no permission, disk full, not a regular file)
/// @throws out_of_memory if buffers cannot be allocated
template <class T, std::size_t Rank, memory_kind Kind>
void save_npy(const std::string& path, const array_view<T, Rank, Kind>& a,
              storage_order order = storage_order::row_major, source_line at = source_line::here()) {
  using value = std::remove_const_t<T>;
  if (a.owner())
    (void)a.need_alive(at);  ///< a freed array throws before a file is created
  else if (!a.empty())
    throw invalid_argument("save_npy(\"" + path +
                           "\"): the array was moved from or default-constructed, and has no elements");
  const array_view<const value, Rank, Kind> v(a.owner(), a.unsynchronized_data(), a.extents(), a.strides());
  detail::npy_writer file(path, detail::npy_type_of<value>(), detail::shape_list(a.extents()), order);
  detail::write_npy_elements(file, order == storage_order::row_major ? v : v.transpose());
  file.commit();
}

/// Writes elements in host memory, in row-major order (std::span, std::vector, std::array). Uses no device.
/// @throws invalid_argument if the number of elements differs from the shape
/// @throws error as the overload for arrays
template <std::ranges::contiguous_range Elements, std::size_t Rank>
void save_npy(const std::string& path, const Elements& elements, const extents<Rank>& e,
              storage_order order = storage_order::row_major) {
  using value = std::ranges::range_value_t<Elements>;
  const std::span<const value> all(std::ranges::data(elements), std::ranges::size(elements));
  if (all.size() != e.count())
    throw invalid_argument(
        detail::concat("save_npy(\"", path, "\"): ", all.size(), " elements for the shape ", e.text()));
  detail::npy_writer file(path, detail::npy_type_of<value>(), detail::shape_list(e), order);
  const std::size_t bytes = all.size_bytes();
  if (order == storage_order::row_major || bytes == 0) {
    file.write(all.data(), bytes);
  } else {
    const detail::copy_side side = detail::pageable_side(all.data(), e);
    detail::strided_bytes from{side.data, side.stride_bytes};
    std::reverse(from.stride_bytes.begin(), from.stride_bytes.begin() + Rank);
    file.write_strided(from, detail::shape_of<value>(detail::reversed(e)));
  }
  file.commit();
}

/// @}

}  // namespace ferry::inline FERRY_ABI
