// The simulator's race checker reports all unordered accesses in every schedule, and nothing else.
#include <functional>
#include <stdexcept>

#include "ferry/core/detail/backend/pool_backend.hpp"
#include "sim/race_checker.hpp"
#include "sim_fixture.hpp"

using namespace sim_test;

namespace race_checker {
namespace {

constexpr std::size_t n = 64;

// A simulated runtime with two streams on two devices, and memory of both kinds.
struct place {
  explicit place(const std::string& options, bool check = true)
      : m("devices=2;" + std::string(check ? "check=races;" : "") + options),
        x(m.ints(2 * n, 0, memory_kind::unified)),
        y(m.ints(2 * n, 0, memory_kind::unified)),
        a(m.stream(0)),
        b(m.stream(1)),
        of_a(m.event(0)),
        of_b(m.event(1)) {}
  void write(fr::native_stream s, int* p) { set(m, s, p, n, 1); }
  void read(fr::native_stream s, int* p, int* to) {
    const std::vector uses{use(p, n, true, false), use(to, n, true, true)};
    m.b.launch(s, {"read", uses, [=](const fr::detail::relocation& at) { std::copy_n(at(p), n, at(to)); }});
  }
  void order(fr::native_stream first, fr::native_event e, fr::native_stream then) {
    m.b.record(e, first);
    m.b.wait(then, e);
  }
  void finish() {
    m.b.synchronize(a);
    m.b.synchronize(b);
    m.b.synchronize(a);  // its device may have failed while b was waited for
  }
  sim_machine m;
  int *x, *y;
  fr::native_stream a, b;
  fr::native_event of_a, of_b;
};

using program = std::function<void(place&)>;

// What the checker reports; empty if there is nothing. The same in all schedules.
void each_schedule(const program& p, const std::function<void(const std::string&)>& look) {
  for (int seed = -1; seed < 12; ++seed) {
    place here(seed < 0 ? "schedule=eager" : random_machine(seed));
    std::string said;
    try {
      p(here);
      here.finish();
    } catch (const fr::device_error& e) {
      said = e.what();
    }
    BOOST_TEST_CONTEXT((seed < 0 ? "eager" : "seed " + std::to_string(seed))) look(said);
  }
}
void is_a_race(const program& p, const std::string& part = "race: ") {
  each_schedule(p, [&](const std::string& said) { BOOST_TEST(said.find(part) != said.npos, "said: " << said); });
}
void is_none(const program& p) {
  each_schedule(p, [](const std::string& said) { BOOST_TEST(said == ""); });
}

}  // namespace
}  // namespace race_checker

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

BOOST_AUTO_TEST_CASE(bytes_that_live_again_have_no_past) {
  is_none([](place& p) {
    int* const z = p.m.ints(n, 0, memory_kind::unified);
    p.write(p.a, z);
    p.m.b.synchronize(p.a);
    p.m.b.release(memory_kind::unified, 0, z, n * sizeof(int));
  });
  const auto reused = [](bool freed_behind) {
    return [=](place& p) {
      fr::detail::pool_backend& pools = *p.m.b.pools();
      const fr::detail::native_pool pool = pools.create_pool(memory_kind::host, 0, {});
      int* const z = static_cast<int*>(pools.allocate(pool, n * sizeof(int), p.a));
      p.order(p.a, p.of_a, p.b);
      p.write(p.b, z);
      if (freed_behind) p.order(p.b, p.of_b, p.a);
      pools.free(z, p.a);
      p.write(p.b, static_cast<int*>(pools.allocate(pool, n * sizeof(int), p.b)));
    };
  };
  is_none(reused(true));
  is_a_race(reused(false));
}

