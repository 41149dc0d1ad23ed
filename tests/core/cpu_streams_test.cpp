// Streams that overlap: on the CPU as the device (FERRY_CPU=streams=overlap), and on simulated devices.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <ferry/core.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/sim_fixture.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"
#include "support/check_error.hpp"
#include "support/cpu_device.hpp"
#include "support/seeds.hpp"

namespace cpu_streams {
namespace {

using namespace sim_test;
using support::check_error;
using support::cpu_device;

constexpr const char* machines[] = {"streams=overlap;threads=1", "streams=overlap;threads=2",
                                    "streams=overlap;threads=2;check=on", "streams=overlap;devices=3;threads=2"};

// Returns true once done() does, and false if that takes too long.
template <class Done>
bool comes(Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done())
    if (std::chrono::steady_clock::now() > end)
      return false;
    else
      std::this_thread::yield();
  return true;
}

}  // namespace
}  // namespace cpu_streams

BOOST_AUTO_TEST_SUITE(cpu_streams)

// Each task ends when all have begun.
BOOST_AUTO_TEST_CASE(tasks_of_streams_meet) {
  for (const char* how : machines)
    for (const int n : {2, 40}) {
      const cpu_device cpu(how);
      std::atomic<int> begun{0}, met{0};
      std::vector<fr::stream> streams;
      for (int k = 0; k != n; ++k)
        streams.emplace_back(fr::devices()[static_cast<std::size_t>(k) % fr::devices().size()]);
      for (const fr::stream& s : streams)
        fr::host_task(s, [&, n] {
          ++begun;
          if (comes([&] { return begun == n; })) ++met;
        });
      for (const fr::stream& s : streams) s.synchronize();
      BOOST_TEST(met == n, how);
    }
}

// The program runs on while a task waits for it, and so do a fill, an expression and a copy of another stream.
BOOST_AUTO_TEST_CASE(work_of_another_stream_and_the_program_overlap_with_a_task) {
  for (const char* how : machines) {
    const cpu_device cpu(how);
    const fr::stream s, t;
    std::atomic<bool> filled{false}, sent{false};
    std::atomic<int> seen{0};
    fr::unified_array<int> u({1000}, 0), v({1000}, 0), w({1000}, 0);
    fr::host_task(s, [&] { seen += comes([&] { return filled && sent; }); });
    fr::fill(t, u, 3);
    fr::assign(t, v, u + 1);
    fr::copy(t, v, w);
    fr::host_task(
        t, [&](fr::mdspan<const int, 1> a) { filled = a[999] == 4; }, fr::in(w));
    BOOST_TEST(!s.is_done());
    sent = true;
    s.synchronize();
    BOOST_TEST(seen == 1, how);
  }
}

// Random work on random streams, in the order of the arrays.
BOOST_AUTO_TEST_CASE(random_programs) {
  constexpr std::size_t n = 3000;
  for (const char* how : machines)
    for (unsigned seed = 0; seed != support::seeds(8); ++seed) {
      std::mt19937 dice(seed);
      const cpu_device cpu(how);
      const auto below = [&](std::size_t k) { return dice() % k; };
      std::vector<fr::stream> streams;
      for (std::size_t k = 0; k != 4; ++k) streams.emplace_back(fr::devices()[k % fr::devices().size()]);
      std::vector<fr::unified_array<long>> a;
      std::array<long, 5> expected{};
      for (std::size_t k = 0; k != expected.size(); ++k) a.emplace_back(fr::extents<1>{n}, 0);
      for (int step = 0; step != 200; ++step) {
        const fr::stream& s = streams[below(4)];
        const std::size_t x = below(5), y = (x + 1 + below(4)) % 5;
        const long by = static_cast<long>(below(100));
        switch (below(6)) {
          case 0: fr::fill(s, a[x], by), expected[x] = by; break;
          case 1: fr::copy(s, a[x], a[y]), expected[y] = expected[x]; break;
          case 2: fr::assign(s, a[x], 3 * a[x] + a[y] + by), expected[x] = 3 * expected[x] + expected[y] + by; break;
          case 3:
            fr::host_task(
                s,
                [by](fr::mdspan<const long, 1> from, fr::mdspan<long, 1> to) {
                  for (std::size_t i = 0; i != n; ++i) to[i] -= by * from[i];
                },
                fr::in(a[x]), fr::inout(a[y]));
            expected[y] -= by * expected[x];
            break;
          case 4: BOOST_TEST_REQUIRE(static_cast<long>(fr::sum(a[x])) == static_cast<long>(n) * expected[x]); break;
          default:
            BOOST_TEST_REQUIRE(std::as_const(a[x])[below(n)] == expected[x], how << ", seed " << seed);
            a[x][0] += 1, a[x][0] -= 1;
        }
        if (const long most = 1000000; std::abs(expected[x]) > most || std::abs(expected[y]) > most)
          for (const std::size_t k : {x, y}) fr::fill(s, a[k], 1), expected[k] = 1;
      }
      for (std::size_t k = 0; k != expected.size(); ++k)
        for (const long e : std::as_const(a[k])) BOOST_TEST_REQUIRE(e == expected[k], how << ", seed " << seed);
    }
}

