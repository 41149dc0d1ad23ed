// Teams: their members, and how ranges are dealt out.
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/ferry.hpp>

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(teams)

// Parts lie one behind the other, cover everything, and differ by one element at most.
BOOST_AUTO_TEST_CASE(parts_cover_a_range) {
  fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  BOOST_TEST(t.size() == 4u);
  for (const std::size_t count : {0u, 1u, 3u, 4u, 5u, 17u, 1000u}) {
    std::size_t next = 0;
    for (std::size_t m = 0; m < t.size(); ++m) {
      const fr::part p = t.part_of(m, count);
      BOOST_TEST(p.begin == next);
      BOOST_TEST((p.size() == count / 4 || p.size() == count / 4 + 1));
      next = p.end;
    }
    BOOST_TEST(next == count);
  }
}

BOOST_AUTO_TEST_CASE(members_keep_their_order) {
  fr::simulation sim("devices=3");
  const std::vector<fr::device> order{fr::devices()[2], fr::devices()[0]};
  const fr::team t(order);
  BOOST_TEST(t[0].where().index() == 2);
  BOOST_TEST(t[1].where().index() == 0);
}

BOOST_AUTO_TEST_CASE(teams_that_cannot_be) {
  fr::simulation sim("devices=2");
  const fr::device d = fr::devices()[1];
  BOOST_CHECK_THROW(fr::team(std::vector<fr::device>{}), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::team(std::vector<fr::device>{fr::device(5)}), fr::invalid_argument);
  BOOST_CHECK_EXCEPTION(fr::team(std::vector<fr::device>{d, d}), fr::invalid_argument, [](const fr::error& e) {
    return std::string(e.what()).find("device 1 is named twice") != std::string::npos;
  });
  const fr::team t = fr::team::all();
  BOOST_CHECK_THROW((void)t[2], fr::invalid_argument);
  BOOST_CHECK_THROW((void)t.part_of(2, 10), fr::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
