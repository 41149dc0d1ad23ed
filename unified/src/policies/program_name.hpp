// The identity of this program, for policies: as set by the program, or the name of its executable file.
#pragma once
#include <string>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct program_identity {
  std::string name, version;
  static program_identity now();
  static void set(program_identity p);
};

// Writes a file through a temporary file beside it. Throws invalid_argument if that fails.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace ferry::inline FERRY_ABI::detail
