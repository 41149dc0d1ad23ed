// Libraries that are loaded at run time: the order of the files, and the errors that callers quote.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ferry/core/detail/support/dynamic_library.hpp>
#include <string>

using ferry::detail::dynamic_library;

BOOST_AUTO_TEST_SUITE(dynamic_libraries)

BOOST_AUTO_TEST_CASE(the_first_file_that_can_be_loaded) {
  dynamic_library math({"libferry_has_no_such.so", "libm.so.6", "libferry_is_not_tried.so"});
  BOOST_REQUIRE(math.is_loaded());
  double (*cosine)(double) = nullptr;
  math.need(cosine, "cos");
  BOOST_REQUIRE(cosine);
  BOOST_TEST(cosine(0) == 1);
  BOOST_TEST(math.missing() == "");
  math.find(cosine, "ferry_has_no_such_function");
  BOOST_TEST((!cosine && math.missing().empty()));
  math.need(cosine, "ferry_needs_this");
  math.need(cosine, "ferry_needs_that");
  BOOST_TEST((!cosine && math.missing() == "ferry_needs_this"));
}

BOOST_AUTO_TEST_CASE(no_file_can_be_loaded) {
  dynamic_library none({"libferry_no_one.so", "libferry_no_two.so"});
  BOOST_TEST(!none.is_loaded());
  const std::string why = none.why_not();
  const auto one = why.find("libferry_no_one.so"), between = why.find("; "), two = why.find("libferry_no_two.so");
  BOOST_TEST((one < between && between < two && two != why.npos), why);
  int (*function)() = std::rand;
  none.need(function, "rand");
  BOOST_TEST((!function && none.missing() == "rand"));
}

BOOST_AUTO_TEST_CASE(a_variable_replaces_the_files) {
  const char* const variable = "FERRY_TEST_LIBRARY";
  ::setenv(variable, "libferry_of_variable.so", 1);
  const dynamic_library given(variable, {"libm.so.6"});
  BOOST_TEST((!given.is_loaded() && given.why_not().find("libferry_of_variable.so") != std::string::npos));
  ::setenv(variable, "", 1);
  BOOST_TEST(dynamic_library(variable, {"libm.so.6"}).is_loaded());
  ::unsetenv(variable);
  BOOST_TEST(dynamic_library(variable, {"libm.so.6"}).is_loaded());
}

BOOST_AUTO_TEST_SUITE_END()
