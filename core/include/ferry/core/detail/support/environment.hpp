// Environment variables: no other file calls getenv(). A variable whose value is empty counts as unset.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns the value of a variable; nullopt if it is unset or empty.
std::optional<std::string> environment(const char* name);
// Throws parse_error: "NAME='value' is not allowed; allowed are ...".
[[noreturn]] void refuse_variable(const char* name, std::string_view value, std::string_view allowed);
// Returns the index of the value among the allowed words; nullopt if the variable is unset. Throws parse_error for
// other values.
std::optional<std::size_t> environment_index(const char* name, std::initializer_list<std::string_view> allowed);
// The same for "off" and "on".
std::optional<bool> environment_switch(const char* name);

// As environment_index(), for words in the order of the enumerators from 0.
template <class Enum>
std::optional<Enum> environment_choice(const char* name, std::initializer_list<std::string_view> allowed) {
  const std::optional<std::size_t> index = environment_index(name, allowed);
  return index ? std::optional(static_cast<Enum>(*index)) : std::nullopt;
}

// Rethrows the exception that is being handled. Texts of parse_error and invalid_argument begin with the name then.
[[noreturn]] void rethrow_with_name(const char* name);
// Calls f with the variable's text if it is set. Errors of f are rethrown by rethrow_with_name().
template <class Use>
void with_variable(const char* name, Use f) {
  const std::optional<std::string> text = environment(name);
  if (!text) return;
  try {
    f(text->c_str());
  } catch (...) {
    rethrow_with_name(name);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
