// Checks the type and the text of an error.
#pragma once
#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <string_view>
#include <typeinfo>

namespace support {

// Checks that the call throws exactly this type of error, with a text that contains all the parts.
template <class Error, class Call>
void check_error(Call call, std::initializer_list<std::string_view> parts) {
  try {
    call();
    BOOST_ERROR("nothing was thrown; expected a text with '" << *parts.begin() << "'");
  } catch (const Error& e) {
    BOOST_TEST((typeid(e) == typeid(Error)), "an error of a derived type: " << e.what());
    const std::string_view text = e.what();
    for (const std::string_view part : parts)
      BOOST_TEST((text.find(part) != text.npos), "'" << part << "' is missing in: " << text);
  }
}
template <class Error, class Call>
void check_error(Call call, std::string_view part) {
  check_error<Error>(call, {part});
}

}  // namespace support
