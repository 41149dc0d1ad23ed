#include "support/check_error.hpp"

#include <boost/test/unit_test.hpp>
#include <exception>

namespace support {

void check_error_of(const std::type_info& type, ferry::detail::function_ref<void()> call,
                    std::initializer_list<std::string_view> parts) {
  try {
    call();
    BOOST_ERROR("nothing was thrown; expected a text with '" << *parts.begin() << "'");
  } catch (const std::exception& e) {
    const std::string_view text = e.what();
    BOOST_TEST((typeid(e) == type), "an error of another type: " << typeid(e).name() << ": " << text);
    BOOST_TEST((text.starts_with("ferry: ") && text.find("ferry: ", 1) == text.npos), "not \"ferry: \" once: " << text);
    BOOST_TEST((text.find(" ''") == text.npos), "an empty name: " << text);
    for (const std::string_view part : parts)
      BOOST_TEST((text.find(part) != text.npos), "'" << part << "' is missing in: " << text);
  }
}

}  // namespace support
