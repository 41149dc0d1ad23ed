// The text of FERRY_SIM.
#include "sim_fixture.hpp"

using namespace sim_test;

BOOST_AUTO_TEST_SUITE(sim_options)

BOOST_AUTO_TEST_CASE(options_are_read) {
  const auto o = fr::sim::parse_options(
      " devices=3; memory=2MiB "
      ";peers=0-1,1-2;broken=2-1;schedule=random:42;fail=alloc@17,peer@2;concurrent_managed=off;pageable_access=on");
  BOOST_TEST(o.devices == 3);
  BOOST_TEST(o.memory_bytes == 2u << 20);
  BOOST_TEST((o.are_peers(1, 0) && o.are_peers(1, 2) && !o.are_peers(0, 2) && !o.are_peers(1, 1)));
  BOOST_TEST((o.is_broken(1, 2) && o.is_broken(2, 1) && !o.is_broken(0, 1)));
  BOOST_TEST(
      (o.schedule == fr::sim::schedule_kind::random && o.seed == 42 && !o.concurrent_managed && o.pageable_access));
  BOOST_TEST((o.failures ==
              std::vector<fr::sim::failure>{{fr::sim::failing_verb::alloc, 17}, {fr::sim::failing_verb::peer, 2}}));
  const auto d = fr::sim::parse_options("");
  BOOST_TEST((d.devices == 4 && d.memory_bytes == 1u << 30 && d.are_peers(0, 3) &&
              d.schedule == fr::sim::schedule_kind::eager));
  BOOST_TEST(fr::sim::parse_options("memory=100").memory_bytes == 100u);
}

BOOST_AUTO_TEST_CASE(options_that_do_not_parse_are_quoted) {
  for (const std::string bad : {"devices=0",
                                "devices=65",
                                "devices=4x",
                                "device=4",
                                "memory=",
                                "memory=1TB",
                                "memory=99999999999GiB",
                                "memory=-1",
                                "peers=0",
                                "peers=0-0",
                                "peers=0-9",
                                "broken=0",
                                "broken=1-1",
                                "broken=0-9",
                                "schedule=fast",
                                "schedule=random:",
                                "schedule=random:x",
                                "fail=free@1",
                                "fail=alloc",
                                "fail=alloc@0",
                                "concurrent_managed=yes",
                                "devices",
                                "devices=2;devices=3"}) {
    check_throws<fr::parse_error>([&] { fr::sim::parse_options(bad); }, bad);
    check_throws<fr::parse_error>([&] { fr::sim::parse_options(bad); }, "allowed, separated by ';'");
  }
}

BOOST_AUTO_TEST_SUITE_END()
