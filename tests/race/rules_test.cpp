// Ordering rules that random programs rarely exercise, one case each.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "race/rules.hpp"
#include "support/counting_backend.hpp"

BOOST_AUTO_TEST_SUITE(rules)

// R7: the CPU waits for every use, however many there are.
BOOST_AUTO_TEST_CASE(the_cpu_waits_for_many_streams) {
  over_seeds(50, [] {
    constexpr std::size_t parts = 40;
    std::vector<fr::stream> streams;
    for (std::size_t i = 0; i < parts; ++i) streams.push_back(stream_on(i));
    fr::host_array<u32> x({parts * 8}, 0u);
    for (std::size_t i = 0; i < parts; ++i) {
      auto part = x.slice({8 * i, 8 * i + 8});
      fr::parallel_for(streams[i], 8, add_one{}, part);
    }
    for (const u32 e : std::as_const(x))
      if (e != 1) return false;
    return true;
  });
}

// R7: an access check for reading does not cover writing.
BOOST_AUTO_TEST_CASE(the_cpu_writes_behind_readers) {
  over_seeds(50, [] {
    fr::stream s = stream_on(0);
    fr::host_array<u32> x({64}, 1u), y({64}, 0u), z({64}, 0u);
    fr::default_stream(fr::devices()[0]).synchronize();
    fr::parallel_for(s, 64, add_from{}, y, fr::in(x));
    bool right = std::as_const(x)[5] == 1;
    for (std::size_t i = 0; i < 64; ++i) x[i] = 7;
    fr::parallel_for(s, 64, add_from{}, z, fr::in(x));
    right &= *std::as_const(x).begin() == 7;
    for (u32& e : x) e = 9;
    return right && all_are(y, 1) && all_are(z, 7);
  });
}

