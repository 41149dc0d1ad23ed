// Settings of the environment, all of which are checked before a machine is made.
#pragma once

namespace ferry::detail {

// Throws parse_error for an environment variable that does not parse, whether or not the program comes to use it.
using settings_check = void (*)();
// Every machine that is made later runs the check first. For modules above this one.
void add_settings_check(settings_check check);
void check_settings();

}  // namespace ferry::detail
