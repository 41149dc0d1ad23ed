// Policies of a program's arrays by their names, as a tuner found them: a file that FERRY_TUNE names.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/unified/array_policy.hpp"

namespace ferry {

// The file is text, a line each; docs/tuning.md has an example:
//   ferry policies 1
//   program "relax" "2.1"
//   array "field" prefetch page=512KiB
// Lines that begin with # are notes.
struct array_policies {
  std::string program, version;  // whose arrays these are; see name_program
  std::map<std::string, array_policy> of;
  std::vector<std::string> notes;  // one line each

  std::string text() const;
  // `from` names the text in errors. Throws parse_error with line and column.
  static array_policies parse(std::string_view text, std::string_view from = "policies");
  // Throws parse_error, also if there is no such file.
  static array_policies load(const std::string& path);
  // Through a file beside it, so that there is always a whole one. Throws invalid_argument if it cannot be written.
  void save(const std::string& path) const;
};

// Who this program is, for policies: before its first array, where FERRY_TUNE is read. Not named, it is called as its
// executable file is, and has no version.
void name_program(std::string name, std::string version = {});

// What FERRY_TUNE does, in code, for the current machine: every unified array of one of these names has that policy from its
// next use on, if it has none by set_policy. Throws invalid_argument for policies of another program or version, of
// devices or NUMA nodes that are not there, or that set_policy would refuse.
void use_policies(const array_policies& p);
// Names for which the current machine has a policy and has seen no array used.
std::vector<std::string> unmet_policies();

}  // namespace ferry
