// Parts of texts, and numbers in them.
#include <ferry/core/detail/support/text_parts.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

using namespace ferry::detail;

BOOST_AUTO_TEST_SUITE(text_parts)

BOOST_AUTO_TEST_CASE(separators_split_a_text) {
  using parts = std::vector<std::string_view>;
  BOOST_TEST((split_text("a;b c;d", ';') == parts{"a", "b c", "d"}));
  BOOST_TEST((split_text("a", ';') == parts{"a"}));
  BOOST_TEST((split_text("", ';') == parts{""}));
  BOOST_TEST((split_text(";a;;", ';') == parts{"", "a", "", ""}));
}

BOOST_AUTO_TEST_CASE(the_first_separator_cuts_a_text) {
  const auto pair = cut_text("key=a=b", '=');
  BOOST_TEST_REQUIRE(pair.has_value());
  BOOST_TEST(pair->first == "key");
  BOOST_TEST(pair->second == "a=b");
  BOOST_TEST((cut_text("=", '=')->first.empty() && cut_text("=", '=')->second.empty()));
  BOOST_TEST(!cut_text("key", '=').has_value());
}

BOOST_AUTO_TEST_CASE(blanks_at_the_ends_are_trimmed) {
  BOOST_TEST(trimmed(" \ta b\t ") == "a b");
  BOOST_TEST(trimmed("a") == "a");
  BOOST_TEST(trimmed(" \t").empty());
  BOOST_TEST(trimmed("").empty());
}

BOOST_AUTO_TEST_CASE(a_number_is_the_whole_text) {
  BOOST_TEST(parse_number<int>("-12").value() == -12);
  BOOST_TEST(parse_number<double>("0.25").value() == 0.25);
  for (const std::string_view text : {"", " 1", "1 ", "1x", "x", "+1", "300", "-1"})
    BOOST_TEST(!parse_number<std::uint8_t>(text).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
