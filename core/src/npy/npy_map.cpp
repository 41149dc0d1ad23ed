#include "ferry/core/npy_map.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "npy/npy_header.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

[[noreturn]] void fail_to_map(const std::string& path, const std::string& why) {
  throw error("cannot map \"" + path + "\": " + why);
}

std::size_t bytes_of_file(int fd) {
  struct stat is {};
  return ::fstat(fd, &is) == 0 ? static_cast<std::size_t>(is.st_size) : 0;
}

std::size_t bytes_of_elements(const npy_info& info, npy_type type) {
  std::size_t n = type.bytes;  // no overflow: the header was checked
  for (const std::size_t e : info.shape) n *= e;
  return n;
}

}  // namespace

mapped_file::mapped_file(const std::string& path, npy_type wanted, std::size_t rank, std::size_t alignment)
    : path_(path),
      fd_(-1) {
  {
    const npy_reader checked(path);  // checks type, rank, and that no data are missing
    checked.check(wanted, rank);
    info_ = checked.info();
  }
  const std::optional<npy_dtype> dtype = parse_npy_dtype(info_.dtype);
  if (dtype && dtype->swapped)
    throw parse_error("\"" + path + "\" holds elements of type '" + info_.dtype +
                      "', whose bytes are in the other order than this CPU's: load_npy swaps them, map_npy cannot");
  if (info_.fortran_order && rank > 1)
    throw parse_error("\"" + path + "\" is in Fortran order, and map_npy shows the file as it is: load it by load_npy");
  if (info_.data_offset % alignment != 0)
    throw parse_error(concat("the elements of \"", path, "\" begin at byte ", info_.data_offset,
                             ", which is not aligned for '", info_.dtype, "': load it by load_npy"));
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) fail_to_map(path, errno_text(errno));
  bytes_ = info_.data_offset + bytes_of_elements(info_, wanted);
  void* p = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_, 0);
  if (p == MAP_FAILED) {
    const int code = errno;
    ::close(fd_);
    fail_to_map(path, errno_text(code));
  }
  pages_ = static_cast<std::byte*>(p);
}

mapped_file::mapped_file(mapped_file&& o) noexcept
    : path_(std::move(o.path_)),
      info_(std::move(o.info_)),
      fd_(std::exchange(o.fd_, -1)),
      pages_(std::exchange(o.pages_, nullptr)),
      bytes_(o.bytes_) {}

mapped_file::~mapped_file() {
  if (pages_) ::munmap(pages_, bytes_);
  if (fd_ >= 0) ::close(fd_);
}

void mapped_file::need_whole() const {
  (void)elements();
  const std::size_t now = bytes_of_file(fd_);
  if (now < bytes_) fail_shorter(now);
}

void mapped_file::fail_shorter(std::size_t bytes_now) const {
  throw error(concat("\"", path_, "\" has become shorter while it is mapped: it has ", bytes_now,
                     " bytes, and its elements end at byte ", bytes_,
                     ". Write new files beside it and rename them, as save_npy does"));
}

void mapped_file::read(std::size_t first, std::byte* to, std::size_t bytes) const {
  need_whole();
  for (std::size_t at = info_.data_offset + first, end = at + bytes; at < end;) {
    const ::ssize_t got = ::pread(fd_, to, end - at, static_cast<::off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw error("cannot read \"" + path_ + "\": " + errno_text(errno));
    if (got == 0) fail_shorter(at);  // the file ends here, or ended here a moment ago
    at += static_cast<std::size_t>(got), to += got;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
