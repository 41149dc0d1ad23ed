/// @file
/// Policies of a program's arrays by name, as a tuner found them. FERRY_TUNE names the file.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/unified/array_policy.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// Policies of the arrays of one program. The file is text, one statement a line. Lines that begin with # are notes.
/// docs/tuning.md has an example:
/// @code
/// ferry policies 1
/// program "relax" "2.1"
/// array "field" prefetch page=512KiB
/// @endcode
struct array_policies {
  std::string program, version;  ///< program that the policies belong to; see name_program
  /// Policies by the names of arrays.
  std::map<std::string, array_policy> of;
  std::vector<std::string> notes;  ///< one line each

  /// Returns the text of the file.
  std::string text() const;
  /// Parses the text of a file.
  /// @param text the text
  /// @param from the name of the text in errors
  /// @return the policies
  /// @throws parse_error with line and column
  static array_policies parse(std::string_view text, std::string_view from = "policies");
  /// Reads a file.
  /// @param path its path
  /// @return the policies
  /// @throws parse_error if the file does not exist or is wrong
  static array_policies load(const std::string& path);
  /// Writes a file, through a temporary file beside it, so that the path always names a complete one.
  /// @param path its path
  /// @throws invalid_argument if the file cannot be written
  void save(const std::string& path) const;
};

/// Sets the identity of this program, for policies. Call it before the first array: ferry then reads FERRY_TUNE.
/// Without this call, the name is that of the executable file, and the version is empty.
/// @param name the name of the program
/// @param version its version, may be empty
void name_program(std::string name, std::string version = {});

/// Sets the policies of arrays by name for the current runtime, as FERRY_TUNE does. From its next use on, every unified
/// array with one of these names has that policy, unless set_policy() gave it another one.
/// @param p the policies
/// @throws invalid_argument for policies of another program or version, of devices or NUMA nodes that do not exist, or
///   that set_policy would refuse
void use_policies(const array_policies& p);
/// Returns the names that have a policy in the current runtime, but that no used array has had.
std::vector<std::string> unmet_policies();

/// @}

}  // namespace ferry::inline FERRY_ABI
