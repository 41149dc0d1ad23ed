// Settings of the process by environment variables.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "ferry/core/error.hpp"

namespace ferry {

// Returns the value of an environment variable; empty if it is not set.
std::string environment(const char* name);
// Returns the index of its value in a list of allowed ones, 0 if it is not set. Throws parse_error that quotes the
// value.
std::size_t environment_choice(const char* name, std::initializer_list<std::string_view> allowed);
// Calls f with the variable's text if it is not empty. parse_error and invalid_argument of f get the variable's name.
template <class Use>
void with_variable(const char* name, Use f) {
  const std::string text = environment(name);
  if (text.empty()) return;
  const auto named = [&](const error& e) {
    const std::string why(e.text());
    return why.starts_with(name) ? why : std::string(name) + ": " + why;
  };
  try {
    f(text.c_str());
  } catch (const parse_error& e) {
    throw parse_error(named(e));
  } catch (const invalid_argument& e) {
    throw invalid_argument(named(e));
  }
}

}  // namespace ferry
