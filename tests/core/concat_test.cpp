// Texts of several pieces: every kind of piece, the extremes of all integer types, empty and many pieces.
#include "ferry/core/detail/support/concat.hpp"

#include <boost/test/unit_test.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace concat_test {
namespace {

using ferry::detail::concat;
using ferry::detail::text_piece;

template <class Integer>
void check_extremes(std::string_view least, std::string_view greatest) {
  using limits = std::numeric_limits<Integer>;
  BOOST_TEST(concat(limits::min()) == least);
  BOOST_TEST(concat(limits::max()) == greatest);
  BOOST_TEST(concat('<', limits::min(), "..", limits::max(), '>') ==
             "<" + std::string(least) + ".." + std::string(greatest) + ">");
  BOOST_TEST(concat(Integer{0}) == "0");
  BOOST_TEST(concat(Integer{7}) == "7");
  BOOST_TEST(concat(limits::min()) == std::to_string(limits::min()));
  BOOST_TEST(concat(limits::max()) == std::to_string(limits::max()));
  if constexpr (std::is_signed_v<Integer>) BOOST_TEST(concat(Integer{-1}) == "-1");
}

template <class T>
concept piece = std::is_constructible_v<text_piece, const T&>;

// Callers choose the form of these.
static_assert(!piece<bool> && !piece<float> && !piece<double> && !piece<const void*> && !piece<std::nullptr_t>);
enum class scoped { one };
enum unscoped { two };
static_assert(!piece<scoped> && !piece<unscoped>);
// Pieces are made without a name of their type.
static_assert(std::convertible_to<int, text_piece> && std::convertible_to<const char*, text_piece> &&
              std::convertible_to<std::string, text_piece> && std::convertible_to<std::string_view, text_piece>);
static_assert(std::is_same_v<decltype(concat("")), std::string>);

}  // namespace
}  // namespace concat_test

BOOST_AUTO_TEST_SUITE(texts_of_pieces)
using namespace concat_test;

BOOST_AUTO_TEST_CASE(every_kind_of_text_is_a_piece) {
  const std::string string = "string";
  const std::string_view whole = "a view of a part", view = whole.substr(2, 4);  // not terminated by a 0
  const char* const pointer = "pointer";
  char array[8] = "array";  // ends at the 0, and not at the end of the array
  BOOST_TEST(concat("literal ", string, ' ', view, ' ', pointer, ' ', array, ' ', std::string("temporary")) ==
             "literal string view pointer array temporary");
  BOOST_TEST(concat(whole.size() > 3 ? "long" : "short", ' ', whole.empty() ? "empty" : string) == "long string");
}

BOOST_AUTO_TEST_CASE(integers_are_decimal_digits) {
  check_extremes<signed char>("-128", "127");
  check_extremes<unsigned char>("0", "255");
  check_extremes<short>("-32768", "32767");
  check_extremes<unsigned short>("0", "65535");
  check_extremes<int>("-2147483648", "2147483647");
  check_extremes<unsigned>("0", "4294967295");
  check_extremes<std::int64_t>("-9223372036854775808", "9223372036854775807");
  check_extremes<std::uint64_t>("0", "18446744073709551615");
  check_extremes<long>(std::to_string(std::numeric_limits<long>::min()),
                       std::to_string(std::numeric_limits<long>::max()));
  check_extremes<unsigned long>("0", std::to_string(std::numeric_limits<unsigned long>::max()));
  check_extremes<long long>("-9223372036854775808", "9223372036854775807");
  check_extremes<unsigned long long>("0", "18446744073709551615");
  check_extremes<std::ptrdiff_t>("-9223372036854775808", "9223372036854775807");
  check_extremes<std::size_t>("0", "18446744073709551615");
}

BOOST_AUTO_TEST_CASE(a_char_is_a_character_and_an_integer_of_8_bits_a_number) {
  BOOST_TEST(concat('4', '2') == "42");
  BOOST_TEST(concat(std::uint8_t{65}, std::int8_t{66}, char{67}) == "6566C");
  BOOST_TEST(concat('\0').size() == 1u);
}

BOOST_AUTO_TEST_CASE(integers_of_many_lengths_are_as_std_to_string_writes_them) {
  for (std::uint64_t n = 1; n != 0; n = n > std::numeric_limits<std::uint64_t>::max() / 10 ? 0 : 10 * n)
    for (const std::uint64_t x : {n - 1, n, n + 1}) {
      const auto y = static_cast<std::int64_t>(x);
      BOOST_TEST(concat(x) == std::to_string(x));
      BOOST_TEST(concat(y, ' ', -y) == std::to_string(y) + " " + std::to_string(-y));
    }
}

BOOST_AUTO_TEST_CASE(pieces_may_be_empty) {
  BOOST_TEST(concat().empty());
  BOOST_TEST(concat("").empty());
  BOOST_TEST(concat("", std::string(), std::string_view()).empty());
  BOOST_TEST(concat("", 1, "", 2, std::string_view(), "") == "12");
}

BOOST_AUTO_TEST_CASE(characters_with_the_value_0_are_copied) {
  const std::string_view text("a\0b", 3);
  BOOST_TEST((concat(text, std::string(text), '\0') == std::string("a\0ba\0b\0", 7)));
}

BOOST_AUTO_TEST_CASE(many_pieces_are_joined_in_order) {
  BOOST_TEST(concat(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 'a', 'b', 'c', "d", "e", "f", std::string("g"), std::string_view("h"),
                    10u, 11l, 12ul, -13, "i", 'j', 14, "k", std::size_t{15}, "l", 16,
                    "m") == "0123456789abcdefgh101112-13ij14k15l16m");
  const std::string large(100'000, 'x');
  BOOST_TEST(concat(large, 1, large, -2) == large + "1" + large + "-2");
}

BOOST_AUTO_TEST_SUITE_END()
