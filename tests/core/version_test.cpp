// The version from CMake, from the headers, and from the library.
#include <ferry/version.hpp>
#include <string>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(version)

BOOST_AUTO_TEST_CASE(headers_library_and_packages_agree) {
  const std::string text = std::to_string(FERRY_VERSION_MAJOR) + "." + std::to_string(FERRY_VERSION_MINOR) + "." +
                           std::to_string(FERRY_VERSION_PATCH);
  BOOST_TEST(text == FERRY_PACKAGE_VERSION);
  BOOST_TEST(ferry::library_version() == unsigned{FERRY_VERSION});
}

BOOST_AUTO_TEST_SUITE_END()
