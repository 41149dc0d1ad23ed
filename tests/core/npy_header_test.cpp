// Headers of .npy files are exactly NumPy's. Any other byte string is refused, with the position of the error.
#include <random>

#include "ferry/core/npy.hpp"
#include "npy/npy_header.hpp"
#include "npy_fixture.hpp"

using namespace npy_test;

namespace npy_header {
namespace {

fr::npy_info parse(const std::string& text, int version = 1) {
  return fr::detail::parse_npy_header("f.npy", text, version, 10);
}

void check_refused(const std::string& text, const std::string& place, const std::string& allowed) {
  BOOST_TEST_CONTEXT(text) check_error<fr::parse_error>([&] { parse(text); }, {"f.npy", place, allowed});
}

}  // namespace
}  // namespace npy_header

BOOST_AUTO_TEST_SUITE(npy_header)

BOOST_AUTO_TEST_CASE(headers_are_written_as_numpy_writes_them) {
  const auto is = [](const fr::npy_info& info, const std::string& dict) {
    const std::string text = fr::detail::format_npy_header(info);
    BOOST_TEST(text == numpy_header(version_1, dict));
    const auto back = parse(text.substr(10));
    BOOST_TEST((back.dtype == info.dtype && back.shape == info.shape && back.fortran_order == info.fortran_order));
    BOOST_TEST(back.data_offset == 128u);
  };
  is({"<i2", {344, 403}}, "{'descr': '<i2', 'fortran_order': False, 'shape': (344, 403), }");
  is({"|b1", {}}, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }");
  is({"<f8", {2, 3, 4}, true}, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 4), }");
  is({"<c16", {7}}, "{'descr': '<c16', 'fortran_order': False, 'shape': (7,), }");
  is({"|u1", {0, 5}}, "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 5), }");
  is({"<u8", {12345678901, 2}, true}, "{'descr': '<u8', 'fortran_order': True, 'shape': (12345678901, 2), }");
}

// Lengths from numpy.lib.format._write_array_header of NumPy 2.4.6.
BOOST_AUTO_TEST_CASE(long_headers_are_version_2) {
  const auto header = [](std::size_t rank) {
    return fr::detail::format_npy_header({"<f4", std::vector<std::size_t>(rank, 1)});
  };
  BOOST_TEST((header(21815).size() == 65536 && header(21815)[6] == 1));
  BOOST_TEST((header(21820).size() == 65600 && header(21820)[6] == 2));
  BOOST_TEST(header(30000).size() == 90112u);
  BOOST_TEST(header(30000).substr(0, 12) == std::string("\x93NUMPY\2\0\xf4_\1\0", 12));
  BOOST_TEST(parse(header(30000).substr(12), 2).shape.size() == 30000u);
}

