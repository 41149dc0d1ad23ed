// Texts of expressions, and explain().
#include "expressions_fixture.hpp"

BOOST_AUTO_TEST_SUITE(expressions_text)
using namespace expressions_test;
using fr::extents;

BOOST_AUTO_TEST_CASE(texts_have_names_and_few_parentheses) {
  fr::device_array<float> a({3}), b({3}), other({3});
  fr::device_array<int> n({3});
  a.name("a"), b.name("b"), n.name("n");
  BOOST_TEST((b + 2 * fr::sin(a)).text() == "b + 2 * sin(a)");
  BOOST_TEST(((a + b) * a - (a - b)).text() == "(a + b) * a - (a - b)");
  BOOST_TEST((-a / (a * b)).text() == "-a / (a * b)");
  BOOST_TEST((-(a + b)).text() == "-(a + b)");
  BOOST_TEST(fr::where(a > 0 && b > 0, a, 1).text() == "where(a > 0 && b > 0, a, 1)");
  BOOST_TEST((n + a).text() == "cast<float>(n) + a");
  BOOST_TEST((a + other).text() == "a + array#2");
  BOOST_TEST((~n << 2).text() == "~n << 2");
  BOOST_TEST(fr::cast<fr::half>(a).text() == "cast<half>(a)");
  BOOST_TEST((fr::index(0) + fr::index(-1)).text() == "index(0) + index(-1)");
  BOOST_TEST(fr::hypot(a, b, 2).text() == "hypot(a, b, 2)");
  BOOST_TEST(fr::lazy(a).text() == "a");
}

BOOST_AUTO_TEST_CASE(equal_parts_are_computed_once) {
  fr::device_array<float> a({3});
  const auto e = fr::sin(a) * fr::sin(a) + fr::sin(a);
  BOOST_TEST(e.program().code.size() == 4u);  // load, sin, *, +
  BOOST_TEST(e.program().operands.size() == 1u);
}

BOOST_AUTO_TEST_CASE(long_texts_end_in_dots) {
  fr::device_array<float> a({3});
  a.name(std::string(100, 'a'));
  const std::string text = (a + a * 2 + a * 3 + a * 4 + a * 5 + a * 6).text();
  BOOST_TEST(text.size() < 600u);
  BOOST_TEST(text.find("...") != text.npos);
}

BOOST_AUTO_TEST_CASE(explain_counts_the_bytes_of_each_array_once) {
  fr::device_array<float, 2> a({4, 3});
  fr::device_array<float> row({3});
  a.name("a"), row.name("row");
  const std::string text = fr::explain(a * a + row);
  for (const char* const part :
       {"expression a * a + row", "4 x 3 of float", "'a'", "'row'", "stretched", "108 bytes: 60 read, 48 written"})
    BOOST_TEST((text.find(part) != text.npos), "'" << part << "' is missing in: " << text);
  BOOST_TEST(!fr::explain(fr::lazy_arange(0, 0)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