BOOST_AUTO_TEST_CASE(discarding_is_writing) {
  is_a_race([](place& p) { p.write(p.a, p.x), p.m.b.discard(p.b, p.x, n * sizeof(int)); }, "discard");
  is_none([](place& p) { p.write(p.a, p.x), p.m.b.prefetch(p.b, p.x, n * sizeof(int), {1}); });
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

// A release counts as a CPU access: the CPU must have observed that all uses are complete.
BOOST_AUTO_TEST_CASE(release_while_in_use) {
  const auto release = [](place& p, int* x) { p.m.b.release(memory_kind::unified, 0, x, 2 * n * sizeof(int)); };
  is_a_race([&](place& p) { p.write(p.a, p.x), release(p, p.x); }, "the CPU");
  is_a_race([&](place& p) { p.read(p.b, p.x, p.y), release(p, p.x); }, "kernel 'read' on stream ");
  is_a_race([&](place& p) { p.write(p.a, p.x), p.m.b.synchronize(p.b), release(p, p.x); });
  is_a_race(
      [&](place& p) { p.m.b.record(p.of_a, p.a), p.write(p.a, p.x), p.m.b.synchronize(p.of_a), release(p, p.x); });
  is_none([&](place& p) { p.write(p.a, p.x), p.m.b.synchronize(p.a), release(p, p.x); });
  is_none([&](place& p) { p.write(p.a, p.x), p.order(p.a, p.of_a, p.b), p.m.b.synchronize(p.b), release(p, p.x); });
  is_none([&](place& p) { p.write(p.a, p.x), release(p, p.y); });
  is_a_race([](place& p) {
    std::vector<int> pageable(2 * n);
    p.m.b.pin(pageable.data(), pageable.size() * sizeof(int));
    p.write(p.a, pageable.data());
    p.m.b.unpin(pageable.data(), pageable.size() * sizeof(int));
  });
}

namespace {

void cpu(place& p, int* x, bool writes) { p.m.b.host_access(use(x, n, !writes, writes)); }

}  // namespace

// host_access() gives the backend the time at which the CPU was granted an access.
BOOST_AUTO_TEST_CASE(accesses_of_the_cpu) {
  is_a_race([](place& p) { p.write(p.a, p.x), cpu(p, p.x, false); }, "the CPU's access reads");
  is_a_race([](place& p) { p.read(p.a, p.x, p.y), cpu(p, p.x, true); }, "the CPU's access writes");
  is_a_race([](place& p) { p.write(p.a, p.x), p.m.b.synchronize(p.b), cpu(p, p.x, true); });
  is_none([](place& p) { p.write(p.a, p.x), p.m.b.synchronize(p.a), cpu(p, p.x, true), p.write(p.b, p.x); });
  is_none([](place& p) { p.read(p.a, p.x, p.y), cpu(p, p.x, false), p.read(p.b, p.x, p.x + n); });
  is_none([](place& p) { p.write(p.a, p.x), cpu(p, p.y, true), p.m.b.synchronize(p.a), cpu(p, p.x, false); });
}

BOOST_AUTO_TEST_CASE(tasks_of_the_cpu) {
  const auto task = [](place& p, fr::native_stream s, int* x, bool writes) {
    const auto touched = use(x, n, !writes, writes);
    p.m.b.run_on_host_using(s, [] {}, {&touched, 1});
  };
  is_a_race([&](place& p) { p.write(p.a, p.x), task(p, p.b, p.x, false); }, "host task on stream ");
  is_a_race([&](place& p) { task(p, p.b, p.x, true), cpu(p, p.x, false); });
  is_none([&](place& p) { p.write(p.a, p.x), task(p, p.a, p.x, true), p.read(p.a, p.x, p.y); });
}

// Each kind of unordered access, once.
BOOST_AUTO_TEST_CASE(planted_races) {
  const struct {
    const char* name;
    program plant;
  } all[] = {
      {"two kernels write", [](place& p) { p.write(p.a, p.x), p.write(p.b, p.x); }},
      {"a kernel reads what another writes", [](place& p) { p.write(p.a, p.x), p.read(p.b, p.x, p.y); }},
      {"a kernel writes what another reads", [](place& p) { p.read(p.a, p.x, p.y), p.write(p.b, p.x); }},
      {"a copy reads", [](place& p) { p.write(p.a, p.x), p.m.b.copy(p.b, p.y, p.x, n * sizeof(int)); }},
      {"a batch of copies writes",
       [](place& p) {
         const fr::detail::copy_part part{p.x, p.y, n * sizeof(int)};
         p.write(p.a, p.x), p.m.b.copy_batch(p.b, {&part, 1});
       }},
      {"a fill writes",
       [](place& p) {
         const int zero = 0;
         fr::detail::strided_bytes to{reinterpret_cast<std::byte*>(p.x), {sizeof(int)}};
         p.write(p.a, p.x), p.m.b.fill_strided(p.b, to, {sizeof(int), 1, {n}}, &zero);
       }},
      {"an event was recorded too early",
       [](place& p) { p.order(p.a, p.of_a, p.b), p.write(p.a, p.x), p.read(p.b, p.x, p.y); }},
      {"a graph writes",
       [](place& p) {
         p.m.b.begin_capture(p.a), p.write(p.a, p.x);
         const fr::native_graph g = p.m.b.end_capture(p.a);
         p.m.b.launch_graph(g, p.a), p.write(p.b, p.x);
       }},
      {"a joint operation writes",
       [](place& p) {
         auto m = std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"sum", 1, [] {}});
         const auto touched = use(p.x, n, true, true);
         p.write(p.a, p.x), p.m.b.join_rendezvous(p.b, m, {&touched, 1});
       }},
      {"pages lose their contents", [](place& p) { p.write(p.a, p.x), p.m.b.discard(p.b, p.x, n * sizeof(int)); }},
      {"the CPU releases",
       [](place& p) { p.write(p.a, p.x), p.m.b.release(memory_kind::unified, 0, p.x, 2 * n * sizeof(int)); }},
      {"a pool's memory is freed on another stream",
       [](place& p) {
         const auto pool = p.m.b.pools()->create_pool(memory_kind::device, 0, {});
         auto* const q = static_cast<int*>(p.m.b.pools()->allocate(pool, n * sizeof(int), p.a));
         const auto c = p.m.stream(0);
         p.m.b.synchronize(p.a), p.write(p.a, q), p.m.b.pools()->free(q, c), p.m.b.synchronize(c);
       }},
      {"the CPU reads what a kernel writes", [](place& p) { p.write(p.a, p.x), cpu(p, p.x, false); }},
      {"the CPU writes what a kernel reads", [](place& p) { p.read(p.a, p.x, p.y), cpu(p, p.x, true); }},
      {"a task of the CPU reads",
       [](place& p) {
         const auto touched = use(p.x, n, true, false);
         p.write(p.a, p.x), p.m.b.run_on_host_using(p.b, [] {}, {&touched, 1});
       }},
  };
  BOOST_TEST(std::size(all) == 15u);
  for (const auto& one : all) BOOST_TEST_CONTEXT(one.name) is_a_race(one.plant);
}

BOOST_AUTO_TEST_SUITE_END()
