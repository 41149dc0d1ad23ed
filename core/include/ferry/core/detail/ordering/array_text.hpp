// Names of arrays in messages: name and shape, or kind and shape for unnamed arrays.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/source_line.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct access;
struct allocation;
class allocation_ref;

// Description of an array for messages. Refers to the array's owner, so use it within the call only.
struct array_look {
  const allocation_ref* owner = nullptr;  // null: a sharded array
  memory_kind kind = memory_kind::device;
  std::string_view type = {};
  std::size_t rank = 0;
  std::array<std::size_t, max_rank> extent{};
  std::string_view name = {};  // of a sharded array; others have the owner's name
};

// "array 'u' of 3 x 4 doubles", or "the unnamed unified array of 3 x 4 doubles". A freed array keeps its name.
std::string array_text(const array_look& a);
// For callers that have only the bytes: "array 'u'", or "the unnamed unified array of 1.500 KiB on device 0".
std::string array_text(const allocation& a);
// As above with the source line: "array 'u' in main.cpp:12".
std::string use_text(const access& a);
// How an array released its bytes although references to it existed.
enum class freed_by : std::uint8_t { free, give_back, end_of_borrow };

// Records a free for the remaining references of `generation`, for use by throw_freed(). Records nothing if out of
// memory.
void remember_freed(const allocation& a, std::uint32_t generation, freed_by how) noexcept;
// Throws use_after_free with the name of the array, how it was freed, and the source line of this use.
[[noreturn]] void throw_freed(const allocation* node, std::uint32_t generation, const array_look* as, source_line at);

}  // namespace ferry::inline FERRY_ABI::detail
