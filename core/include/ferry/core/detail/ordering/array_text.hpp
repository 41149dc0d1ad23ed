// What messages call an array: its name and shape, or its kind and shape where it has no name.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/source_line.hpp"

namespace ferry {

struct access;
struct allocation;
class allocation_ref;

namespace detail {

// An array as a message describes it. Refers to the array's owner, for use within the call.
struct array_look {
  const allocation_ref* owner = nullptr;
  memory_kind kind = memory_kind::device;
  std::string_view type = {};
  std::size_t rank = 0;
  std::array<std::size_t, max_rank> extent{};
  std::string_view name = {};  // of an array of several allocations; empty: that of the owner
};

// "array 'u' of 3 x 4 doubles", or "the unnamed unified array of 3 x 4 doubles". Of a freed array, the name that it had.
std::string array_text(const array_look& a);
// Where only the bytes are known: "array 'u'", or "the unnamed unified array of 1.500 KiB on device 0".
std::string array_text(const allocation& a);
// The same and the line: "array 'u' in main.cpp:12".
std::string use_text(const access& a);
// How an array lost its bytes while references to it were left.
enum class freed_by : std::uint8_t { free, give_back, end_of_borrow };

// Called by allocation_ref::free() for the references of `generation`. Out of memory, nothing is remembered.
void remember_freed(const allocation& a, std::uint32_t generation, freed_by how) noexcept;
// Throws use_after_free, which says what the array was, how it was freed, and where it is used again.
[[noreturn]] void throw_freed(const allocation* node, std::uint32_t generation, const array_look* as, source_line at);

}  // namespace detail
}  // namespace ferry
