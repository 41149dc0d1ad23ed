// Joint operations of several streams: they run once, when every stream has reached them, and deadlock if enqueued in
// opposite orders.
#include <thread>

#include "core/sim_fixture.hpp"

using namespace sim_test;

namespace sim_rendezvous {
namespace {

std::shared_ptr<fr::detail::rendezvous> rendezvous_of(std::string name, std::size_t streams,
                                                      std::function<void()> body) {
  return std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{std::move(name), streams, std::move(body)});
}

}  // namespace
}  // namespace sim_rendezvous

BOOST_AUTO_TEST_SUITE(sim_rendezvous)

// After each stream's earlier work, and before its later work.
BOOST_AUTO_TEST_CASE(all_streams_come_before_any_goes_on) {
  for (int seed = 0; seed < 60; ++seed) {
    sim_machine m(seed == 0 ? "devices=3" : "devices=3;" + random_machine(seed));
    std::vector<fr::native_stream> s;
    std::vector<int*> p;
    for (int d = 0; d < 3; ++d) {
      s.push_back(m.stream(d));
      p.push_back(m.ints(4, d));
      set(m, s.back(), p.back(), 4, d + 1);
    }
    const auto sum = rendezvous_of("sum", 3, [p] {
      for (int i = 0; i < 4; ++i) p[0][i] = p[1][i] = p[2][i] = p[0][i] + p[1][i] + p[2][i];
    });
    for (std::size_t d = 0; d < 3; ++d) m.b.join_rendezvous(s[d], sum, std::vector{use(p[d], 4, true, true)});
    set(m, s[1], p[1], 4, 9);
    BOOST_TEST((fetch(m, s[0], p[0], 4) == std::vector<int>(4, 6)));
    BOOST_TEST((fetch(m, s[1], p[1], 4) == std::vector<int>(4, 9)));
    BOOST_TEST((fetch(m, s[2], p[2], 4) == std::vector<int>(4, 6)));
  }
}

