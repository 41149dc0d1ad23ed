// .npy files without arrays: headers, types, bytes. Format: numpy.lib.format and NEP 1, versions 1.0 to 3.0.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/number_type.hpp"
#include "ferry/core/npy_info.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The kind is NumPy's letter: b bool, i signed, u unsigned, f floating, c complex.
struct npy_type {
  char kind = 'f';
  std::size_t bytes = 0;
  bool operator==(const npy_type&) const = default;
};

template <class T>
constexpr npy_type npy_type_of() {
  static_assert(npy_element<T>,
                ".npy files hold bool, integers of 8 to 64 bits, float, double and std::complex of those");
  if constexpr (std::same_as<T, bool>) return {'b', 1};
  if constexpr (std::integral<T>) return {std::is_signed_v<T> ? 'i' : 'u', sizeof(T)};
  return {std::is_floating_point_v<T> ? 'f' : 'c', sizeof(T)};
}

// The system's text for a value of errno.
std::string errno_text(int code);

class file_descriptor {
 public:
  explicit file_descriptor(int fd) : fd_(fd) {}
  ~file_descriptor() { close(); }
  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;
  int get() const { return fd_; }
  int close() noexcept;  // 0, or errno; only the first call closes

 private:
  int fd_;
};

// Reads a file from front to back: the header in the constructor, then elements, in native byte order.
class npy_reader {
 public:
  explicit npy_reader(const std::string& path);
  const npy_info& info() const { return info_; }
  // Throws invalid_argument unless the file has this type and rank; parse_error if data are missing.
  void check(npy_type wanted, std::size_t rank) const;
  // Reads the next `bytes` of elements.
  void read(std::byte* to, std::size_t bytes);
  // Moves to this byte of the elements.
  void seek(std::size_t byte);
  // Reads all elements; the file's order is row-major in `shape`.
  void read_strided(const strided_bytes& to, const strided_shape& shape);

 private:
  std::size_t read_some(void* to, std::size_t bytes);
  void read_header();
  std::string path_;
  file_descriptor file_;
  std::size_t file_bytes_ = 0, at_ = 0;
  npy_info info_;
  npy_type type_;
  bool swapped_ = false;
};

// Name of a file to remove at the end of the scope. An empty name removes nothing.
struct temporary_name {
  std::string name;
  ~temporary_name();
};

// Writes a file beside the one that it replaces. Without commit() it leaves no file behind.
class npy_writer {
 public:
  npy_writer(const std::string& path, npy_type type, std::vector<std::size_t> shape, storage_order order);
  void write(const void* from, std::size_t bytes);
  // Writes all elements, row-major in `shape`.
  void write_strided(const strided_bytes& from, const strided_shape& shape);
  // Path of the file that will replace the old one, and the offset of its elements while none are written. For writers
  // in other processes.
  const std::string& draft() const { return temporary_.name; }
  std::size_t written() const { return written_; }
  void commit();

 private:
  [[noreturn]] void fail(int code) const;
  std::string path_, target_;
  temporary_name temporary_;
  file_descriptor file_;
  std::size_t written_ = 0;
};

// A part of a file that several processes write, each its own part.
class npy_part_writer {
 public:
  // `draft` is the path from a writer; `path` is its final path, for messages.
  npy_part_writer(const std::string& draft, std::string path);
  void write(std::size_t at, const void* from, std::size_t bytes);
  // Blocks until the bytes are on the disk.
  void finish();

 private:
  [[noreturn]] void fail(int code) const;
  std::string path_;
  file_descriptor file_;
};

}  // namespace ferry::inline FERRY_ABI::detail
