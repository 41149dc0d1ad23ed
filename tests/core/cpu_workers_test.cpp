// Threads that run a kernel together: every part once, errors, second callers, ends of processes.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <ferry/core/detail/support/cpu_workers.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cpu_workers_cases {
namespace {

using ferry::detail::cpu_workers;
using ferry::detail::part_begin;
using ferry::detail::worker_scope;
using ferry::detail::workers_of_this_thread;

}  // namespace
}  // namespace cpu_workers_cases

BOOST_AUTO_TEST_SUITE(cpu_workers_cases)

BOOST_AUTO_TEST_CASE(each_part_is_run_once) {
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    cpu_workers w(threads);
    BOOST_TEST(w.threads() == threads);
    for (const std::size_t n : {0, 1, 2, 7, 64, 1000}) {
      for (int round = 0; round < 20; ++round) {
        std::vector<std::atomic<int>> runs(n);
        w.run(n, [&](std::size_t k) { ++runs[k]; });
        for (std::size_t k = 0; k != n; ++k) BOOST_REQUIRE(runs[k] == 1);
      }
    }
  }
}

// Each part waits until all have begun, which takes as many threads. They sleep at first.
BOOST_AUTO_TEST_CASE(parts_run_at_the_same_time) {
  cpu_workers w(4);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic<int> begun{0};
  w.run(4, [&](std::size_t) {
    ++begun;
    while (begun < 4) std::this_thread::yield();
  });
  BOOST_TEST(begun == 4);
}

// The part of the other thread takes longer than that of the caller.
BOOST_AUTO_TEST_CASE(a_job_ends_after_its_last_part) {
  cpu_workers w(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> begun{0}, ended{0};
    w.run(2, [&](std::size_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
      if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ++ended;
    });
    BOOST_TEST(ended == 2);
    while (ended < 2) std::this_thread::yield();
  }
}

// Jobs of equal numbers of parts give a thread the same ones, unless another thread is faster.
BOOST_AUTO_TEST_CASE(threads_keep_their_parts) {
  cpu_workers w(3);
  constexpr std::size_t n = 6;
  std::vector<std::thread::id> first(n);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread::id> threads(n);
    std::atomic<std::size_t> begun{0};
    w.run(n, [&](std::size_t k) {
      threads[k] = std::this_thread::get_id();
      ++begun;
      while (begun < 3) std::this_thread::yield();  // until all threads have a part
    });
    BOOST_TEST((threads[0] == std::this_thread::get_id()));
    if (round == 0) first = threads;
    for (const std::size_t own : {0, 2, 4}) BOOST_TEST((threads[own] == first[own]));
  }
}

BOOST_AUTO_TEST_CASE(the_error_of_the_lowest_part_is_rethrown_and_all_parts_are_run) {
  cpu_workers w(3);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> runs{0};
    const auto part = [&](std::size_t k) {
      ++runs;
      if (k % 5 == 3) throw std::runtime_error(std::to_string(k));
    };
    BOOST_CHECK_EXCEPTION(w.run(40, part), std::runtime_error,
                          [](const std::runtime_error& e) { return e.what() == std::string("3"); });
    BOOST_TEST(runs == 40);
  }
  w.run(2, [](std::size_t) {});  // the error is gone
}

// Parts are equal, and their ends meet.
BOOST_AUTO_TEST_CASE(parts_are_equal) {
  for (const std::size_t all : {0, 1, 5, 64, 1001})
    for (const std::size_t parts : {1, 3, 7, 64}) {
      BOOST_TEST(part_begin(all, 0, parts) == 0u);
      BOOST_TEST(part_begin(all, parts, parts) == all);
      for (std::size_t n = 0; n != parts; ++n) {
        const std::size_t size = part_begin(all, n + 1, parts) - part_begin(all, n, parts);
        BOOST_TEST((size == all / parts || size == all / parts + 1));
      }
    }
}

BOOST_AUTO_TEST_CASE(work_within_parts_runs_alone) {
  cpu_workers w(2);
  const worker_scope scope(&w);
  std::atomic<bool> has_workers{false};
  std::atomic<int> runs{0};
  w.run(2, [&](std::size_t) {
    if (workers_of_this_thread()) has_workers = true;
    w.run(3, [&](std::size_t) { ++runs; });
  });
  BOOST_TEST(!has_workers);
  BOOST_TEST(runs == 6);
  BOOST_TEST(workers_of_this_thread() == &w);
}

BOOST_AUTO_TEST_CASE(several_threads_may_call) {
  cpu_workers w(3);
  std::atomic<int> runs{0};
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 4; ++c)
      callers.emplace_back([&] {
        for (int round = 0; round < 200; ++round) w.run(5, [&](std::size_t) { ++runs; });
      });
  }
  BOOST_TEST(runs == 4 * 200 * 5);
}

#if !defined(__SANITIZE_THREAD__)
// fork() copies no thread. New threads may take the places in memory of those that are not there.
BOOST_AUTO_TEST_CASE(a_child_process_works_alone) {
  auto* const w = new cpu_workers(3);
  w->run(3, [](std::size_t) {});
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    std::atomic<int> runs{0};
    w->run(7, [&](std::size_t) { ++runs; });
    for (int k = 0; k < 4; ++k) std::thread([] { ::pause(); }).detach();
    delete w;
    ::_exit(runs == 7 ? 0 : 1);
  }
  int status = -1;
  BOOST_TEST((::waitpid(child, &status, 0) == child && status == 0));
  delete w;
}
#endif

BOOST_AUTO_TEST_SUITE_END()
