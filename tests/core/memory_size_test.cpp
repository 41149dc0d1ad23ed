// Amounts of memory as text.
#include <boost/test/unit_test.hpp>
#include <ferry/core/error.hpp>
#include <ferry/core/memory_size.hpp>
#include <string>

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(memory_size)

BOOST_AUTO_TEST_CASE(allowed_forms) {
  const auto bytes = [](const char* text) { return fr::memory_size(text).bytes_of(1000); };
  BOOST_TEST(bytes("8589934592") == std::size_t{8} << 30);
  BOOST_TEST(bytes("8GiB") == std::size_t{8} << 30);
  BOOST_TEST(bytes("512MiB") == std::size_t{512} << 20);
  BOOST_TEST(bytes("64KiB") == 65536u);
  BOOST_TEST(bytes("1.5KiB") == 1536u);
  BOOST_TEST(bytes("2TiB") == std::size_t{2} << 40);
  BOOST_TEST(bytes("7B") == 7u);
  BOOST_TEST(bytes("0") == 0u);
  BOOST_TEST(bytes("60%") == 600u);
  BOOST_TEST(bytes("12.5%") == 125u);
  BOOST_TEST(bytes("100%") == 1000u);
  BOOST_TEST(!fr::memory_size().is_set());
  BOOST_TEST(fr::memory_size("60%").text() == "60%");
  BOOST_TEST(fr::memory_size("8GiB").text() == "8.000 GiB");
}

BOOST_AUTO_TEST_CASE(others_are_quoted_with_what_is_allowed) {
  for (const char* text : {"",
                           "much",
                           "8GB",
                           "8 GiB",
                           "-1GiB",
                           "+1",
                           "1e3",
                           "nan",
                           "0x10",
                           "1.2.3MiB",
                           "GiB",
                           "%",
                           "0%",
                           "101%",
                           "-5%",
                           "1.5B",
                           "0.3KiB",
                           "16777216TiB",
                           "99999999999999999999",
                           "."}) {
    try {
      const fr::memory_size m(text);
      BOOST_ERROR("'" << text << "' was read as " << m.text());
    } catch (const fr::parse_error& e) {
      const std::string what = e.what();
      BOOST_TEST(what.find("'" + std::string(text) + "'") != what.npos, what);
      for (const char* form : {"512MiB", "60%", "512B"}) BOOST_TEST(what.find(form) != what.npos, what);
    }
  }
}

BOOST_AUTO_TEST_CASE(readable_amounts) {
  BOOST_TEST(fr::bytes_text(0) == "0 bytes");
  BOOST_TEST(fr::bytes_text(1) == "1 byte");
  BOOST_TEST(fr::bytes_text(1023) == "1023 bytes");
  BOOST_TEST(fr::bytes_text(1536) == "1.500 KiB");
  BOOST_TEST(fr::bytes_text(std::size_t{5} << 40) == "5.000 TiB");
}

BOOST_AUTO_TEST_SUITE_END()
