// Joint operations of several streams: they run once, when they are first everywhere, and deadlock when given crosswise.
#include <thread>

#include "core/sim_fixture.hpp"

using namespace sim_test;

namespace {

std::shared_ptr<fr::meeting> meeting_of(std::string name, std::size_t streams, std::function<void()> body) {
  return std::make_shared<fr::meeting>(fr::meeting{std::move(name), streams, std::move(body)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sim_meetings)

// Behind all that each stream had to do, and before all that each does next.
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
    const auto sum = meeting_of("sum", 3, [p] {
      for (int i = 0; i < 4; ++i) p[0][i] = p[1][i] = p[2][i] = p[0][i] + p[1][i] + p[2][i];
    });
    for (std::size_t d = 0; d < 3; ++d) m.b.meet(s[d], sum, std::vector{use(p[d], 4, true, true)});
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
    const auto a = meeting_of("first", 2, [] {}), b = meeting_of("second", 2, [] {});
    m.b.meet(s, a, {});
    m.b.meet(s, b, {});
    m.b.meet(t, b, {});
    m.b.meet(t, a, {});
    BOOST_CHECK_EXCEPTION(m.b.synchronize(s), fr::deadlock, [](const fr::error& e) {
      const std::string text = e.what();
      return text.find("'first' of 2 streams") != text.npos && text.find("'second'") != text.npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(somebody_who_never_comes) {
  sim_machine m("devices=2");
  const auto s = m.stream(0);
  m.b.meet(s, meeting_of("alone", 2, [] {}), {});
  BOOST_CHECK_THROW(m.b.synchronize(s), fr::deadlock);
  int* p = m.ints(1);
  BOOST_CHECK_THROW(set(m, s, p, 1, 1), fr::deadlock);  // eager: what comes next cannot run either
}

// Each stream has a thread of its own: whoever comes early waits.
BOOST_AUTO_TEST_CASE(threads_meet) {
  for (const std::string schedule : {"schedule=eager", "schedule=random:3"}) {
    sim_machine m("devices=2;" + schedule);
    const fr::native_stream s[] = {m.stream(0), m.stream(1)};
    int* const p[] = {m.ints(1, 0), m.ints(1, 1)};
    const auto sum = meeting_of("sum", 2, [&] { *p[0] = *p[1] = *p[0] + *p[1]; });
    const auto work = [&](int d) {
      set(m, s[d], p[d], 1, d + 1);
      m.b.meet(s[d], sum, std::vector{use(p[d], 1, true, true)});
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

// A device that breaks takes those with it that wait for it in a meeting; others go on.
BOOST_AUTO_TEST_CASE(a_device_that_fails) {
  for (const std::string schedule : {"schedule=eager", "schedule=random:1"}) {
    sim_machine m("devices=3;peers=none;" + schedule);
    const auto s = m.stream(0), t = m.stream(1), other = m.stream(2);
    int *p = m.ints(1, 0), *q = m.ints(1, 2);
    const auto both = meeting_of("sum", 2, [] {});
    const auto give = [&](fr::native_stream to, int* touched) {
      try {
        m.b.meet(to, both, std::vector{use(touched, 1, true, true)});
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
