// Finding reads of what was never written, writes past the end of arrays, and uses after free, in device code too.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

// What is done to arrays that are made while checks are on; those made before stay as they are.
struct memory_checks {
  // Bytes of 0xFF, which read as NaN in float and double (and as -1), before the first write and after free. What out(v)
  // promises to write is filled with them, too, so that whoever writes only a part shows.
  bool poison = true;
  // Bytes before and after each block that nobody may write; a multiple of 256.
  std::size_t red_zone = 256;
  // Freed blocks that are kept from reuse: so many bytes and blocks, the oldest goes first.
  std::size_t quarantine_bytes = std::size_t{64} << 20;
  std::size_t quarantine_blocks = 1024;
  bool operator==(const memory_checks&) const = default;
};

// "on", "off", or keys and values as in "zone=512;quarantine=256MiB;blocks=100;poison=off", each with its default where it
// is left out: the text of FERRY_POISON. Throws parse_error.
std::optional<memory_checks> parse_memory_checks(std::string_view text);

// For the current machine, from now on; nullopt switches them off. Throws invalid_argument.
void set_memory_checks(const std::optional<memory_checks>& what);
std::optional<memory_checks> current_memory_checks();

// Switched for a scope, on all threads.
class memory_checks_scope {
 public:
  explicit memory_checks_scope(const std::optional<memory_checks>& what = memory_checks());
  ~memory_checks_scope();
  memory_checks_scope(const memory_checks_scope&) = delete;
  memory_checks_scope& operator=(const memory_checks_scope&) = delete;

 private:
  std::optional<memory_checks> before_;
};

// Bytes that somebody wrote and should not have.
struct memory_fault {
  enum class place {
    before,  // the array's first element
    after,   // its last one
    freed    // the array's elements, after it was freed
  };
  place where = place::before;
  std::string name, tag;  // of the array; may be empty
  memory_kind kind = memory_kind::device;
  int device = 0;
  const std::byte* address = nullptr;  // of the array, and its size
  std::size_t bytes = 0;
  std::ptrdiff_t first = 0;  // offset from the address of the first byte that changed
  std::size_t changed = 0;   // how many bytes did, of those that are looked at
  std::string text() const;
};

// Waits for all work on checked arrays, looks around the live ones, those that were freed and those in quarantine, and
// returns all faults since the last call. Each is also told on stderr as soon as it is found: here, at a synchronisation
// after the array was freed, or when the program ends. Raw pointers that are out must be taken again.
std::vector<memory_fault> check_memory();

}  // namespace ferry
