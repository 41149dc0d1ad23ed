// The simulated backend: guarantees of its schedules, and the errors that they expose.
#include <atomic>
#include <numeric>
#include <set>
#include <thread>

#include "sim/scheduler.hpp"
#include "sim_fixture.hpp"

using namespace sim_test;

BOOST_AUTO_TEST_SUITE(sim_schedule)

BOOST_AUTO_TEST_CASE(kernels_and_copies_give_the_same_bytes_under_every_schedule) {
  for (const auto& how : both) {
    sim_machine m(how);
    constexpr std::size_t n = 100;
    int *x = m.ints(n), *y = m.ints(n, 1);
    const auto s0 = m.stream(0), s1 = m.stream(1);
    const auto e0 = m.event(0), e1 = m.event(1);
    m.b.enable_peer_access(1, 0);
    std::vector<int> start(n);
    std::iota(start.begin(), start.end(), 0);
    m.b.copy(s0, x, start.data(), n * sizeof(int));
    start.assign(n, -1);  // pageable sources have already been read
    m.b.record(e0, s0);
    set(m, s1, y, n, 5);
    m.b.wait(s1, e0);
    for (int k = 0; k < 10; ++k) combine(m, s1, y, x, n, k);
    m.b.record(e1, s1);
    m.b.wait(s0, e1);
    m.b.copy(s0, x, y, n * sizeof(int));
    const auto got = fetch(m, s0, x, n);
    for (std::size_t i = 0; i < n; ++i) {
      int v = 5;
      for (int k = 0; k < 10; ++k) v = v * 3 + int(i) + k;
      BOOST_TEST_REQUIRE(got[i] == v);
    }
    m.b.synchronize(s1);
    BOOST_TEST(m.b.is_done(s1));
  }
}

BOOST_AUTO_TEST_CASE(a_missing_wait_shows) {
  int wrong = 0;
  for (int seed = 0; seed < 100; ++seed) {
    sim_machine m(random_machine(seed));
    int *x = m.ints(4), *y = m.ints(4);
    const auto s0 = m.stream(), s1 = m.stream();
    set(m, s0, y, 4, 0), m.b.synchronize(s0);
    set(m, s0, x, 4, 7);
    combine(m, s1, y, x, 4, 0);
    wrong += fetch(m, s1, y, 4)[0] != 7;
  }
  BOOST_TEST(wrong > 20);
  BOOST_TEST(wrong < 100);
}

// As in CUDA: a stream waits for the event's state at the time of the call; the CPU polls the current state.
BOOST_AUTO_TEST_CASE(an_event_recorded_again_stands_for_the_later_work) {
  int stream_went_ahead = 0;
  for (int seed = 0; seed < 50; ++seed) {
    sim_machine m(random_machine(seed));
    const auto s = m.stream(), t = m.stream();
    const auto e = m.event();
    std::atomic<bool> waits{false}, go{false}, later{false};
    std::atomic<std::thread::id> waiter{};
    bool stream_saw = false, cpu_saw = false;
    m.b.run_on_host(s, [&] {
      if (std::this_thread::get_id() != waiter) return;
      waits = true;
      while (!go) std::this_thread::yield();
    });
    m.b.record(e, s);
    m.b.wait(t, e);
    m.b.run_on_host(t, [&] { stream_saw = later; });
    std::atomic<bool> over{false};
    std::thread other([&] {
      waiter = std::this_thread::get_id();
      m.b.synchronize(e);
      cpu_saw = later;
      over = true;
    });
    while (!waits && !over) std::this_thread::yield();
    if (waits) {
      m.b.run_on_host(s, [&] { later = true; });
      m.b.record(e, s);
    }
    go = true;
    other.join();
    BOOST_TEST(cpu_saw == waits, "seed " << seed);
    m.b.synchronize(t), m.b.synchronize(s);
    stream_went_ahead += waits && !stream_saw;
  }
  BOOST_TEST(stream_went_ahead > 0);
}

