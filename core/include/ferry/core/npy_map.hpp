/// @file
/// A .npy file as memory: accesses load its pages from the disk.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "ferry/core/detail/npy/npy_file.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/extents.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup files
/// @{

namespace detail {

// The pages of a file, read-only.
class mapped_file {
 public:
  // Throws as the constructor of npy_map.
  mapped_file(const std::string& path, npy_type wanted, std::size_t rank, std::size_t alignment);
  mapped_file(mapped_file&& o) noexcept;
  mapped_file& operator=(mapped_file&&) = delete;
  ~mapped_file();
  const npy_info& info() const { return info_; }
  // This and the following functions throw invalid_argument for a moved-from file.
  const std::byte* elements() const {
    if (!pages_) throw_moved_from("the mapped file");
    return pages_ + info_.data_offset;
  }
  // Throws error if the file is now shorter than its elements: accessing them would terminate the program.
  void need_whole() const;
  // Copies the bytes [first, first + bytes) of the elements by reads from the file, not through its mapped pages. A
  // file that shrinks meanwhile does not terminate the program. Throws as need_whole(), and error with the system's
  // reason.
  void read(std::size_t first, std::byte* to, std::size_t bytes) const;

 private:
  [[noreturn]] void fail_shorter(std::size_t bytes_now) const;
  std::string path_;
  npy_info info_;
  int fd_;
  std::byte* pages_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace detail

/// Maps the elements of a row-major .npy file in native byte order. Accesses load the pages. Use it for files larger
/// than memory, and as a source of ferry::batches.
/// @note If the file has shrunk, an access to elements() raises SIGBUS; need_whole() detects this before. read(), which
///   batches use, throws instead, whenever the file shrinks.
template <class T, std::size_t Rank>
class npy_map {
 public:
  /// @throws error with the system's reason if the file cannot be mapped
  /// @throws invalid_argument if the file has another type or rank
  /// @throws parse_error for a malformed file, missing data, swapped bytes, and Fortran order of two or more dimensions
  ///   (load_npy converts the last two)
  explicit npy_map(const std::string& path) : file_(path, detail::npy_type_of<T>(), Rank, alignof(T)) {
    for (std::size_t d = 0; d < Rank; ++d) extents_[d] = file_.info().shape[d];
  }
  /// Shape, in elements.
  const ferry::extents<Rank>& extents() const { return extents_; }
  /// Number of elements.
  std::size_t size() const { return extents_.count(); }
  /// The mapped elements. An access loads their pages, which may block for the disk.
  std::span<const T> elements() const { return {reinterpret_cast<const T*>(file_.elements()), size()}; }
  /// @throws error naming the file, if it was truncated after it was mapped
  void need_whole() const { file_.need_whole(); }
  /// Copies elements from the file. Blocks for the disk.
  /// @param first number of the first element
  /// @param to receives as many elements as it has
  /// @throws error naming the file, if it was truncated after it was mapped or during the read, and for system errors
  /// @throws invalid_argument if the range ends beyond the last element
  void read(std::size_t first, std::span<T> to) const {
    if (first > size() || to.size() > size() - first)
      throw invalid_argument(detail::concat("npy_map: elements ", first, " to ", first + to.size(), " of ", size()));
    file_.read(first * sizeof(T), reinterpret_cast<std::byte*>(to.data()), to.size_bytes());
  }

 private:
  detail::mapped_file file_;
  ferry::extents<Rank> extents_;
};

/// Maps a file; see npy_map.
template <class T, std::size_t Rank>
npy_map<T, Rank> map_npy(const std::string& path) {
  return npy_map<T, Rank>(path);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