BOOST_AUTO_TEST_CASE(crosswise_is_a_deadlock) {
  for (int seed = 0; seed < 20; ++seed) {
    sim_machine m("devices=2;" + random_machine(seed));
    const auto s = m.stream(0), t = m.stream(1);
    const auto a = rendezvous_of("first", 2, [] {}), b = rendezvous_of("second", 2, [] {});
    m.b.join_rendezvous(s, a, {});
    m.b.join_rendezvous(s, b, {});
    m.b.join_rendezvous(t, b, {});
    m.b.join_rendezvous(t, a, {});
    BOOST_CHECK_EXCEPTION(m.b.synchronize(s), fr::deadlock, [](const fr::error& e) {
      const std::string text = e.what();
      return text.find("'first' of 2 streams") != text.npos && text.find("'second'") != text.npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(a_part_that_never_arrives) {
  sim_machine m("devices=2");
  const auto s = m.stream(0);
  m.b.join_rendezvous(s, rendezvous_of("alone", 2, [] {}), {});
  BOOST_CHECK_THROW(m.b.synchronize(s), fr::deadlock);
  int* p = m.ints(1);
  BOOST_CHECK_THROW(set(m, s, p, 1, 1), fr::deadlock);  // eager: the next operation cannot run, either
}

// Each launch runs a captured joint operation anew, also in a graph that another graph contains twice.
BOOST_AUTO_TEST_CASE(in_graphs) {
  for (int seed = 0; seed < 40; ++seed) {
    sim_machine m(seed == 0 ? "devices=2" : "devices=2;" + random_machine(seed));
    const auto s = m.stream(0), t = m.stream(1);
    int *const p = m.ints(4, 0), *const q = m.ints(4, 1);
    set(m, s, p, 4, 1), set(m, t, q, 4, 2);
    m.b.synchronize(s), m.b.synchronize(t);
    const auto fork = m.event(0), join = m.event(1);
    const auto sum = rendezvous_of("sum", 2, [p, q] {
      for (int i = 0; i < 4; ++i) p[i] = q[i] = p[i] + q[i];
    });
    m.b.begin_capture(s);
    m.b.record(fork, s);
    m.b.wait(t, fork);
    combine(m, t, q, q, 4, 1);  // before: q = 4q + 1
    m.b.join_rendezvous(s, sum, std::vector{use(p, 4, true, true)});
    m.b.join_rendezvous(t, sum, std::vector{use(q, 4, true, true)});
    combine(m, s, p, p, 4, 3);  // after: p = 4p + 3
    m.b.record(join, t);
    m.b.wait(s, join);
    const auto g = m.b.end_capture(s);
    m.b.begin_capture(t);
    m.b.launch_graph(g, t), m.b.launch_graph(g, t);
    const auto twice = m.b.end_capture(t);
    BOOST_TEST(fetch(m, s, p, 4)[0] == 1);  // nothing has run
    int ep = 1, eq = 2;
    const auto expect = [&] { eq = 4 * eq + 1, ep = eq = ep + eq, ep = 4 * ep + 3; };
    for (int i = 0; i < 2; ++i) m.b.launch_graph(g, s), expect();
    m.b.synchronize(s);
    m.b.launch_graph(twice, t), expect(), expect();
    m.b.synchronize(t);
    BOOST_TEST((fetch(m, s, p, 4) == std::vector<int>(4, ep)));
    BOOST_TEST((fetch(m, t, q, 4) == std::vector<int>(4, eq)));
    m.b.destroy_graph(g), m.b.destroy_graph(twice);
  }
}

BOOST_AUTO_TEST_CASE(graphs_that_could_never_end) {
  for (int seed = 0; seed < 10; ++seed) {
    sim_machine m(seed == 0 ? "devices=2" : "devices=2;" + random_machine(seed));
    const auto s = m.stream(0), t = m.stream(1);
    const auto fork = m.event(0), join = m.event(1);
    const auto a = rendezvous_of("first", 2, [] {}), b = rendezvous_of("second", 2, [] {});
    m.b.begin_capture(s);
    m.b.join_rendezvous(s, a, {});
    check_throws<fr::invalid_argument>([&] { m.b.end_capture(s); }, "'first' of 2 streams was captured on 1");
    m.b.begin_capture(s);
    m.b.record(fork, s);
    m.b.wait(t, fork);
    m.b.join_rendezvous(s, a, {}), m.b.join_rendezvous(s, b, {});
    m.b.join_rendezvous(t, b, {}), m.b.join_rendezvous(t, a, {});
    m.b.record(join, t);
    m.b.wait(s, join);
    const auto g = m.b.end_capture(s);
    BOOST_CHECK_THROW((m.b.launch_graph(g, s), m.b.synchronize(s)), fr::deadlock);
  }
}

// A device that cannot reach its part's memory makes the other devices fail, too.
BOOST_AUTO_TEST_CASE(a_graph_on_a_device_that_fails) {
  for (const std::string schedule : {"schedule=eager", "schedule=random:1"}) {
    sim_machine m("devices=2;peers=none;" + schedule);
    const auto s = m.stream(0), t = m.stream(1);
    int* const p = m.ints(4, 0);
    const auto fork = m.event(0), join = m.event(1);
    const auto sum = rendezvous_of("sum", 2, [] {});
    m.b.begin_capture(s);
    m.b.record(fork, s);
    m.b.wait(t, fork);
    m.b.join_rendezvous(s, sum, std::vector{use(p, 4, true, true)});
    m.b.join_rendezvous(t, sum, std::vector{use(p, 4, true, true)});
    m.b.record(join, t);
    m.b.wait(s, join);
    const auto g = m.b.end_capture(s);
    check_throws<fr::device_error>([&] { m.b.launch_graph(g, s), m.b.synchronize(s), m.b.synchronize(t); }, "sum");
  }
}

// Each stream has its own thread: an early thread waits.
BOOST_AUTO_TEST_CASE(threads_meet) {
  for (const std::string schedule : {"schedule=eager", "schedule=random:3"}) {
    sim_machine m("devices=2;" + schedule);
    const fr::native_stream s[] = {m.stream(0), m.stream(1)};
    int* const p[] = {m.ints(1, 0), m.ints(1, 1)};
    const auto sum = rendezvous_of("sum", 2, [&] { *p[0] = *p[1] = *p[0] + *p[1]; });
    const auto work = [&](int d) {
      set(m, s[d], p[d], 1, d + 1);
      m.b.join_rendezvous(s[d], sum, std::vector{use(p[d], 1, true, true)});
      m.b.synchronize(s[d]);
    };
    {
      std::jthread other(work, 1);
      work(0);
    }
    BOOST_TEST(fetch(m, s[0], p[0], 1).front() == 3);
    BOOST_TEST(fetch(m, s[1], p[1], 1).front() == 3);
  }
}

// A failing device makes devices that wait for it in a rendezvous fail, too. Other devices continue.
BOOST_AUTO_TEST_CASE(a_device_that_fails) {
  for (const std::string schedule : {"schedule=eager", "schedule=random:1"}) {
    sim_machine m("devices=3;peers=none;" + schedule);
    const auto s = m.stream(0), t = m.stream(1), other = m.stream(2);
    int *p = m.ints(1, 0), *q = m.ints(1, 2);
    const auto both = rendezvous_of("sum", 2, [] {});
    const auto give = [&](fr::native_stream to, int* touched) {
      try {
        m.b.join_rendezvous(to, both, std::vector{use(touched, 1, true, true)});
        m.b.synchronize(to);
        BOOST_ERROR("no error");
      } catch (const fr::device_error& e) {
        BOOST_TEST(std::string(e.what()).find("sum") != std::string::npos, e.what());
      }
    };
    give(t, p);  // memory of device 0, which is no peer
    give(s, p);
    set(m, other, q, 1, 7);
    BOOST_TEST(fetch(m, other, q, 1).front() == 7);
  }
}

BOOST_AUTO_TEST_SUITE_END()