BOOST_AUTO_TEST_CASE(an_unfinished_write_shows_as_ones_and_reads_win) {
  sim_machine m(random_machine(5));
  int* y = m.ints(8);
  const auto s = m.stream();
  set(m, s, y, 8, 1);
  std::vector uses{use(y, 8, false, true), use(y + 6, 2, true, false)};
  m.b.launch(s, {"half", uses, [=](const fr::detail::relocation& at) { std::fill_n(at(y), 4, 2); }});
  BOOST_TEST(fetch(m, s, y, 8) == (std::vector{2, 2, 2, 2, -1, -1, 1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_seed_one_order) {
  const auto order = [](int seed) {
    sim_machine m(random_machine(seed));
    auto ran = std::make_shared<std::vector<int>>();
    std::vector<fr::native_stream> streams;
    for (int i = 0; i < 5; ++i) streams.push_back(m.stream(i % 4));
    for (int i = 0; i < 50; ++i) m.b.run_on_host(streams[std::size_t(i) % 5], [ran, i] { ran->push_back(i); });
    for (const auto s : streams) m.b.synchronize(s);
    return *ran;
  };
  std::set<std::vector<int>> seen;
  for (int seed = 0; seed < 10; ++seed) {
    seen.insert(order(seed));
    BOOST_TEST(order(seed) == order(seed), boost::test_tools::per_element());
  }
  BOOST_TEST(seen.size() == 10u);
}

BOOST_AUTO_TEST_CASE(a_wait_uses_the_state_of_the_event_at_the_call) {
  for (int seed = 0; seed < 50; ++seed) {
    sim_machine m(random_machine(seed));
    const auto s0 = m.stream(), s1 = m.stream();
    const auto e = m.event();
    m.b.wait(s1, e);  // never recorded: no-op
    m.b.synchronize(e);
    BOOST_TEST(m.b.is_done(e));
    auto first = std::make_shared<bool>(false), seen = std::make_shared<bool>(false);
    m.b.run_on_host(s0, [=] { *first = true; });
    m.b.record(e, s0);
    m.b.wait(s1, e);
    m.b.run_on_host(s1, [=] { *seen = *first; });
    m.b.record(e, s1);  // records again: s1 must still wait for the first record
    m.b.synchronize(e);
    BOOST_TEST(*seen);
  }
}

BOOST_AUTO_TEST_CASE(pinned_sources_are_read_when_the_copy_runs_and_polling_makes_progress) {
  bool late = false;
  for (int seed = 0; seed < 50; ++seed) {
    sim_machine m(random_machine(seed));
    int *h = m.ints(1, 0, memory_kind::host), *d = m.ints(1);
    const auto s = m.stream();
    *h = 1;
    m.b.copy(s, d, h, sizeof(int));
    *h = 2;
    late |= fetch(m, s, d, 1)[0] == 2;
    set(m, s, d, 1, 3);
    int polls = 0;
    while (!m.b.is_done(s)) ++polls;
    BOOST_TEST(polls < 100);
    BOOST_TEST(m.look.pending_operations() == 0u);
  }
  BOOST_TEST(late);
}

BOOST_AUTO_TEST_CASE(late_readers_of_released_memory_see_poison) {
  bool poison = false;
  for (int seed = 0; seed < 50; ++seed) {
    sim_machine m(random_machine(seed));
    int *x = m.ints(1), *y = m.ints(1);
    const auto s = m.stream();
    set(m, s, x, 1, 1);
    m.b.copy(s, y, x, sizeof(int));
    m.b.release(memory_kind::device, 0, x, sizeof(int));
    const int got = fetch(m, s, y, 1)[0];
    poison |= got == static_cast<int>(0xDDDDDDDDu);
  }
  BOOST_TEST(poison);
}

BOOST_AUTO_TEST_CASE(work_of_a_destroyed_stream_still_runs) {
  sim_machine m(random_machine(3));
  auto ran = std::make_shared<int>(0);
  const auto s = m.stream(), t = m.stream();
  const auto e = m.event();
  for (int i = 0; i < 20; ++i) m.b.run_on_host(s, [ran] { ++*ran; });
  m.b.record(e, s);
  m.b.destroy_stream(s);
  m.b.wait(t, e);
  m.b.synchronize(t);
  BOOST_TEST(*ran == 20);
}

BOOST_AUTO_TEST_CASE(a_wait_that_cannot_end_is_a_deadlock) {
  fr::detail::sim::scheduler schedule(fr::detail::sim::parse_options("schedule=random:1"));
  auto lock = schedule.enter();
  auto never = std::make_shared<fr::detail::sim::signal>();
  never->who = "event 77";
  const auto q = schedule.open(lock, 0, 5);
  schedule.push(lock, *q, {"kernel", "axpy", {}, {never}, {}});
  const auto wait = [&] { schedule.wait(lock, "stream 5", [&] { return schedule.is_idle(*q); }); };
  check_throws<fr::deadlock>(wait, "the CPU waits for stream 5");
  check_throws<fr::deadlock>(wait, "stream 5 (device 0): 1 pending, first: kernel 'axpy', waits for event 77");
}

BOOST_AUTO_TEST_CASE(two_threads_hand_work_over) {
  for (const auto& how : both) {
    sim_machine m(how);
    int *x = m.ints(64), *y = m.ints(64);
    const auto s = m.stream(), t = m.stream();
    set(m, s, x, 64, 0), set(m, s, y, 64, 0), m.b.synchronize(s);
    const auto work = [&](fr::native_stream on, int* p) {  // own data, streams and events; shared runtime
      const auto mine = m.stream();
      const auto e = m.event();
      for (int i = 0; i < 200; ++i) {
        set(m, on, p, 64, i);
        m.b.record(e, on), m.b.wait(mine, e);
        combine(m, mine, p, p, 64, 1);
        m.b.record(e, mine), m.b.wait(on, e);
        if (i % 50 == 0) m.b.synchronize(e);
      }
      m.b.synchronize(on);
    };
    std::thread other(work, t, y);
    work(s, x);
    other.join();
    BOOST_TEST(fetch(m, s, x, 64)[63] == 199 * 4 + 1);
    BOOST_TEST(fetch(m, s, y, 64)[63] == 199 * 4 + 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
