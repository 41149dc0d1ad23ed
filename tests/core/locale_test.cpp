// Texts that ferry reads again are the same under every locale of the program.
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <ferry/core/detail/support/plain_text.hpp>
#include <ferry/core/memory_snapshot.hpp>
#include <sstream>
#include <string>

#include "support/json_fault.hpp"
#include "support/other_locale.hpp"

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(locales)

BOOST_AUTO_TEST_CASE(the_reader_of_these_tests_is_strict) {
  for (const char* good : {"{}", " [1, -2.5e3, \"a\\u00e9\", {\"k\": [true, null]}]\n", "0.25"})
    BOOST_TEST(support::json_reader::fault(good) == "");
  for (const char* bad : {"", "[1,]", "{\"a\": 8.388.608}", "[1,5", "{\"a\" 1}", "[01]", "\"\\x\"", "nul", "[1] 2",
                          "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xe2\x82\""})
    BOOST_TEST(support::json_reader::fault(bad) != "", bad);
}

// Names come from the program, and truncation may cut within a character.
BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8) {
  const std::string valid = "\x01\"\\ \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xef\xbf\xbd";
  BOOST_TEST(fr::detail::utf8_text(valid) == valid);
  BOOST_TEST(fr::detail::utf8_text("a\xff"
                                   "b\xe2\x82"
                                   "c\xc3") ==
             "a\xef\xbf\xbd"
             "b\xef\xbf\xbd\xef\xbf\xbd"
             "c\xef\xbf\xbd");
  const fr::simulation sim("devices=1");
  const fr::memory_recording recording(50);
  std::vector<fr::host_array<int>> arrays;
  // Each single byte, each lead byte with each kind of second byte, overlong forms, surrogates, and code points above
  // U+10FFFF.
  for (int lead = 1; lead < 256; ++lead)
    for (const char* more :
         {"", "\x7f", "\x80", "\x8f\xbf", "\x90\x80\x80", "\xa0\xa0", "\xbf\xbf\xbf", "\xc0", "\xff"}) {
      const std::string name = static_cast<char>(lead) + std::string(more);
      BOOST_TEST(support::json_reader::fault(fr::detail::json_string(name)) == "", "lead " << lead);
      if (lead % 16 == 2) arrays.push_back(fr::host_array<int>({1}).name("n" + name));
    }
  const fr::memory_tag_scope tag("tag \xc3");
  const fr::host_array<int> tagged({1});
  for (const std::string& json : {recording.snapshot().json(), fr::memory_use().json()})
    BOOST_TEST(support::json_reader::fault(json) == "");
}

BOOST_AUTO_TEST_CASE(numbers_in_text) {
  const support::other_locale german;
  std::ostringstream shown;
  shown << 1234567.5;
  BOOST_REQUIRE(shown.str().find(',') != std::string::npos);  // the locale is active
  fr::detail::plain_stream out;
  out << 8388608 << ' ' << 0.5;
  BOOST_TEST(out.str() == "8388608 0.5");
  BOOST_TEST(fr::detail::fixed_text(1234.5678, 2) == "1234.57");
  BOOST_TEST(fr::detail::short_text(1234.5678, 5) == "1234.6");
  BOOST_TEST(fr::detail::short_text(1e-9, 4) == "1e-09");
  BOOST_TEST(fr::detail::plain_number("1.25") == 1.25);
}

BOOST_AUTO_TEST_CASE(amounts_of_memory) {
  const support::other_locale german;
  const fr::memory_size half("1.5GiB");
  BOOST_TEST(half.bytes_of(0) == std::size_t{3} << 29);
  BOOST_TEST(half.text() == "1.500 GiB");
  BOOST_TEST(fr::memory_size("12.5%").text() == "12.5%");
}

BOOST_AUTO_TEST_CASE(snapshots_and_status) {
  const fr::simulation sim("devices=2");
  const support::other_locale german;
  const fr::memory_recording recording(50);
  fr::device_array<char> a({8388608});
  a.name("a");
  for (const std::string& json : {recording.snapshot().json(), fr::memory_use().json()})
    BOOST_TEST(support::json_reader::fault(json) == "");
  BOOST_TEST(fr::memory_use().text().find("8.000 MiB") != std::string::npos);
  BOOST_TEST(fr::explain(a).find("8388608") != std::string::npos, fr::explain(a));
}

BOOST_AUTO_TEST_CASE(bandwidths) {
  const fr::simulation sim("devices=2");
  fr::topology t = fr::topology::look();
  const support::other_locale german;
  const std::string empty = t.text();
  t.parse(empty.substr(0, empty.find("\nhost ") + 1) +
          "host 0 1234.5 2.25\npair 0 0 5000.5\npair 0 1 20.5\nhost 1 3 4\npair 1 0 5\npair 1 1 6\n");
  BOOST_TEST(t.upload(fr::device(0)) == 1234.5);
  BOOST_TEST(t.text().find("host 0 1234.5 2.25\npair 0 0 5000.5\n") != std::string::npos, t.text());
  std::ostringstream out;
  out << t;
  BOOST_TEST(out.str().find("5000") != std::string::npos, out.str());
  BOOST_TEST(out.str().find("1234/2") != std::string::npos, out.str());
}

BOOST_AUTO_TEST_SUITE_END()
