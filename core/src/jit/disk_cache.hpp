// Compiled kernels as files, for later processes.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

// Each key has a file, named by the key's hash, with the key, the code and a checksum. Several processes and threads
// may use one folder, because a rename makes a complete file appear. Files and the folder are used only if this user
// owns them and no other user can write them. Nothing throws: without a valid file, the caller compiles.
class disk_cache {
 public:
  // folder: created at the first store, with access for its owner alone; empty: nothing is cached.
  disk_cache(std::string folder, std::size_t limit_bytes);

  // Returns the code that was stored for the key, and marks it as recently used. Removes damaged files.
  std::optional<std::string> find(std::string_view key) const;
  // Stores code. Then removes the least recently used files until all together are within the limit. Returns false if
  // the code was not stored.
  bool store(std::string_view key, std::string_view code) const;
  bool is_on() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }
  // Returns the name of the key's file in the folder.
  static std::string file_name(std::string_view key);

 private:
  const std::string folder_;
  const std::size_t limit_bytes_;
};

}  // namespace ferry::inline FERRY_ABI::detail::jit
