#include "jit/owned_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {
namespace {

bool is_trusted(const descriptor& d, mode_t kind) {
  struct stat about {};
  return d && ::fstat(d.get(), &about) == 0 && (about.st_mode & S_IFMT) == kind && about.st_uid == ::geteuid() &&
         (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool write_all(const descriptor& file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(file.get(), content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

descriptor open_owned_folder(const std::string& name, bool create) {
  if (create) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(name).parent_path(), ignored);
    static_cast<void>(::mkdir(name.c_str(), S_IRWXU));  // failures show when it is opened
  }
  descriptor folder(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return is_trusted(folder, S_IFDIR) ? std::move(folder) : descriptor();
}

descriptor open_owned_file(const descriptor& folder, const std::string& name) {
  // O_NONBLOCK: opening a named pipe must not wait for its writer.
  descriptor file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return is_trusted(file, S_IFREG) ? std::move(file) : descriptor();
}

std::optional<std::string> read_all(const descriptor& file, std::size_t most) {
  struct stat about {};
  if (::fstat(file.get(), &about) != 0 || static_cast<std::size_t>(about.st_size) > most) return std::nullopt;
  std::string content(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t at = 0;
  while (at < content.size()) {
    const ssize_t n = ::read(file.get(), content.data() + at, content.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    at += static_cast<std::size_t>(n);
  }
  return content;
}

bool replace_owned_file(const descriptor& folder, const std::string& name, std::string_view content) {
  static std::atomic<unsigned> serial{0};
  const std::string fresh = concat(name, ".tmp.", ::getpid(), ".", ++serial);
  bool written = false;
  {
    const descriptor file(
        ::openat(folder.get(), fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file) return false;
    written = write_all(file, content);
  }
  if (written && ::renameat(folder.get(), fresh.c_str(), folder.get(), name.c_str()) == 0) return true;
  static_cast<void>(::unlinkat(folder.get(), fresh.c_str(), 0));
  return false;
}

}  // namespace ferry::inline FERRY_ABI::detail::jit
