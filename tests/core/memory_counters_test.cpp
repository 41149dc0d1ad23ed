// Per-thread, per-tag and per-name counters.
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <thread>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(memory_counters)

BOOST_AUTO_TEST_CASE(sums_are_exact_when_threads_rest) {
  constexpr int threads = 8, rounds = 5000;
  fr::detail::memory_counters counters(2);
  // One thread checks them, because Boost.Test is single-threaded.
  std::vector<fr::detail::memory_counts> own(threads), other(threads);
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        for (int i = 0; i < rounds; ++i) {
          counters.add(1, 1000);
          if (i % 2 == 0) counters.remove(1, 1000);
        }
        own[static_cast<std::size_t>(t)] = counters.of_this_thread(1);
        other[static_cast<std::size_t>(t)] = counters.of_this_thread(0);
      });
  }
  for (std::size_t t = 0; t < own.size(); ++t)
    BOOST_TEST((own[t].allocations == std::uint64_t{rounds} && other[t].allocations == 0u));
  const fr::detail::memory_counts sum = counters.sum(1);
  BOOST_TEST(sum.allocations == std::uint64_t{threads} * rounds);
  BOOST_TEST(sum.current_bytes() == std::int64_t{threads} * rounds / 2 * 1000);
  BOOST_TEST(counters.peak(1) >= static_cast<std::size_t>(sum.current_bytes()));
  std::jthread([&] {  // another thread frees
    for (int i = 0; i < threads * rounds / 2; ++i) counters.remove(1, 1000);
    BOOST_TEST(counters.of_this_thread(1).current_bytes() == -sum.current_bytes());
  })
      .join();
  BOOST_TEST((counters.sum(1).current_bytes() == 0 && counters.sum(1).current_allocations() == 0));
  BOOST_TEST(counters.sum(0).allocations == 0u);
}

BOOST_AUTO_TEST_CASE(peaks_of_one_thread_are_exact) {
  fr::detail::memory_counters counters(1);
  counters.add(0, 100);
  counters.remove(0, 100);
  counters.add(0, 70);
  BOOST_TEST(counters.peak(0) == 100u);
  for (std::size_t i = 0; i < 50; ++i) counters.add(0, std::size_t{1} << 20);  // above the step, and down again
  for (std::size_t i = 0; i < 50; ++i) counters.remove(0, std::size_t{1} << 20);
  BOOST_TEST(counters.peak(0) == 70 + (std::size_t{50} << 20));
  counters.remove(0, 70);
  BOOST_TEST(counters.sum(0).current_bytes() == 0);
}

BOOST_AUTO_TEST_CASE(peaks_of_several_threads_are_right_within_a_step_each) {
  fr::detail::memory_counters counters(1);
  constexpr std::size_t each = std::size_t{64} << 20, threads = 4;
  {
    std::vector<std::jthread> all;
    for (std::size_t t = 0; t < threads; ++t)
      all.emplace_back([&] {
        for (std::size_t i = 0; i < 64; ++i) counters.add(0, each / 64);
      });
  }
  std::jthread([&] {
    for (std::size_t i = 0; i < 64 * threads; ++i) counters.remove(0, each / 64);
  }).join();
  constexpr std::size_t wrong = threads * static_cast<std::size_t>(fr::detail::memory_counters::step);
  BOOST_TEST(counters.peak(0) >= threads * each - wrong);
  BOOST_TEST(counters.peak(0) <= threads * each + wrong);
}

struct freed_late {  // freed by a thread_local destructor, after the thread's counters were dropped
  fr::device_array<char> a;
};
thread_local freed_late late;

BOOST_AUTO_TEST_CASE(what_threads_free_while_they_end_is_counted) {
  fr::simulation sim("devices=1");
  for (int i = 0; i < 3; ++i)
    std::jthread([] {
      late.a = fr::device_array<char>({1000});
      fr::device_array<char> b({1000});
    }).join();
  const fr::detail::memory_counts counts = sim.get().memory().arrays().counts(fr::memory_kind::device, 0);
  BOOST_TEST(counts.allocations == 6u);
  BOOST_TEST(counts.current_bytes() == 0);
}

BOOST_AUTO_TEST_CASE(arrays_are_counted_by_kind_device_tag_and_name) {
  fr::simulation sim("devices=2");
  fr::detail::memory_accounting& accounting = sim.get().memory();
  const auto held = [&](const char* label) {
    for (const fr::detail::label_use& u : accounting.arrays().labels().all())
      if (fr::detail::label_text(u.kind, u.label) == label) return u;
    return fr::detail::label_use{};
  };
  {
    fr::device_array<char> plain({512}, fr::device(1));
    const fr::memory_tag_scope solver{"solver"};
    fr::unified_array<char> u({1024});
    {
      const fr::memory_tag_scope io{"io"};
      fr::device_array<char> buffer({2048});
      BOOST_TEST(held("io").bytes == 2048u);
    }
    fr::device_array<char> v({512});
    v.name("v");
    BOOST_TEST(held("io").bytes == 0u);
    BOOST_TEST(held("io").peak_bytes == 2048u);
    BOOST_TEST(held("solver").bytes == 1536u);
    BOOST_TEST(held("solver").allocations == 2u);
    BOOST_TEST(held("v").bytes == 512u);
    v.name("w");
    BOOST_TEST((held("v").bytes == 0u && held("w").bytes == 512u));
    v.resize({1024});
    BOOST_TEST(held("w").bytes == 1024u);
    BOOST_TEST(accounting.arrays().counts(fr::memory_kind::unified, 0).current_bytes() == 1024);
    BOOST_TEST(accounting.arrays().counts(fr::memory_kind::device, 1).current_bytes() == 512);
    BOOST_TEST(accounting.arrays().counts_of_this_thread(fr::memory_kind::device, 1).allocations == 1u);
  }
  for (const fr::detail::label_use& u : accounting.arrays().labels().all())
    BOOST_TEST((u.bytes == 0u && u.allocations == 0u));
  for (const auto kind : {fr::memory_kind::device, fr::memory_kind::unified, fr::memory_kind::host})
    for (const fr::device d : fr::devices())
      BOOST_TEST(accounting.arrays().counts(kind, d.index()).current_bytes() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
