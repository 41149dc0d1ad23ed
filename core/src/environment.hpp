// Settings of the process.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

namespace ferry {

// The value of an environment variable; empty if it is not set.
std::string environment(const char* name);
// The place of its value in a list of allowed ones, 0 if it is not set. Throws parse_error that quotes it.
std::size_t environment_choice(const char* name, std::initializer_list<std::string_view> allowed);

}  // namespace ferry
