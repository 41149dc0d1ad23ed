// The simulator's race checker reports all unordered accesses in every schedule, and nothing else: the order of
// streams, events, graphs and joint operations.
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "race_checker_fixture.hpp"
#include "sim/race_checker.hpp"

BOOST_AUTO_TEST_SUITE(race_checker)

BOOST_AUTO_TEST_CASE(two_streams_without_an_event) {
  is_a_race([](place& p) { p.write(p.a, p.x), p.write(p.b, p.x); }, "' on stream ");
  is_a_race([](place& p) { p.write(p.a, p.x), p.read(p.b, p.x, p.y); });
  is_a_race([](place& p) { p.read(p.a, p.x, p.y), p.write(p.b, p.x); });
  is_a_race([](place& p) { p.write(p.a, p.x), p.write(p.b, p.x + n - 1); });
  is_none([](place& p) { p.write(p.a, p.x), p.write(p.b, p.y); });
  is_none([](place& p) { p.read(p.a, p.x, p.y), p.read(p.b, p.x, p.x + n); });
  is_none([](place& p) { p.write(p.a, p.x), p.read(p.a, p.x, p.y), p.write(p.a, p.x); });
}

BOOST_AUTO_TEST_CASE(the_text_names_both) {
  is_a_race([](place& p) { p.write(p.a, p.x), p.read(p.b, p.x, p.y); }, "'set' on stream ");
  is_a_race([](place& p) { p.write(p.a, p.x), p.read(p.b, p.x, p.y); }, "kernel 'read' on stream ");
  is_a_race([](place& p) { p.write(p.a, p.x), p.m.b.copy(p.b, p.y, p.x, n * sizeof(int)); }, "256 bytes at 0x");
}

BOOST_AUTO_TEST_CASE(events_order) {
  is_none([](place& p) { p.write(p.a, p.x), p.order(p.a, p.of_a, p.b), p.read(p.b, p.x, p.y); });
  is_none([](place& p) {
    for (int i = 0; i < 3; ++i) {
      p.write(p.a, p.x), p.order(p.a, p.of_a, p.b), p.read(p.b, p.x, p.y), p.order(p.b, p.of_b, p.a);
    }
  });
  is_a_race([](place& p) { p.order(p.a, p.of_a, p.b), p.write(p.a, p.x), p.read(p.b, p.x, p.y); });  // too early
  is_a_race([](place& p) { p.write(p.a, p.x), p.m.b.record(p.of_a, p.a), p.read(p.b, p.x, p.y); });  // no wait
  is_a_race([](place& p) { p.write(p.a, p.x), p.order(p.b, p.of_b, p.a), p.read(p.b, p.x, p.y); });  // reversed
  is_a_race([](place& p) {  // order in both directions
    p.write(p.a, p.x), p.order(p.a, p.of_a, p.b), p.read(p.b, p.x, p.y), p.write(p.a, p.x);
  });
}

// Through a third stream that does no work itself.
BOOST_AUTO_TEST_CASE(order_is_transitive) {
  const auto over = [](bool second) {
    return [second](place& p) {
      const auto c = p.m.stream(0);
      const auto of_c = p.m.event(0);
      p.write(p.b, p.x), p.order(p.b, p.of_b, c);
      if (second) p.order(c, of_c, p.a);
      p.write(p.a, p.x);
    };
  };
  is_none(over(true));
  is_a_race(over(false));
}

BOOST_AUTO_TEST_CASE(the_cpu_orders_by_waiting) {
  const auto between = [](const std::function<void(place&)>& wait) {
    return [wait](place& p) {
      p.write(p.a, p.x), p.m.b.record(p.of_a, p.a);
      wait(p);
      p.write(p.b, p.x);
    };
  };
  is_none(between([](place& p) { p.m.b.synchronize(p.a); }));
  is_none(between([](place& p) { p.m.b.synchronize(p.of_a); }));
  is_none(between([](place& p) {
    while (!p.m.b.is_done(p.a)) {
    }
  }));
  is_none(between([](place& p) {
    while (!p.m.b.is_done(p.of_a)) {
    }
  }));
  is_none(between([](place& p) { fetch(p.m, p.a, p.y, n); }));  // blocks because of its pageable memory
  is_a_race(between([](place& p) { p.m.b.synchronize(p.b); }));
  is_a_race(between([](place&) {}));
}

// Also inside graphs, where random schedules enqueue the nodes one by one.
BOOST_AUTO_TEST_CASE(graphs) {
  const auto forked = [](bool joined, bool before, bool after) {
    return [=](place& p) {
      p.m.b.begin_capture(p.a);
      p.write(p.a, p.x);
      p.order(p.a, p.of_a, p.b);
      p.write(p.b, p.y);
      p.order(p.b, p.of_b, p.a);
      if (joined) p.write(p.a, p.y);
      const auto g = p.m.b.end_capture(p.a);
      p.write(p.b, p.x);
      if (before) p.order(p.b, p.of_b, p.a);
      p.m.b.launch_graph(g, p.a);
      p.m.b.launch_graph(g, p.a);
      if (after) p.order(p.a, p.of_a, p.b);
      p.write(p.b, p.y);
    };
  };
  is_none(forked(true, true, true));
  is_none(forked(false, true, true));
  is_a_race(forked(true, false, true));
  is_a_race(forked(true, true, false));
  int found = 0;
  for (int seed = 0; seed < 10; ++seed) {
    place p(random_machine(seed));
    p.m.b.begin_capture(p.a);
    p.m.b.record(p.of_a, p.a), p.m.b.wait(p.b, p.of_a);
    p.write(p.a, p.x), p.write(p.b, p.x);
    p.order(p.b, p.of_b, p.a);
    const auto g = p.m.b.end_capture(p.a);
    try {
      p.m.b.launch_graph(g, p.a);
      p.finish();
    } catch (const fr::device_error&) {
      ++found;
    }
  }
  BOOST_TEST(found == 10);
}