// R7: one access check is enough, until the next submission.
BOOST_AUTO_TEST_CASE(one_access_check_is_enough) {
  fr::unified_array<u32> x({64}, 1u);
  x[0] = 2;
  fr::detail::access_history& log = x.owner().get().history;
  std::atomic<bool> done{false}, in_time{false};
  log.lock();  // an access check would block here
  std::thread unlocking([&] {
    for (int ms = 0; !done && ms < 2000; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    in_time = done.load();
    log.unlock();
  });
  for (std::size_t i = 0; i < 64; ++i) x[i] = std::as_const(x)[0];
  done = true;
  unlocking.join();
  BOOST_TEST(in_time);
}

BOOST_AUTO_TEST_CASE(freed_bytes_are_not_touched_by_what_was_asked_before) {
  fr::unified_array<u32> x({64}, 1u);
  auto part = x.slice({0, 32});
  part[3] = 2;
  x.free();
  BOOST_CHECK_THROW(part[3] = 3, fr::use_after_free);
  BOOST_CHECK_THROW((void)std::as_const(part)[3], fr::use_after_free);
}

// R5: the event is recorded right after the work, before the stream's later work. R8: waits for the newest use first.
BOOST_AUTO_TEST_CASE(shared_arrays_are_marked_at_once) {
  support::call_counts calls;
  fr::detail::backend& below = backend();
  fr::runtime_scope scope(std::make_unique<support::counting_backend>(below, calls));
  fr::stream a = stream_on(0), b = stream_on(1);
  fr::unified_array<u32> x({64}, 0u), unrelated({64}, 0u);
  for (int i = 0; i < 6; ++i) fr::parallel_for(a, 64, add_one{}, unrelated);
  for (int i = 0; i < 3; ++i) fr::parallel_for(a, 64, add_one{}, x), fr::parallel_for(b, 64, add_one{}, x);
  fr::parallel_for(a, 64, add_one{}, x);
  const long records = calls.records;
  fr::parallel_for(a, 64, add_one{}, x);
  BOOST_TEST(calls.records == records + 1);
  fr::parallel_for(a, 64, add_one{}, unrelated);
  BOOST_TEST(calls.records == records + 1);
  auto left = x.slice({0, 32}), right = x.slice({32, 64});
  fr::parallel_for(a, 32, add_one{}, left), fr::parallel_for(a, 32, add_one{}, right);
  BOOST_TEST(calls.records == records + 3);
  const long waits = calls.stream_waits;
  fr::parallel_for(b, 64, add_one{}, x);
  BOOST_TEST(calls.stream_waits == waits + 1);  // for the second half, which implies the first
  BOOST_TEST(calls.records == records + 4);     // its own event
  BOOST_TEST((all_are(x, 10) && all_are(unrelated, 7)));
}

// R10
BOOST_AUTO_TEST_CASE(logs_stay_short) {
  std::vector<fr::stream> streams;
  for (std::size_t i = 0; i < 4; ++i) streams.push_back(stream_on(i));
  fr::unified_array<u32> x({1000}, 1u), y({10}, 0u);
  std::size_t longest = 0;
  for (std::size_t i = 0; i + 10 <= 1000; ++i) {
    fr::parallel_for(streams[i % 4], 10, add_from{}, y, fr::in(std::as_const(x).slice({i, i + 10})));
    longest = std::max(longest, x.owner().get().history.uses().size());
  }
  BOOST_TEST(longest <= fr::detail::access_history::usual_limit);
  BOOST_TEST(all_are(y, 991));
}

// R10: merged entries still count, with their last sequence number and all of their bytes, and reads and writes
// separate.
BOOST_AUTO_TEST_CASE(joined_uses_are_waited_for) {
  over_seeds(50, [] {
    constexpr std::size_t parts = 40, width = 8, n = parts * width;
    fr::stream a = stream_on(0), b = stream_on(1);
    fr::unified_array<u32> x({n}, 0u), y({n}, 0u), z({n}, 0u);
    fr::parallel_for(a, n, add_one{}, x), fr::parallel_for(b, n, add_one{}, x);  // contended: next uses record events
    for (std::size_t i = 0; i < parts; ++i) {
      auto from = std::as_const(x).slice({i * width, (i + 1) * width});
      auto to = y.slice({i * width, (i + 1) * width});
      fr::parallel_for(a, width, add_from{}, to, fr::in(from));
    }
    auto late = x.slice({30 * width, 31 * width});  // overlaps one of the merged entries, not the first
    fr::parallel_for(b, width, add_one{}, late);
    fr::parallel_for(a, n, add_one{}, x), fr::parallel_for(b, n, add_one{}, x);
    for (std::size_t i = 0; i < parts; ++i) {
      auto part = x.slice({i * width, (i + 1) * width});
      if (i < parts / 2)
        fr::parallel_for(a, width, add_from{}, y, fr::in(std::as_const(part)));
      else
        fr::parallel_for(a, width, add_one{}, part);
    }
    fr::parallel_for(b, width, add_from{}, z, fr::in(std::as_const(late)));
    const auto got = fr::to_vector(y);
    for (std::size_t i = width; i < n; ++i)
      if (got[i] != 2) return false;
    return std::as_const(z)[0] == 6 && std::as_const(z)[width - 1] == 6;
  });
}

// R12: when two blocks are joined, an entry that a split duplicated becomes one entry again.
BOOST_AUTO_TEST_CASE(logs_stay_short_when_blocks_split_and_join) {
  support::call_counts calls;
  fr::detail::backend& below = backend();
  const fr::pool_options small{.granularity = 64, .small_segment = 1024, .kind = fr::pool_kind::split};
  fr::runtime_scope scope(std::make_unique<support::counting_backend>(below, calls), small);
  fr::stream s = stream_on(0);
  {
    fr::device_array<u32> x({256});
    fr::parallel_for(s, 256, set_one{}, fr::out(x));
  }
  for (int i = 0; i < 4; ++i) fr::device_array<u32> left({64}), right({128});
  fr::device_array<u32> x({256});
  BOOST_TEST(x.owner().get().history.uses().size() == 1u);
}

// R13: a timeline's vector clock covers streams that were created much later.
BOOST_AUTO_TEST_CASE(hundreds_of_streams) {
  over_seeds(5, [] {
    std::vector<fr::stream> streams;
    fr::unified_array<u32> x({64}, 0u);
    for (std::size_t i = 0; i < 200; ++i) {
      streams.push_back(stream_on(i));
      fr::parallel_for(streams.back(), 64, add_one{}, x);
    }
    for (std::size_t i = 200; i-- > 0;) fr::parallel_for(streams[i], 64, add_one{}, x);
    return all_are(x, 400);
  });
}

// R13: ferry need not touch the user's stream later.
BOOST_AUTO_TEST_CASE(streams_of_the_user_are_marked_each_time) {
  support::call_counts calls;
  fr::detail::backend& below = backend();
  fr::runtime_scope scope(std::make_unique<support::counting_backend>(below, calls));
  const fr::native_stream native = backend().create_stream(0, 0);
  const fr::stream_ref s = fr::stream_ref::from_native(fr::devices()[0], native);
  fr::unified_array<u32> x({64}, 0u);
  fr::parallel_for(s, 64, add_one{}, x);
  const long before = calls.records;
  for (int i = 0; i < 10; ++i) fr::parallel_for(s, 64, add_one{}, x);
  BOOST_TEST(calls.records == before + 10);
  for (int i = 0; i < 10; ++i) fr::submit(s, [](fr::native_stream) {});  // no use of any array
  BOOST_TEST(calls.records == before + 20);
  s.synchronize();
  fr::stream_ref(s).release();
  backend().destroy_stream(native);
  BOOST_TEST(all_are(x, 11));
}

// R1: two threads append to one list, on their own streams and on a shared one. Each thread's values keep their order,
// also with values of the other thread in between.
BOOST_AUTO_TEST_CASE(two_threads_append_in_order) {
  over_seeds(150, [] {
    constexpr u32 times = 60, second = 1000;
    fr::stream common = stream_on(0), of_first = stream_on(1), of_second = stream_on(2);
    fr::unified_array<u32> list({2 * times + 1}, 0u);  // the count, then the values
    const auto work = [&](fr::stream& own, u32 base) {
      for (u32 i = 0; i < times; ++i) fr::parallel_for(i % 3 ? own : common, 1, append{base + i, 2 * times}, list);
    };
    std::thread other([&] { work(of_second, second); });
    work(of_first, 0);
    other.join();
    const auto got = fr::to_vector(list);
    u32 next[2] = {0, second};
    for (std::size_t i = 1; i < got.size(); ++i)
      if (got[i] != next[got[i] >= second]++) return false;
    return got[0] == 2 * times;
  });
}

// Where a device cannot reach the memory, ferry uses another stream. The user's own work on the given stream still runs
// before and after it.
BOOST_AUTO_TEST_CASE(work_beside_a_stream_is_ordered) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const fr::simulation sim("devices=2;peers=none;schedule=random:" + std::to_string(seed),
                             {.kind = fr::pool_kind::split});  // device 0 may not even copy memory of a driver's pool
    fr::stream s = stream_on(0);
    const fr::device far = fr::devices()[1];
    fr::device_array<u32> x({128}, 0u, far), y({128}, 0u, far);
    fr::host_array<u32> from({128}, 5u), to({128}, 0u);
    for (const fr::device d : fr::devices()) fr::default_stream(d).synchronize();
    s.synchronize();
    backend().copy(s.native(), x.unsynchronized_data(), from.unsynchronized_data(), 512);  // not tracked by ferry
    fr::copy(s, x.slice({0, 128, 2}), y.slice({0, 128, 2}));
    backend().copy(s.native(), to.unsynchronized_data(), y.unsynchronized_data(), 512);
    s.synchronize();
    bool right = true;
    for (std::size_t i = 0; i < 128; ++i) right &= to.unsynchronized_data()[i] == (i % 2 ? 0u : 5u);
    BOOST_TEST(right, "other elements than expected, seed " << seed);
    if (!right) return;
  }
}

