#include "ferry/core/detail/support/environment.hpp"

#include <algorithm>
#include <cstdlib>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string with_name(const char* name, const error& e) {
  const std::string why(e.text());
  return why.starts_with(name) ? why : concat(name, ": ", why);
}

}  // namespace

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

void refuse_variable(const char* name, std::string_view value, std::string_view allowed) {
  throw parse_error(concat(name, "='", value, "' is not allowed; allowed are ", allowed));
}

std::optional<std::size_t> environment_index(const char* name, std::initializer_list<std::string_view> allowed) {
  const std::optional<std::string> value = environment(name);
  if (!value) return std::nullopt;
  const auto* found = std::find(allowed.begin(), allowed.end(), *value);
  if (found != allowed.end()) return static_cast<std::size_t>(found - allowed.begin());
  std::string list;
  for (const std::string_view a : allowed) list += concat(list.empty() ? "" : ", ", a);
  refuse_variable(name, *value, list);
}

std::optional<bool> environment_switch(const char* name) {
  const std::optional<std::size_t> index = environment_index(name, {"off", "on"});
  return index ? std::optional(*index == 1) : std::nullopt;
}

void rethrow_with_name(const char* name) {
  try {
    throw;
  } catch (const parse_error& e) {
    throw parse_error(with_name(name, e));
  } catch (const invalid_argument& e) {
    throw invalid_argument(with_name(name, e));
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
