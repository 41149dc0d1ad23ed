#include "jit/disk_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "jit/hash.hpp"
#include "jit/owned_files.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {
namespace {

constexpr std::string_view suffix = ".kernel";
constexpr std::size_t largest_file = std::size_t{64} << 20;
constexpr std::time_t abandoned_after = 3600;  // seconds: temporary files of processes that were killed

// A file: this header, the key, the code.
struct file_header {
  char magic[8];
  std::uint64_t key_bytes, code_bytes, checksum;
};
constexpr char file_magic[8] = {'f', 'e', 'r', 'r', 'y', 'j', 't', '1'};

std::uint64_t checksum_of(std::string_view key, std::string_view code) {
  return hash_bytes(code, hash_bytes(key, code.size()));
}

std::string packed(std::string_view key, std::string_view code) {
  file_header h{};
  std::memcpy(h.magic, file_magic, sizeof h.magic);
  h.key_bytes = key.size(), h.code_bytes = code.size(), h.checksum = checksum_of(key, code);
  std::string content(sizeof h, '\0');
  std::memcpy(content.data(), &h, sizeof h);
  return content.append(key).append(code);
}

enum class verdict { valid, of_another_key, damaged };

verdict unpack(const std::string& content, std::string_view key, std::string& code) {
  file_header h{};
  if (content.size() < sizeof h) return verdict::damaged;
  std::memcpy(&h, content.data(), sizeof h);
  const std::size_t rest = content.size() - sizeof h;
  if (std::memcmp(h.magic, file_magic, sizeof h.magic) != 0 || h.key_bytes > rest || h.code_bytes != rest - h.key_bytes)
    return verdict::damaged;
  const std::string_view stored_key(content.data() + sizeof h, h.key_bytes);
  const std::string_view stored_code(stored_key.data() + h.key_bytes, h.code_bytes);
  if (checksum_of(stored_key, stored_code) != h.checksum) return verdict::damaged;
  if (stored_key != key) return verdict::of_another_key;  // the two keys have the same hash
  code.assign(stored_code);
  return verdict::valid;
}

struct cached_file {
  std::string name;
  std::size_t bytes;
  timespec used;
};

bool is_older(const cached_file& a, const cached_file& b) {
  return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
}

// Returns the files of kernels in a folder. Removes abandoned temporary files.
std::vector<cached_file> cached_files(const descriptor& folder) {
  std::vector<cached_file> files;
  const int again = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // closedir() closes it
  DIR* const listing = again >= 0 ? ::fdopendir(again) : nullptr;
  if (!listing) {
    if (again >= 0) ::close(again);
    return files;
  }
  const std::time_t now = std::time(nullptr);
  while (const dirent* entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    struct stat about {};
    if (::fstatat(folder.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) continue;
    if (name.ends_with(suffix))
      files.push_back({name, static_cast<std::size_t>(about.st_size), about.st_mtim});
    else if (name.find(concat(suffix, ".tmp.")) != name.npos && about.st_mtim.tv_sec + abandoned_after < now)
      static_cast<void>(::unlinkat(folder.get(), name.c_str(), 0));
  }
  ::closedir(listing);
  return files;
}

void remove_least_recently_used(const descriptor& folder, std::size_t limit) {
  std::vector<cached_file> files = cached_files(folder);
  std::size_t total = 0;
  for (const cached_file& f : files) total += f.bytes;
  if (total <= limit) return;
  std::sort(files.begin(), files.end(), is_older);
  for (const cached_file& f : files) {
    if (total <= limit) return;
    if (::unlinkat(folder.get(), f.name.c_str(), 0) == 0) total -= f.bytes;
  }
}

}  // namespace

disk_cache::disk_cache(std::string folder, std::size_t limit_bytes)
    : folder_(std::move(folder)),
      limit_bytes_(limit_bytes) {}

std::string disk_cache::file_name(std::string_view key) { return hash_digits(key).append(suffix); }

std::optional<std::string> disk_cache::find(std::string_view key) const {
  if (!is_on()) return std::nullopt;
  const descriptor folder = open_owned_folder(folder_, false);
  if (!folder) return std::nullopt;
  const std::string name = file_name(key);
  const descriptor file = open_owned_file(folder, name);
  if (!file) return std::nullopt;
  const std::optional<std::string> content = read_all(file, largest_file);
  if (!content) return std::nullopt;
  std::string code;
  switch (unpack(*content, key, code)) {
    case verdict::valid: break;
    case verdict::of_another_key: return std::nullopt;
    case verdict::damaged: static_cast<void>(::unlinkat(folder.get(), name.c_str(), 0)); return std::nullopt;
  }
  static_cast<void>(::futimens(file.get(), nullptr));  // marks the use: the system may not record reads
  return code;
}

bool disk_cache::store(std::string_view key, std::string_view code) const {
  if (!is_on() || sizeof(file_header) + key.size() + code.size() > std::min(limit_bytes_, largest_file)) return false;
  const descriptor folder = open_owned_folder(folder_, true);
  if (!folder || !replace_owned_file(folder, file_name(key), packed(key, code))) return false;
  remove_least_recently_used(folder, limit_bytes_);
  return true;
}

}  // namespace ferry::inline FERRY_ABI::detail::jit
