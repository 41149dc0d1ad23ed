// Files and folders that this user owns, and that no other user can write.
#pragma once
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

class descriptor {
 public:
  explicit descriptor(int fd = -1) : fd_(fd) {}
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  descriptor(descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Opens a folder. With `create`, makes it and its parents first, with access for its owner alone. The result is not
// open if another user owns the folder, or others may write to it.
descriptor open_owned_folder(const std::string& name, bool create);
// Opens a file of a folder for reading. The result is not open under the same conditions, and for symbolic links.
descriptor open_owned_file(const descriptor& folder, const std::string& name);
// Returns the whole content; nullopt if it cannot be read, or has more than `most` bytes.
std::optional<std::string> read_all(const descriptor& file, std::size_t most);
// Writes a file, which appears under its name only when it is complete. Returns false if that fails; then there is no
// file.
bool replace_owned_file(const descriptor& folder, const std::string& name, std::string_view content);

}  // namespace ferry::inline FERRY_ABI::detail::jit