// Launches of one graph do not overlap, whatever their streams.
BOOST_AUTO_TEST_CASE(launches_of_one_graph) {
  const auto captured = [](place& p) {
    p.m.b.begin_capture(p.a);
    p.write(p.a, p.x);
    return p.m.b.end_capture(p.a);
  };
  is_none([=](place& p) {
    const auto g = captured(p);
    for (int i = 0; i < 3; ++i) p.m.b.launch_graph(g, p.a), p.m.b.launch_graph(g, p.b);
  });
  is_a_race([=](place& p) {
    const auto g = captured(p), h = captured(p);
    p.m.b.launch_graph(g, p.a), p.m.b.launch_graph(h, p.b);
  });
}

// Work of a failed device counts as complete, as in ferry.
BOOST_AUTO_TEST_CASE(broken_devices) {
  for (const bool again : {false, true}) {
    place p("schedule=eager");
    const std::vector uses{use(p.x, n, true, false)};
    try {
      p.m.b.launch(p.b, {"fails", uses, [](const fr::detail::relocation&) { throw std::runtime_error("no"); }});
    } catch (const fr::device_error&) {
    }
    if (again) p.m.look.reset_errors();
    p.write(p.a, p.x);
    p.m.b.synchronize(p.a);
    if (again) p.m.b.synchronize(p.b);
  }
}

// The same seed gives the same program, with or without checks.
BOOST_AUTO_TEST_CASE(looking_changes_no_schedule) {
  for (int seed = 0; seed < 20; ++seed) {
    std::vector<std::size_t> pending[2];
    for (const bool check : {false, true}) {
      place p(random_machine(seed), check);
      for (int i = 0; i < 10; ++i) {
        p.write(p.a, p.x), p.order(p.a, p.of_a, p.b), p.read(p.b, p.x, p.y), p.order(p.b, p.of_b, p.a);
        if (i % 4 == 0) (void)p.m.b.is_done(p.a);
        pending[check].push_back(p.m.look.pending_operations());
      }
    }
    BOOST_TEST(pending[0] == pending[1], boost::test_tools::per_element());
  }
}

// The parts of a joint operation end together. Work after one part runs after all of them.
BOOST_AUTO_TEST_CASE(joint_operations) {
  const auto meet = [](bool writes_early) {
    return [=](place& p) {
      const auto both = std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"both", 2, [] {}});
      const std::vector of_x{use(p.x, n, true, false)}, of_y{use(p.y, n, false, true)};
      p.write(p.a, p.x);
      p.m.b.join_rendezvous(p.a, both, of_x);
      p.m.b.join_rendezvous(p.b, both, of_y);
      if (writes_early) p.write(p.a, p.y + n - 1);
      p.write(p.b, p.x);
      if (!writes_early) p.read(p.b, p.y, p.y + n);
    };
  };
  is_none(meet(false));
  is_none(meet(true));
  is_a_race([](place& p) {
    const auto both = std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"both", 2, [] {}});
    const std::vector of_x{use(p.x, n, true, false)};
    p.write(p.b, p.x);
    p.m.b.join_rendezvous(p.a, both, of_x);  // b joins after x was written, but a has already read x
    p.m.b.join_rendezvous(p.b, both, {});
  });
}

// Indices of vector clocks are reused after the CPU has observed that their work is complete.
BOOST_AUTO_TEST_CASE(lines_serve_again) {
  fr::detail::sim::race_checker races;
  auto first = races.open();
  first->tick = 5;
  const std::size_t index = first->index;
  first.reset();
  const auto second = races.open();
  BOOST_TEST(second->index != index);
  races.cpu.set(index, 5);
  const auto third = races.open();
  BOOST_TEST((third->index == index && third->tick == 5));
}

// Many short-lived streams.
BOOST_AUTO_TEST_CASE(streams_that_come_and_go) {
  is_none([](place& p) {
    for (int i = 0; i < 50; ++i) {
      const auto s = p.m.stream(i % 2);
      p.write(s, p.x);
      if (i % 3 == 0) p.m.b.synchronize(s);
      p.m.b.record(i % 2 ? p.of_b : p.of_a, s);
      p.m.b.synchronize(i % 2 ? p.of_b : p.of_a);
      p.m.b.destroy_stream(s);
    }
  });
  is_a_race([](place& p) {
    for (int i = 0; i < 5; ++i) {
      const auto s = p.m.stream(0);
      p.write(s, p.x);
      p.m.b.destroy_stream(s);
    }
    while (p.m.look.pending_operations() > 0) (void)p.m.b.is_done(p.a);
  });
}

BOOST_AUTO_TEST_SUITE_END()