// The branches of a graph, too: at each launch.
BOOST_AUTO_TEST_CASE(branches_of_a_graph_meet) {
  for (const char* how : machines) {
    const cpu_device cpu(how);
    const fr::stream s, t;
    std::atomic<int> begun{0}, met{0};
    fr::unified_array<int> u({100}, 0), v({100}, 0);
    const auto task = [&](fr::mdspan<int, 1> a) {
      const int round = begun++ / 2;
      if (comes([&] { return begun >= 2 * round + 2; })) ++met;
      a[7] += 1;
    };
    fr::graph g = fr::capture(s, [&] {
      fr::host_task(s, task, fr::inout(u));
      fr::host_task(t, task, fr::inout(v));
      fr::assign(s, u, u + v);
    });
    for (int round = 0; round != 10; ++round) g.launch(s);
    s.synchronize();
    BOOST_TEST(met == 20, how);
    BOOST_TEST((std::as_const(v)[7] == 10 && std::as_const(u)[7] == 10 + 55));
  }
}

// Errors of work that runs later are reported where its stream or its arrays are next used.
BOOST_AUTO_TEST_CASE(errors_are_reported_later) {
  for (const char* how : machines) {
    const cpu_device cpu(how);
    const fr::stream s;
    fr::unified_array<int> u({10}, 1);
    fr::unified_array<long> at({10}, 77);
    std::atomic<bool> go{false};
    fr::host_task(
        s,
        [&](int*) {
          comes([&] { return go.load(); });
          throw std::runtime_error("no salt left");
        },
        fr::inout(u));
    go = true;
    check_error<fr::host_task_error>([&] { (void)std::as_const(u)[0]; }, {"no salt left"});
    fr::unified_array<int> v({10}, 1);
    check_error<fr::device_error>(
        [&] {
          fr::assign(s, v, fr::gather(u, at));
          s.synchronize();
        },
        {"77"});
    fr::detail::sim::inspector& look = dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend());
    look.reset_errors();
  }
}

// All work is done when the machine ends.
BOOST_AUTO_TEST_CASE(the_end_of_a_machine_waits) {
  std::atomic<int> done{0};
  {
    const cpu_device cpu("streams=overlap");
    const fr::stream s;
    for (int k = 0; k != 50; ++k)
      fr::host_task(s, [&] {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        ++done;
      });
  }
  BOOST_TEST(done == 50);
}

BOOST_AUTO_TEST_CASE(races_are_found) {
  for (int round = 0; round != 20; ++round) {
    sim_machine m("schedule=overlap;check=races;threads=2");
    int* const x = m.ints(100);
    const auto s = m.stream(), t = m.stream();
    const auto e = m.event();
    set(m, s, x, 100, 1);
    m.b.record(e, s), m.b.wait(t, e);
    set(m, t, x, 100, 2);
    BOOST_TEST(fetch(m, t, x, 100)[99] == 2);
    const auto unordered = [&] {
      set(m, s, x, 100, 3);
      m.b.synchronize(s);
      m.b.synchronize(t);
    };
    (void)fetch(m, s, x, 1);
    set(m, t, x, 100, 4);
    check_throws<fr::device_error>(unordered, "set");
  }
}

// The program may change its memory after the copy was submitted, whatever its size.
BOOST_AUTO_TEST_CASE(copies_from_pageable_memory_have_read_it) {
  for (const std::size_t n : {100u, 16384u, 100000u}) {
    sim_machine m("schedule=overlap;threads=2");
    int* const x = m.ints(n);
    const auto s = m.stream();
    for (int round = 0; round != 20; ++round) {
      std::vector<int> source(n, round);
      m.b.run_on_host(s, [] { std::this_thread::sleep_for(std::chrono::microseconds(500)); });
      m.b.copy(s, x, source.data(), n * sizeof(int));
      source.assign(n, -1);
      BOOST_TEST((fetch(m, s, x, n) == std::vector<int>(n, round)));
    }
  }
}

// A kernel of a stream runs on several threads: its parts wait for each other.
BOOST_AUTO_TEST_CASE(kernels_of_streams_run_on_several_threads) {
  sim_machine m("schedule=overlap;threads=3");
  const auto s = m.stream();
  std::atomic<int> begun{0}, met{0};
  m.b.launch(s, {"meet", {}, [&](const fr::detail::relocation&) {
                   fr::detail::over_parts(12, 1, [&](std::size_t, std::size_t) {
                     ++begun;
                     if (comes([&] { return begun >= 3; })) ++met;
                   });
                 }});
  m.b.synchronize(s);
  BOOST_TEST(met == 12);
}

