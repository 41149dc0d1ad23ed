#include "ferry/core/npy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <complex>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "ferry/core/detail/support/concat.hpp"
#include "npy/npy_header.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace detail {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

[[noreturn]] void fail_on(const char* verb, const std::string& path, const std::string& why) {
  throw error(concat("cannot ", verb, " \"", path, "\": ", why));
}

// Does not wait for the writer of a fifo; fifos are refused later.
int open_to_read(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail_on("read", path, errno_text(errno));
  return fd;
}

// Returns the file to write: the target of a symbolic link. Throws unless it does not exist or is a writable regular
// file.
std::string writable_target(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  const std::string target = real ? real.get() : path;
  struct stat is {};
  if (::stat(target.c_str(), &is) != 0) return target;
  if (!S_ISREG(is.st_mode))
    fail_on("write", path, S_ISDIR(is.st_mode) ? errno_text(EISDIR) : "it is not a regular file");
  if (::access(target.c_str(), W_OK) != 0) fail_on("write", path, errno_text(errno));
  return target;
}

// Creates a file in the folder of `target`, and stores its name in `name`. It has the permissions of the file that it
// will replace.
int create_beside(const std::string& path, const std::string& target, std::string& name) {
  const std::size_t slash = target.rfind('/');
  const std::string folder = slash == target.npos ? "" : target.substr(0, slash + 1);
  for (unsigned n = 0;; ++n) {
    name = concat(folder, ".ferry-", ::getpid(), "-", n, ".npy.tmp");
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
      const int code = errno;
      name.clear();  // another process owns that file: do not remove it
      if (code == EEXIST) continue;
      fail_on("write", path, errno_text(code) + " (when making a temporary file beside it)");
    }
    struct stat is {};
    if (::stat(target.c_str(), &is) == 0) static_cast<void>(::fchmod(fd, is.st_mode & 07777));
    return fd;
  }
}

// Gathers the bytes of strided elements into a buffer, or scatters them from one; the last dimension is fastest.
class strided_walk {
 public:
  strided_walk(const strided_bytes& where, const strided_shape& shape) : where_(where), shape_(shape), left_(1) {
    for (std::size_t d = 0; d < shape.rank; ++d) left_ *= shape.extent[d];
  }
  // Number of elements of the next chunk.
  std::size_t next_count() const { return std::min(left_, chunk_bytes / shape_.element_bytes); }
  void gather(std::byte* to, std::size_t count) {
    for (left_ -= count; count-- > 0; to += shape_.element_bytes) std::memcpy(to, next(), shape_.element_bytes);
  }
  void scatter(const std::byte* from, std::size_t count) {
    for (left_ -= count; count-- > 0; from += shape_.element_bytes) std::memcpy(next(), from, shape_.element_bytes);
  }

 private:
  std::byte* next() {
    std::byte* const here = where_.base + offset_;
    for (std::size_t d = shape_.rank; d-- > 0;) {
      offset_ += where_.stride_bytes[d];
      if (++index_[d] < shape_.extent[d]) break;
      offset_ -= where_.stride_bytes[d] * static_cast<std::ptrdiff_t>(shape_.extent[d]);
      index_[d] = 0;
    }
    return here;
  }
  const strided_bytes where_;
  const strided_shape shape_;
  std::array<std::size_t, max_rank> index_{};
  std::ptrdiff_t offset_ = 0;
  std::size_t left_;
};

// Returns the C++ spelling of the type.
std::string spelling(npy_type t) {
  const std::string real = t.bytes == (t.kind == 'c' ? 8 : 4) ? "float" : "double";
  if (t.kind == 'b') return "bool";
  if (t.kind == 'f') return real;
  if (t.kind == 'c') return "std::complex<" + real + ">";
  return concat(t.kind == 'u' ? "std::uint" : "std::int", 8 * t.bytes, "_t");
}

std::string call(npy_type t, std::size_t rank) { return concat("load_npy<", spelling(t), ", ", rank, ">"); }

}  // namespace

std::string errno_text(int code) { return std::generic_category().message(code); }

