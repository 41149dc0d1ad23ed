// The simulated backend: capture and graphs.
#include "sim_fixture.hpp"

using namespace sim_test;

BOOST_AUTO_TEST_SUITE(sim_capture)

BOOST_AUTO_TEST_CASE(graphs_replay_what_was_captured) {
  for (const auto& how : both) {
    sim_machine m(how);
    int *x = m.ints(4), *y = m.ints(4, 1), *z = m.ints(4);
    m.b.enable_peer_access(1, 0), m.b.enable_peer_access(0, 1);
    const auto s = m.stream(0), t = m.stream(1);
    const auto fork = m.event(0), join = m.event(1);
    for (int* p : {x, y, z}) set(m, s, p, 4, 1);
    m.b.synchronize(s);
    m.b.begin_capture(s);
    BOOST_TEST(m.b.is_capturing(s));
    combine(m, s, x, z, 4, 0);  // x = 3x + 1
    m.b.record(fork, s);
    m.b.wait(t, fork);
    BOOST_TEST(m.b.is_capturing(t));
    combine(m, t, y, x, 4, 0);  // y = 3y + x
    combine(m, s, z, x, 4, 0);  // z = 3z + x, concurrent with it
    m.b.record(join, t);
    m.b.wait(s, join);
    combine(m, s, x, y, 4, 0);  // x = 3x + y
    const auto g = m.b.end_capture(s);
    BOOST_TEST((!m.b.is_capturing(s) && !m.b.is_capturing(t)));
    BOOST_TEST(fetch(m, s, x, 4)[0] == 1);  // nothing has run
    int ex = 1, ey = 1, ez = 1;
    for (int i = 0; i < 4; ++i) {
      m.b.launch_graph(g, s);
      ex = 3 * ex + ez, ey = 3 * ey + ex, ez = 3 * ez + ex, ex = 3 * ex + ey;
    }
    m.b.begin_capture(t);  // a graph within a graph
    m.b.launch_graph(g, t), m.b.launch_graph(g, t);
    const auto twice = m.b.end_capture(t);
    m.b.synchronize(s);
    m.b.launch_graph(twice, t);
    m.b.destroy_graph(g), m.b.destroy_graph(twice);
    for (int i = 0; i < 2; ++i) ex = 3 * ex + ez, ey = 3 * ey + ex, ez = 3 * ez + ex, ex = 3 * ex + ey;
    m.b.synchronize(t);
    BOOST_TEST(fetch(m, t, x, 4)[3] == ex);
    BOOST_TEST(fetch(m, t, y, 4)[3] == ey);
    BOOST_TEST(fetch(m, t, z, 4)[3] == ez);
  }
}

BOOST_AUTO_TEST_CASE(captures_follow_the_rules) {
  for (const auto& how : both) {
    sim_machine m(how);
    int *x = m.ints(4), *h = m.ints(4, 0, memory_kind::host);
    const auto s = m.stream(), t = m.stream();
    const auto e = m.event(), outside = m.event();
    m.b.record(outside, t);
    const auto invalidated = [&](auto f, const std::string& part) {
      m.b.begin_capture(s);
      check_throws<fr::invalid_argument>(f, part);
      check_throws<fr::invalid_argument>([&] { m.b.end_capture(s); }, "invalidated");
      BOOST_TEST(!m.b.is_capturing(s));
    };
    invalidated([&] { m.b.synchronize(s); }, "not permitted when stream is capturing");
    invalidated([&] { m.b.is_done(s); }, "not permitted when stream is capturing");
    invalidated([&] { m.b.wait(s, outside); }, "isolation");
    invalidated(
        [&] {
          int local;
          m.b.copy(s, &local, x, 4);
        },
        "pageable");
    invalidated([&] { m.b.record(e, s), m.b.synchronize(e); }, "last recorded in a capturing stream");
    check_throws<fr::invalid_argument>([&] { m.b.wait(t, e); }, "last recorded in a capturing stream");
    check_throws<fr::invalid_argument>([&] { m.b.end_capture(s); }, "is not capturing");

    m.b.begin_capture(s);
    m.b.copy(s, h, x, 16);
    m.b.record(e, s);
    m.b.wait(t, e);
    set(m, t, x, 4, 1);
    check_throws<fr::invalid_argument>([&] { m.b.begin_capture(s); }, "capturing already");
    check_throws<fr::invalid_argument>([&] { m.b.end_capture(t); }, "was begun on stream");
    check_throws<fr::invalid_argument>([&] { m.b.end_capture(s); }, "unjoined work");
    BOOST_TEST(!m.b.is_capturing(t));
    m.b.synchronize(t);
  }
}

BOOST_AUTO_TEST_SUITE_END()