BOOST_AUTO_TEST_CASE(all_versions_are_read) {
  const folder here;
  for (const int version : {1, 2, 3}) {
    const std::string& prefix = version == 1 ? version_1 : version == 2 ? version_2 : version_3;
    const auto info = fr::read_npy_header(
        here.with(numpy_header(prefix, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }")));
    BOOST_TEST((info.version == version && info.dtype == "<f4" && info.fortran_order && info.data_offset == 128));
    BOOST_TEST((info.shape == std::vector<std::size_t>{2, 3}));
  }
}

BOOST_AUTO_TEST_CASE(every_spelling_of_the_dict_is_read) {
  for (const std::string text : {"{'descr':'<i2','fortran_order':False,'shape':(3,4)}",
                                 "{\"shape\": (3,4,), \"descr\": \"<i2\", \"fortran_order\": False}",
                                 " \t{ 'fortran_order' :\nFalse , 'shape' : ( 3 , 4 , ) , 'descr' : '<i2' , } \n\n",
                                 "{'descr':'<i2','shape':(3L,4L),'fortran_order':False}"})
    BOOST_TEST((parse(text).shape == std::vector<std::size_t>{3, 4} && parse(text).dtype == "<i2"), text);
  BOOST_TEST(parse("{'descr':'<i2','fortran_order':True,'shape':()}").shape.empty());
  BOOST_TEST((parse("{'descr':'<i2','fortran_order':True,'shape':(7,)}").shape == std::vector<std::size_t>{7}));
  for (const std::string dtype : {"<i2", ">i2", "=i2", "|i2", "|b1", "<c16", ">f8", "<u1"})
    BOOST_TEST(parse("{'descr':'" + dtype + "','fortran_order':True,'shape':(7,)}").dtype == dtype);
}

BOOST_AUTO_TEST_CASE(malformed_dicts_are_refused_with_their_place) {
  const std::string type = "'descr': '<i2', ", order = "'fortran_order': False, ";
  check_refused("", "byte 10 is the end of the header", "'{'");
  check_refused("descr", "byte 10 is \"descr\"", "'{'");
  check_refused("{}", "byte 11", "the key 'descr'");
  check_refused("{" + type + "}", "byte 27", "the key 'fortran_order'");
  check_refused("{" + type + order + "}", "byte 51", "the key 'shape'");
  check_refused("{,}", "byte 11", "a key: 'descr', 'fortran_order' or 'shape'");
  check_refused("{" + type + type + "}", "byte 27", "each key once");
  check_refused("{'color': 1}", "byte 11", "the keys 'descr', 'fortran_order' and 'shape'");
  check_refused("{'descr' '<i2'}", "byte 19", "':'");
  check_refused("{'descr': '<i2' 'shape'}", "byte 26", "'}'");
  check_refused("{'descr': '<i2", "byte 20", "a closing quote");
  check_refused("{'descr': '<i2\"}", "byte 20", "a closing quote");
  check_refused("{'fortran_order': 0}", "byte 28", "True or False");
  check_refused("{'fortran_order': Falsey}", "byte 33", "'}'");
  for (const auto& [shape, place, allowed] :
       std::vector<std::array<std::string, 3>>{{"3", "byte 20", "'('"},
                                               {"[3, 4]", "byte 20", "'('"},
                                               {"(3)", "byte 22", "as in (3,)"},
                                               {"(,)", "byte 21", "an extent"},
                                               {"(3,,4)", "byte 23", "an extent"},
                                               {"(3, -4)", "byte 24 is \"-4)\"", "an integer of at least 0"},
                                               {"(+3, 4)", "byte 21", "an extent"},
                                               {"(3, 04)", "byte 24", "leading zeros"},
                                               {"(3.0, 4)", "byte 22", "as in (3,)"},
                                               {"(3, 4", "the end of the header", "')'"},
                                               {"(9223372036854775808, 1)", "byte 21", "at most 9223372036854775807"},
                                               {"(99999999999999999999, 1)", "byte 21", "at most 9223372036854775807"}})
    check_refused("{'shape': " + shape, place, allowed);
  const std::string good = "{" + type + order + "'shape': ";
  check_refused(good + "(4,)} 5", "byte 66 is \"5\"", "spaces and a newline");
  check_refused(good + "(4294967296, 4294967296)}", "byte 60", "a shape of at most 9223372036854775807 bytes");
  check_refused(good + "(0, 4294967296, 4294967296)}", "byte 60", "a shape of at most");
  check_refused(good + "(4611686018427387904,)}", "byte 60", "a shape of at most");
  check_refused(std::string("{\x01\xff", 3), "\"\\x01\\xff\"", "a key");
}

BOOST_AUTO_TEST_CASE(unsupported_dtypes_list_what_is_allowed) {
  for (const std::string dtype :
       {"'|O'", "'<U5'", "'|S3'", "'|V8'", "'<M8[ns]'", "'<m8'", "'<f2'", "'<f16'", "'<c32'", "'i2'", "'<i3'", "''",
        "'<'", "[('a', '<i2')]", "('<i2', (2,))", "'float32'", "'<i2 '"})
    check_refused("{'descr': " + dtype + "}", "byte 20", "b1, i1, i2, i4, i8, u1, u2, u4, u8, f4, f8, c8 and c16");
}

BOOST_AUTO_TEST_CASE(random_texts_parse_or_are_refused) {
  const std::vector<std::string> pieces{
      "{",       "}",     "(", ")",  ",",  ":",    " ",     "'",    "\"", "'descr'", "'fortran_order'",
      "'shape'", "'<i2'", "-", "\n", "L",  "True", "False", "None", "0",  "1",       "[",
      "'|O'",    "\\",    "3", "17", "\0", "\xff"};
  const std::vector<std::string> whole{
      "{", "'descr'", ":", "'<i2'", ",", "'fortran_order'", ":", "False", ",", "'shape'", ":", "(", "3", ",",
      "4", ",",       ")", ",",     "}"};
  std::mt19937 random(7);
  std::size_t good = 0;
  const auto below = [&](std::size_t n) { return static_cast<std::ptrdiff_t>(random() % n); };
  for (int round = 0; round < 40000; ++round) {
    auto tokens = round % 4 ? whole : std::vector<std::string>(random() % 20);
    for (std::string& t : tokens)
      if (t.empty()) t = pieces[random() % pieces.size()];
    for (auto edits = random() % 4; edits-- > 0 && !tokens.empty();) {
      const auto at = tokens.begin() + below(tokens.size());
      if (random() % 3 == 0)
        tokens.erase(at);
      else if (random() % 2 == 0)
        tokens.insert(at, pieces[random() % pieces.size()]);
      else
        *at = pieces[random() % pieces.size()];
    }
    std::string text;
    for (const std::string& t : tokens) text += t;
    try {
      auto info = parse(text);
      const auto again = parse(fr::detail::format_npy_header(info).substr(10));
      if (again.shape != info.shape || again.dtype != info.dtype) BOOST_ERROR(text);
      ++good;
    } catch (const fr::parse_error&) {
    }
  }
  BOOST_TEST((good > 100 && good < 40000));
}

BOOST_AUTO_TEST_SUITE_END()