int file_descriptor::close() noexcept { return fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0 ? errno : 0; }

npy_reader::npy_reader(const std::string& path) : path_(path), file_(open_to_read(path)) {
  struct stat is {};
  if (::fstat(file_.get(), &is) != 0) fail_on("read", path, errno_text(errno));
  if (!S_ISREG(is.st_mode))
    fail_on("read", path, S_ISDIR(is.st_mode) ? errno_text(EISDIR) : "it is not a regular file");
  file_bytes_ = static_cast<std::size_t>(is.st_size);
  read_header();
}

// Returns the number of bytes read; fewer than requested only at the end of the file.
std::size_t npy_reader::read_some(void* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ::ssize_t n = ::read(file_.get(), static_cast<std::byte*>(to) + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_on("read", path_, concat(errno_text(errno), " at byte ", at_));
    if (n == 0) break;
    done += static_cast<std::size_t>(n), at_ += static_cast<std::size_t>(n);
  }
  return done;
}

void npy_reader::read_header() {
  const auto take = [&](std::size_t bytes, const std::string& what) {
    const std::size_t begin = at_;
    std::string s(bytes, '\0');
    s.resize(read_some(s.data(), bytes));
    if (s.size() < bytes)
      refuse_npy(path_, begin, s.empty() ? "the end of the file" : quoted_bytes(s) + " and the end of the file", what);
    return s;
  };
  const std::string magic = take(npy_magic.size(), "the magic string " + quoted_bytes(npy_magic));
  if (magic != npy_magic) refuse_npy(path_, 0, quoted_bytes(magic), "the magic string " + quoted_bytes(npy_magic));
  const std::string version = take(2, "the two bytes of a version");
  if (version[0] < 1 || version[0] > 3 || version[1] != 0)
    refuse_npy(path_, npy_magic.size(), quoted_bytes(version), "the versions 1.0, 2.0 and 3.0");

  const std::size_t length_at = at_, length_bytes = version[0] == 1 ? 2 : 4;
  const std::string digits = take(length_bytes, concat("the ", length_bytes, " bytes of a header length"));
  std::size_t length = 0;
  for (std::size_t byte = length_bytes; byte-- > 0;) length = length << 8 | static_cast<unsigned char>(digits[byte]);
  const std::size_t rest = file_bytes_ > at_ ? file_bytes_ - at_ : 0;
  if (length > rest)
    refuse_npy(path_, length_at, concat("a header length of ", length, " bytes"),
               concat("at most the ", rest, " bytes that follow in the file"));
  const std::size_t text_at = at_;
  const std::string text = take(length, concat("a header of ", length, " bytes"));
  info_ = parse_npy_header(path_, text, version[0], text_at);
  const npy_dtype dtype = *parse_npy_dtype(info_.dtype);
  type_ = dtype.type, swapped_ = dtype.swapped;
}

void npy_reader::check(npy_type wanted, std::size_t rank) const {
  if (wanted != type_ || rank != info_.shape.size()) {
    const bool possible = info_.shape.size() <= max_rank;
    throw invalid_argument(
        concat(call(wanted, rank), "(\"", path_, "\"): the file holds ", spelling(type_), " ('", info_.dtype,
               "') of rank ", info_.shape.size(), ", shape ", npy_shape_text(info_.shape),
               possible ? ": call " + call(type_, info_.shape.size()) + ", or convert the file with NumPy"
                        : ": ferry arrays have at most 6 dimensions, reshape it with NumPy"));
  }
  std::size_t bytes = type_.bytes;
  for (const std::size_t e : info_.shape) bytes *= e;
  const std::size_t found = file_bytes_ > info_.data_offset ? file_bytes_ - info_.data_offset : 0;
  if (found < bytes)
    refuse_npy(
        path_, info_.data_offset, concat(found, " bytes of data"),
        concat("the ", bytes, " bytes of shape ", npy_shape_text(info_.shape), " and dtype '", info_.dtype, "'"));
}

