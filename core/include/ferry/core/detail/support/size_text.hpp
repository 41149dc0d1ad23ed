// Texts of memory sizes: a number and a unit, such as "64KiB".
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ferry::detail {

struct size_unit {
  std::string_view name;
  int shift;  // the unit is 2^shift bytes
};
// The largest first. The last one is a suffix of all others.
inline constexpr std::array<size_unit, 5> size_units{{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}};

inline constexpr std::string_view all_size_units = "B, KiB, MiB, GiB or TiB";

struct size_parts {
  std::string_view number;  // all before the unit; not checked
  int shift = 0;
};
// Splits a text. `units`: the allowed units, such as "KiB, MiB or GiB". A text without any of them is all number.
size_parts split_size(std::string_view text, std::string_view units);
// Returns the value of a text of digits with an optional unit; nullopt for other texts, and if std::size_t cannot hold
// the value.
std::optional<std::size_t> whole_size(std::string_view text, std::string_view units);
// Why a text is not a size: "'Mib' is no unit", or that the number is missing.
std::string why_no_size(std::string_view text, std::string_view units = all_size_units);

}  // namespace ferry::detail
