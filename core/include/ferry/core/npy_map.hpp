// A .npy file as memory: pages come from the disk when they are touched.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "ferry/core/detail/npy/npy_file.hpp"
#include "ferry/core/extents.hpp"

namespace ferry {

namespace detail {

// The pages of a file, read only.
class mapped_file {
 public:
  // As npy_map.
  mapped_file(const std::string& path, npy_type wanted, std::size_t rank, std::size_t alignment);
  mapped_file(mapped_file&& o) noexcept;
  mapped_file& operator=(mapped_file&&) = delete;
  ~mapped_file();
  const npy_info& info() const { return info_; }
  // Throws invalid_argument for a file that was moved from, as what follows.
  const std::byte* elements() const {
    if (!pages_) throw_moved_from("the mapped file");
    return pages_ + info_.data_offset;
  }
  // Throws error when the file has become shorter than its elements: touching them would end the program.
  void need_whole() const;
  // Copies the bytes [first, first + bytes) of the elements from the file, not through its pages: a file that shrinks
  // meanwhile ends nothing. Throws as need_whole, and error with the system's reason.
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

// Elements of a row-major .npy file in native byte order, read when they are touched: for files larger than memory, and as
// a source of ferry::batches. Who touches elements() of a file that has shrunk gets a SIGBUS: need_whole() tells before.
// read(), which batches use, throws instead, whenever the file shrinks.
template <class T, std::size_t Rank>
class npy_map {
 public:
  // Throws error with the system's reason; invalid_argument when the file holds another type or rank; parse_error for a
  // malformed file, missing data, swapped bytes, and Fortran order of two and more dimensions (load_npy converts those).
  explicit npy_map(const std::string& path) : file_(path, detail::npy_type_of<T>(), Rank, alignof(T)) {
    for (std::size_t d = 0; d < Rank; ++d) extents_[d] = file_.info().shape[d];
  }
  const ferry::extents<Rank>& extents() const { return extents_; }
  std::size_t size() const { return extents_.count(); }
  std::span<const T> elements() const { return {reinterpret_cast<const T*>(file_.elements()), size()}; }
  // Throws error, naming the file, when it was cut off since it was mapped.
  void need_whole() const { file_.need_whole(); }
  // Copies the elements from number `first` on, as many as `to` has, from the file. Blocks for the disk. Throws error,
  // naming the file, when it was cut off since it was mapped, also while it is read, and for what the system reports;
  // invalid_argument beyond the last element.
  void read(std::size_t first, std::span<T> to) const {
    if (first > size() || to.size() > size() - first)
      throw invalid_argument("npy_map: elements " + std::to_string(first) + " to " + std::to_string(first + to.size()) +
                             " of " + std::to_string(size()));
    file_.read(first * sizeof(T), reinterpret_cast<std::byte*>(to.data()), to.size_bytes());
  }

 private:
  detail::mapped_file file_;
  ferry::extents<Rank> extents_;
};

// Maps a file; see npy_map.
template <class T, std::size_t Rank>
npy_map<T, Rank> map_npy(const std::string& path) {
  return npy_map<T, Rank>(path);
}

}  // namespace ferry