void npy_reader::read(std::byte* to, std::size_t bytes) {
  const std::size_t unit = type_.kind == 'c' ? type_.bytes / 2 : type_.bytes;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t begin = at_, n = std::min(chunk_bytes, bytes - done);
    std::byte* const part = to + done;
    if (const std::size_t found = read_some(part, n); found < n)
      refuse_npy(path_, begin + found, "the end of the file", "the data that were there when it was opened");
    if (swapped_)
      for (std::size_t i = 0; i < n; i += unit) std::reverse(part + i, part + i + unit);
    if (type_.kind == 'b')
      for (std::size_t i = 0; i < n; ++i) part[i] = std::byte{part[i] != std::byte{0}};
    done += n;
  }
}

void npy_reader::seek(std::size_t byte) {
  at_ = info_.data_offset + byte;
  if (::lseek(file_.get(), static_cast<::off_t>(at_), SEEK_SET) < 0) fail_on("read", path_, errno_text(errno));
}

void npy_reader::read_strided(const strided_bytes& to, const strided_shape& shape) {
  strided_walk elements(to, shape);
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(elements.next_count() * shape.element_bytes);
  while (const std::size_t count = elements.next_count()) {
    read(buffer.get(), count * shape.element_bytes);
    elements.scatter(buffer.get(), count);
  }
}

npy_writer::npy_writer(const std::string& path, npy_type type, std::vector<std::size_t> shape, storage_order order)
    : path_(path),
      target_(writable_target(path)),
      file_(create_beside(path, target_, temporary_.name)) {
  std::size_t long_extents = 0, empty = 0;
  for (const std::size_t e : shape) long_extents += e > 1, empty += e == 0;
  // If both orders are the same, NumPy writes C order.
  const bool fortran = order == storage_order::column_major && long_extents > 1 && empty == 0;
  const std::string header = format_npy_header({npy_dtype_text(type), std::move(shape), fortran});
  write(header.data(), header.size());
}

temporary_name::~temporary_name() {
  if (!name.empty()) static_cast<void>(::unlink(name.c_str()));
}

void npy_writer::fail(int code) const {
  fail_on("write", path_, concat(errno_text(code), ", after ", written_, " bytes; nothing was replaced"));
}

void npy_writer::write(const void* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ::ssize_t n = ::write(file_.get(), static_cast<const std::byte*>(from) + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    done += static_cast<std::size_t>(n), written_ += static_cast<std::size_t>(n);
  }
}

void npy_writer::write_strided(const strided_bytes& from, const strided_shape& shape) {
  strided_walk elements(from, shape);
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(elements.next_count() * shape.element_bytes);
  while (const std::size_t count = elements.next_count()) {
    elements.gather(buffer.get(), count);
    write(buffer.get(), count * shape.element_bytes);
  }
}

// Some file systems report a full disk only at this point.
void npy_writer::commit() {
  if (::fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
  if (const int code = file_.close()) fail(code);
  if (std::rename(temporary_.name.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.name.clear();
}

namespace {

int open_part(const std::string& draft, const std::string& path) {
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    fail_on("write", path,
            errno_text(errno) + " (when opening \"" + draft +
                "\", which another process made: processes on several machines need a file system "
                "that all of them can access)");
  return fd;
}

}  // namespace

npy_part_writer::npy_part_writer(const std::string& draft, std::string path)
    : path_(std::move(path)),
      file_(open_part(draft, path_)) {}

void npy_part_writer::fail(int code) const { fail_on("write", path_, errno_text(code) + "; nothing was replaced"); }

void npy_part_writer::write(std::size_t at, const void* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ::ssize_t n = ::pwrite(file_.get(), static_cast<const std::byte*>(from) + done, bytes - done,
                                 static_cast<::off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    done += static_cast<std::size_t>(n);
  }
}

void npy_part_writer::finish() {
  if (::fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
  if (const int code = file_.close()) fail(code);
}

}  // namespace detail

npy_info read_npy_header(const std::string& path) { return detail::npy_reader(path).info(); }

}  // namespace ferry::inline FERRY_ABI
