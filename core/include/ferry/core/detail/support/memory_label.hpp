// Numbers of tags and of names of arrays.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A tag, or the name of an array, as a small number; 0 is none. Tags and names have separate numbers: the tag "solver"
// and the name "solver" are unrelated. The same text has the same number for the life of the process.
using memory_label = std::uint32_t;
// Distinguishes tags from names.
enum class label_kind : std::uint8_t { tag, name };

// Maximum numbers: an allocation stores both, and a flag, in 32 bits. Beyond the last tag, tagging throws. Later names
// are accounted together as other_names.
inline constexpr std::size_t most_tags = std::size_t{1} << 19, most_names = std::size_t{1} << 12;
inline constexpr memory_label other_names = most_names - 1;

// Returns the number of a tag. May allocate host memory. Throws invalid_argument for a tag after most_tags - 1
// different ones.
memory_label intern_tag(std::string_view text);
// Returns the number of a name. May allocate host memory. Returns other_names when the names are used up.
memory_label intern_name(std::string_view text);
// Text of a label; empty for 0.
std::string label_text(label_kind kind, memory_label label);

}  // namespace ferry::inline FERRY_ABI::detail
