// Texts of memory sizes: a number and a unit, such as "64KiB".
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct size_unit {
  std::string_view name;
  int shift;  // the unit is 2^shift bytes
};
// The largest first. The last one is a suffix of all others.
inline constexpr std::array<size_unit, 5> size_units{{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}};

// The units that a setting allows, from the smallest to the largest, by their shifts.
struct size_range {
  int smallest = 0, largest = 40;
};

struct size_parts {
  std::string_view number;  // all before the unit; not checked
  int shift = 0;
};
// Splits a text. A text without any of the units is all number.
size_parts split_size(std::string_view text, size_range units = {});
// Returns the value of a text of digits with an optional unit; nullopt for other texts, and if std::size_t cannot hold
// the value.
std::optional<std::size_t> whole_size(std::string_view text, size_range units = {});
// Why a text is not a size: "'Mib' is no unit, which is KiB, MiB or GiB", or that the number is missing.
std::string why_no_size(std::string_view text, size_range units = {});

}  // namespace ferry::inline FERRY_ABI::detail
