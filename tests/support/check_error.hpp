// Checks the type and the text of an error.
#pragma once
#include <initializer_list>
#include <string_view>
#include <typeinfo>

#include "ferry/core/detail/support/function_ref.hpp"

namespace support {

void check_error_of(const std::type_info& type, ferry::detail::function_ref<void()> call,
                    std::initializer_list<std::string_view> parts);

// Checks that the call throws exactly this type of error, with a text that says once that it is ferry's, has no empty
// name, and contains all the parts.
template <class Error, class Call>
void check_error(Call call, std::initializer_list<std::string_view> parts) {
  check_error_of(typeid(Error), call, parts);
}
template <class Error, class Call>
void check_error(Call call, std::string_view part) {
  check_error_of(typeid(Error), call, {part});
}

}  // namespace support
