// Environment settings. All are checked before a runtime is created.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
namespace ferry::inline FERRY_ABI::detail {

// Throws parse_error for an environment variable that does not parse, even if the program does not use it.
using settings_check = void (*)();
// Adds a check that runs before each later runtime is created. For modules above this one.
void add_settings_check(settings_check check);
void check_settings();

}  // namespace ferry::inline FERRY_ABI::detail
