// A CPU thread waits while other threads enqueue more work on the same stream.
#include <atomic>
#include <string>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(waiting)

// R6: ferry does not re-record the event that a thread waits for; otherwise the wait would include all later work.
BOOST_AUTO_TEST_CASE(a_wait_on_a_busy_stream_ends) {
  int met = 0;
  for (int seed = 0; seed < 40; ++seed) {
    fr::simulation sim("devices=1;schedule=random:" + std::to_string(seed));
    fr::detail::backend& backend = sim.get().backend();
    fr::stream s;
    fr::unified_array<int> x({64}, 0), y({64}, 0);
    fr::default_stream(fr::device(0)).synchronize();
    std::atomic<bool> waits{false}, go{false}, later_ran{false};
    std::atomic<std::thread::id> waiter{};
    bool later_ran_first = false;
    backend.run_on_host(s.native(), [&] {  // usually run by the waiting thread
      if (std::this_thread::get_id() != waiter) return;
      waits = true;
      while (!go) std::this_thread::yield();
    });
    fr::fill(s, x, 1);
    std::atomic<bool> over{false};
    std::thread other([&] {
      waiter = std::this_thread::get_id();
      BOOST_TEST(std::as_const(x)[5] == 1);
      later_ran_first = later_ran;
      over = true;
    });
    while (!waits && !over) std::this_thread::yield();
    if (waits) {
      ++met;
      const auto work = [&] {
        for (int i = 0; i < 40; ++i) fr::fill(s, y, i), s.timeline().record_event();
      };
      work();
      backend.run_on_host(s.native(), [&] { later_ran = true; });
      work();
    }
    go = true;
    other.join();
    BOOST_TEST(!later_ran_first, "seed " << seed);
    BOOST_TEST((y[5] == 39 || !waits));
  }
  BOOST_TEST(met > 10);
}

BOOST_AUTO_TEST_SUITE_END()
