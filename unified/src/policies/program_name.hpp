// Who this program is, for policies: as it said, or as its executable file is called.
#pragma once
#include <string>

namespace ferry {

struct program_identity {
  std::string name, version;
  static program_identity now();
  static void set(program_identity p);
};

// Through a file beside it. Throws invalid_argument.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace ferry