// Bytes beside a kernel's arguments are checked if nothing else runs meanwhile.
BOOST_AUTO_TEST_CASE(writes_outside_are_found) {
  sim_machine m("schedule=overlap;threads=2");
  int* const x = m.ints(100);
  const auto s = m.stream();
  m.b.launch(s, {"spill", std::vector{use(x, 100, false, true)}, [x](const fr::detail::relocation&) { x[100] = 1; }});
  check_throws<fr::device_error>([&] { m.b.synchronize(s); }, "spill");
}

BOOST_AUTO_TEST_CASE(work_that_can_never_run_is_a_deadlock) {
  sim_machine m("devices=2;schedule=overlap");
  const auto s = m.stream(0), t = m.stream(1);
  const auto part = [](const char* name) {
    return std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{name, 2, [] {}});
  };
  const auto a = part("first"), b = part("second");
  m.b.join_rendezvous(s, a, {}), m.b.join_rendezvous(s, b, {});
  m.b.join_rendezvous(t, b, {}), m.b.join_rendezvous(t, a, {});
  check_throws<fr::deadlock>([&] { m.b.synchronize(s); }, "'first' of 2 streams");
}

// Joint operations, with streams that run ahead of each other.
BOOST_AUTO_TEST_CASE(streams_meet_in_joint_operations) {
  sim_machine m("devices=2;schedule=overlap;threads=2");
  const auto s = m.stream(0), t = m.stream(1);
  int *x = m.ints(1, 0), *y = m.ints(1, 1);
  set(m, s, x, 1, 1), set(m, t, y, 1, 1);
  for (int round = 0; round != 300; ++round) {
    const auto sum =
        std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"sum", 2, [=] { *x = *y = (*x + *y) % 1000; }});
    m.b.join_rendezvous(s, sum, std::vector{use(x, 1, true, true)});
    m.b.join_rendezvous(t, sum, std::vector{use(y, 1, true, true)});
    combine(m, round % 2 == 0 ? s : t, round % 2 == 0 ? x : y, round % 2 == 0 ? x : y, 1, -1);
  }
  int a = 1, b = 1;
  for (int round = 0; round != 300; ++round) {
    a = b = (a + b) % 1000;
    int& changed = round % 2 == 0 ? a : b;
    changed = changed * 4 - 1;
  }
  BOOST_TEST(fetch(m, s, x, 1).front() == a);
  BOOST_TEST(fetch(m, t, y, 1).front() == b);
}

// A thread that waits runs operations of its stream, but no joint operations: another thread runs these.
BOOST_AUTO_TEST_CASE(joint_operations_behind_others) {
  sim_machine m("devices=2;schedule=overlap;threads=2");
  const auto s = m.stream(0), t = m.stream(1);
  int* const x = m.ints(1, 0);
  set(m, s, x, 1, 0);
  for (int round = 0; round != 500; ++round) {
    const auto streams = static_cast<std::size_t>(1 + round % 2);
    const auto sum = std::make_shared<fr::detail::rendezvous>(
        fr::detail::rendezvous{"sum", streams, [=] { *x = (2 * *x + 1) % 1000; }});
    combine(m, s, x, x, 1, 0);
    m.b.join_rendezvous(s, sum, std::vector{use(x, 1, true, true)});
    if (streams == 2) m.b.join_rendezvous(t, sum, {});
    combine(m, s, x, x, 1, -3 * 3);
    m.b.synchronize(s);
    *x %= 1000;
  }
  int expected = 0;
  for (int round = 0; round != 500; ++round) expected = ((2 * (expected * 4) + 1) % 1000 * 4 - 9) % 1000;
  BOOST_TEST(fetch(m, s, x, 1).front() == expected);
}

#if !defined(__SANITIZE_THREAD__)
// fork() copies no thread: the child process runs its work when it waits, and ends.
BOOST_AUTO_TEST_CASE(a_child_process_works_alone) {
  auto m = std::make_unique<sim_machine>("schedule=overlap;threads=2");
  int* const x = m->ints(100);
  const auto s = m->stream();
  for (int round = 0; round != 20; ++round) {
    set(*m, s, x, 100, 1);
    m->b.synchronize(s);
    const pid_t child = ::fork();  // the thread that ran the operation may still use the tables
    if (child == 0) {
      ::alarm(10);
      combine(*m, s, x, x, 100, 1);
      const bool right = fetch(*m, s, x, 100)[99] == 5;
      m.reset();
      ::_exit(right ? 0 : 1);
    }
    int status = -1;
    BOOST_REQUIRE((::waitpid(child, &status, 0) == child && status == 0));
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
