// Checks of foreign memory before arrays use it.
#pragma once
#include <cstdint>
#include <string>

#include "external/pinned_ranges.hpp"
#include "ferry/core/borrow.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

enum class foreign_verb : std::uint8_t { borrow, pin, adopt };
const char* name_of(foreign_verb v);
std::string text_of(byte_range bytes, const std::string& name);

struct known_memory {
  bool is_known = false;  // false: pageable memory of the CPU
  int device = 0;
};
// Returns what the driver reports about the bytes; those pinned by `pins` are unknown to a further pin. Throws
// invalid_argument if they are of another kind, or begin and end in different memory.
known_memory known_memory_at(detail::backend& backend, const pinned_ranges& pins, byte_range bytes, memory_kind kind,
                             foreign_verb of, const std::string& name);
// Throws invalid_argument if the bytes belong to a pool of ferry: two access histories that do not see each other would
// order work on them. Searches all blocks.
void refuse_own(runtime& m, byte_range bytes, foreign_verb of);
// Throws invalid_argument if the stream that used the memory last belongs to another runtime, or takes no work now.
void check_stream(runtime& m, const borrow_options& how);

}  // namespace ferry::inline FERRY_ABI::detail