// R13: waiting for a stream covers all of its work, including work that ferry did not enqueue.
BOOST_AUTO_TEST_CASE(a_stream_waits_for_what_ferry_did_not_see) {
  over_seeds(60, [] {
    fr::stream s = stream_on(0), t = stream_on(0);
    fr::device_array<u32> x({64}, 0u), y({64}, 0u);
    fr::default_stream(fr::devices()[0]).synchronize();
    const u32 value = 5;
    auto* const to = reinterpret_cast<std::byte*>(x.unsynchronized_data());
    backend().fill_strided(s.native(), {to, {4}}, {4, 1, {64}}, &value);
    t.wait(s);
    backend().copy(t.native(), y.unsynchronized_data(), x.unsynchronized_data(), 64 * sizeof(u32));
    t.synchronize();
    return all_are(y, value);
  });
}

// A discard is a write: it waits for pending reads.
BOOST_AUTO_TEST_CASE(a_discard_waits_for_readers) {
  over_seeds(
      60,
      [] {
        fr::stream s = stream_on(0), t = stream_on(0);
        fr::unified_array<u32> u({1 << 20}, 3u);
        fr::device_array<u32> sum({64}, 0u);
        fr::default_stream(fr::devices()[0]).synchronize();
        fr::parallel_for(t, 64, add_from{}, sum, fr::in(u));
        fr::discard(s, u);
        return all_are(sum, 3);
      },
      "devices=1;check=on");
}

BOOST_AUTO_TEST_SUITE_END()
