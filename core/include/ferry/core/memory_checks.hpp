/// @file
/// Detection of reads of uninitialized memory, writes past the end of arrays, and use after free, in device code too.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup diagnostics
/// @{

/// Checks for arrays that are allocated while they are on. Of earlier arrays, only what an out(v) argument must write
/// is filled.
struct memory_checks {
  /// Fills elements with 0xFF before the first write and after free: NaN in float and double, -1 in integers. Also
  /// fills what an out(v) argument must write, so that partial writes are visible.
  bool poison = true;
  /// Guard bytes before and after each block; a multiple of 256. Writes to them are faults.
  std::size_t red_zone = 256;
  /// Freed blocks in quarantine, which are not reused: maximum bytes and blocks. The oldest leaves first.
  std::size_t quarantine_bytes = std::size_t{64} << 20;
  std::size_t quarantine_blocks = 1024;
  bool operator==(const memory_checks&) const = default;
};

/// Parses the text of FERRY_POISON: "on", "off", or keys and values, as in
/// "zone=512;quarantine=256MiB;blocks=100;poison=off". Missing keys have their defaults.
/// @return empty for "off"
/// @throws parse_error for other texts
std::optional<memory_checks> parse_memory_checks(std::string_view text);

/// Sets the checks of the current runtime from now on; nullopt disables them.
/// @throws invalid_argument for a red_zone that is no multiple of 256, or too large
void set_memory_checks(const std::optional<memory_checks>& what);
/// The checks of the current runtime; empty if they are off.
std::optional<memory_checks> current_memory_checks();

/// Sets the checks for a scope, on all threads. Throws as set_memory_checks().
class memory_checks_scope {
 public:
  explicit memory_checks_scope(const std::optional<memory_checks>& what = memory_checks());
  ~memory_checks_scope();
  memory_checks_scope(const memory_checks_scope&) = delete;
  memory_checks_scope& operator=(const memory_checks_scope&) = delete;

 private:
  std::optional<memory_checks> before_;
};

/// Bytes that were written outside an array's lifetime or bounds.
struct memory_fault {
  /// Position of the changed bytes, relative to an array.
  enum class place {
    before,  ///< before the first element of the array
    after,   ///< after its last element
    freed    ///< in the elements, after the array was freed
  };
  place where = place::before;
  std::string name, tag;  ///< of the array; may be empty
  memory_kind kind = memory_kind::device;
  int device = 0;
  const std::byte* address = nullptr;  ///< of the array; `bytes` is its size
  std::size_t bytes = 0;
  std::ptrdiff_t first = 0;  ///< offset of the first changed byte from `address`
  std::size_t changed = 0;   ///< number of changed bytes among those that are checked
  /// Description of the fault for messages.
  std::string text() const;
};

/// Checks all memory of checked arrays: live, freed and in quarantine. Blocks until all work on them is complete.
/// stderr reports each fault as soon as it is found: here, at a synchronization after the free, or at program end.
/// @return all faults since the last call
/// @throws invalid_argument inside a submission or a capture
/// @note Raw pointers from pointer() must be taken again after the call.
std::vector<memory_fault> check_memory();

/// @}

}  // namespace ferry::inline FERRY_ABI
