// Links that fail for one memory class only. Each class is tested separately, reported once, and then uses another
// route.
#include <thread>

#include "contract/peer_cases.hpp"
#include "contract/small_chunks.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "support/quiet_stderr.hpp"

using namespace contract;

namespace contract_of_peer_memory {
namespace {

constexpr const char* schedules[] = {"eager", "random:1", "random:2", "random:3"};

// A simulated runtime where the link between devices 0 and 1 loses data of one memory class, with peer access enabled
// elsewhere.
struct lossy {
  variable on{"FERRY_PEER", "on"};
  support::quiet_stderr said;
  fr::simulation sim;
  small_chunks small;
  lossy(const std::string& sort, const std::string& schedule, fr::pool_kind pools)
      : sim("devices=3;broken=0-1:" + sort + ";schedule=" + schedule, {.kind = pools}) {
    sim.get().peers().kernels(fr::detail::peer_kernels::error);
  }
};

// Contiguous, strided, converting and many small copies between two devices, several times.
void copies_arrive(fr::device a, fr::device b) {
  for (int round = 0; round < 3; ++round)
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      const fr::stream s{fr::device(round)};
      const auto x = counted<int, 2, memory_kind::device>(fr::extents<2>(30, 40), from, 7 * round);
      fr::device_array<int, 2> y({30, 40}, -1, to), turned({40, 30}, -1, to), many({30, 40}, -1, to);
      fr::device_array<double, 2> wide({30, 40}, -1.0, to);
      fr::copy(s, x, y);
      fr::copy(s, x.transpose(), turned);
      fr::copy(s, x, wide);
      fr::copy_many(s, {{x.slice({0, 10}), many.slice({0, 10})}, {x.slice({10, 30}), many.slice({10, 30})}});
      const auto expected = counting<int>(1200, 7 * round);
      CHECK_EQUAL(fr::to_vector(y), expected);
      CHECK_EQUAL(fr::to_vector(turned.transpose()), expected);
      CHECK_EQUAL(fr::to_vector(wide), std::vector<double>(expected.begin(), expected.end()));
      CHECK_EQUAL(fr::to_vector(many), expected);
    }
}

void kernels_are_refused(fr::device a, fr::device b, std::string_view why) {
  fr::device_array<int> x({10}, 1, a), y({10}, 1, b);
  check_error<fr::peer_access_error>(
      [&] { fr::parallel_for(fr::stream(b), 10, add_from{}, fr::in(x), y); },
      {"the test of the link failed", "did not arrive", why, "FERRY_PEER_KERNELS=stage"});
  fr::runtime::current().peers().kernels(fr::detail::peer_kernels::stage);
  fr::parallel_for(fr::stream(b), 10, add_from{}, fr::in(x), y);
  fr::parallel_for(fr::stream(b), 10, add{5}, x);
  CHECK_EQUAL(fr::to_vector(y), std::vector<int>(10, 2));
  CHECK_EQUAL(fr::to_vector(x), std::vector<int>(10, 6));
  fr::runtime::current().peers().kernels(fr::detail::peer_kernels::error);
}

// Kernels of all devices take turns on unified memory, and pages are prefetched back and forth.
void pages_arrive() {
  fr::unified_array<int> u({1000}, 0, fr::device(0));
  const fr::stream streams[] = {fr::stream(fr::device(0)), fr::stream(fr::device(1)), fr::stream(fr::device(2))};
  for (int i = 1; i <= 20; ++i) {
    fr::parallel_for(streams[i % 3], 1000, add{i}, u);
    if (i % 7 == 0) BOOST_TEST(u[999] == i * (i + 1) / 2);
  }
  CHECK_EQUAL(u, std::vector<int>(1000, 210));
  fr::device_array<int> read({1000}, 0, fr::device(1)), also({1000}, 0, fr::device(0));
  for (int i = 0; i < 3; ++i) {
    fr::parallel_for(streams[1], 1000, add_from{}, fr::in(u), read);
    fr::parallel_for(streams[0], 1000, add_from{}, fr::in(u), also);
  }
  CHECK_EQUAL(fr::to_vector(read), std::vector<int>(1000, 630));
  CHECK_EQUAL(fr::to_vector(also), std::vector<int>(1000, 630));
}

}  // namespace
}  // namespace contract_of_peer_memory

BOOST_FIXTURE_TEST_SUITE(contract_of_peer_memory, clean)

BOOST_AUTO_TEST_CASE(a_link_that_loses_plain_memory) {
  for (const char* schedule : schedules) {
    const lossy runtime("plain", schedule, fr::pool_kind::split);
    const fr::device d0(0), d1(1), d2(2);
    copies_arrive(d0, d1);
    copies_arrive(d1, d2);
    BOOST_TEST(contains(fr::route(d0, d1).text(), "staged: devices 0 and 1"), fr::route(d0, d1).text());
    BOOST_TEST(contains(fr::route(d1, d2).text(), "peer"));
    BOOST_TEST(!d0.can_reach(d1));
    kernels_are_refused(d0, d1, "device 0");
    pages_arrive();  // the link transfers pages correctly
    BOOST_TEST(count(runtime.said.text(), "as peers, but") == 1u, runtime.said.text());
    fr::pool driver{d1, {.kind = fr::pool_kind::driver}};
    const fr::pool_scope use{driver};
    fr::device_array<int> pooled({100}, 3, d1), near({100}, 1, d0);
    fr::parallel_for(fr::stream(d0), 100, add_from{}, fr::in(pooled), near);  // and memory of the driver's pools
    CHECK_EQUAL(fr::to_vector(near), std::vector<int>(100, 4));
    BOOST_TEST(count(runtime.said.text(), "as peers, but") == 1u, runtime.said.text());
  }
}

BOOST_AUTO_TEST_CASE(a_link_that_loses_memory_of_pools) {
  for (const char* schedule : schedules) {
    const lossy runtime("pools", schedule, fr::pool_kind::driver);
    const fr::device d0(0), d1(1), d2(2);
    BOOST_TEST(d0.can_reach(d1));  // not yet tested
    copies_arrive(d0, d1);
    copies_arrive(d0, d2);
    const std::string why = fr::route(d0, d1).text();
    BOOST_TEST(contains(why, "staged: devices 0 and 1"), why);
    BOOST_TEST(contains(why, "in pools of the driver"), why);
    BOOST_TEST(contains(fr::route(d0, d2).text(), "peer"));
    BOOST_TEST(!d0.can_reach(d1));
    BOOST_TEST(!d1.can_reach(d0));
    kernels_are_refused(d0, d1, "in pools of the driver");
    pages_arrive();
    BOOST_TEST(count(runtime.said.text(), "as peers, but") == 1u, runtime.said.text());
    BOOST_TEST(count(runtime.said.text(),
                     "did not arrive in pools of the driver: copies of such memory between them go "
                     "through the CPU") == 1u,
               runtime.said.text());
    fr::pool plain{d1, {.kind = fr::pool_kind::split}};
    const fr::pool_scope use{plain};
    fr::device_array<int> other({100}, 3, d1), near({100}, 1, d0);
    fr::parallel_for(fr::stream(d0), 100, add_from{}, fr::in(other), near);  // other memory is reached
    CHECK_EQUAL(fr::to_vector(near), std::vector<int>(100, 4));
    // A copy from reachable to unreachable memory, and back: one of the two directions is not used.
    fr::device_array<int> pooled = [&] {
      fr::pool driver{d0, {.kind = fr::pool_kind::driver}};
      const fr::pool_scope there{driver};
      return fr::device_array<int>({100}, 0, d0);
    }();
    fr::copy(other, pooled);
    CHECK_EQUAL(fr::to_vector(pooled), std::vector<int>(100, 3));
    fr::fill(pooled, 8);
    fr::copy(pooled, other);
    CHECK_EQUAL(fr::to_vector(other), std::vector<int>(100, 8));
  }
}

BOOST_AUTO_TEST_CASE(a_link_that_loses_pages_of_unified_memory) {
  for (const char* schedule : schedules) {
    const lossy runtime("unified", schedule, fr::pool_kind::split);
    const fr::device d0(0), d1(1);
    pages_arrive();
    pages_arrive();
    BOOST_TEST(count(runtime.said.text(), "as peers, but") == 1u, runtime.said.text());
    BOOST_TEST(count(runtime.said.text(),
                     "did not arrive in pages of unified memory: all unified memory stays in memory of the CPU") == 1u,
               runtime.said.text());
    copies_arrive(d0, d1);  // over the link
    BOOST_TEST(contains(fr::route(d0, d1).text(), "peer"));
    fr::device_array<int> x({10}, 1, d0), y({10}, 1, d1);
    fr::parallel_for(fr::stream(d1), 10, add_from{}, fr::in(x), y);
    CHECK_EQUAL(fr::to_vector(y), std::vector<int>(10, 2));
    BOOST_TEST(count(runtime.said.text(), "as peers, but") == 1u, runtime.said.text());
  }
}

// Pages with more than one owner, and more than one reader.
BOOST_AUTO_TEST_CASE(lossy_pages_that_are_shared) {
  for (const char* schedule : schedules) {
    const lossy runtime("unified", schedule, fr::pool_kind::split);
    const fr::stream s0{fr::device(0)}, s1{fr::device(1)};
    fr::unified_array<int> x({1000}, 0, fr::device(0)), y({1000}, 0, fr::device(0)), halves({2000}, 0, fr::device(0));
    for (int i = 0; i < 20; ++i) {
      fr::parallel_for(s0, 1000, add{1}, x);
      fr::parallel_for(s1, 1000, add{1}, y);
      fr::parallel_for(s0, 1000, add{1}, halves.slice({0, 1000}));
      fr::parallel_for(s1, 1000, add{1}, halves.slice({1000, 2000}));
    }
    CHECK_EQUAL(x, std::vector<int>(1000, 20));
    CHECK_EQUAL(y, std::vector<int>(1000, 20));
    CHECK_EQUAL(halves, std::vector<int>(2000, 20));
  }
}

// The second stream need not wait for the first one's kernel, but for its transfer of the pages to the CPU.
BOOST_AUTO_TEST_CASE(lossy_pages_that_two_streams_read) {
  for (int seed = 0; seed < 30; ++seed) {
    const lossy runtime("unified", "random:" + std::to_string(seed), fr::pool_kind::split);
    const fr::device d0(0), d1(1);
    const fr::stream first{d1}, second{d1};
    fr::unified_array<int> u({1000}, 3, d0);
    fr::default_stream(d0).synchronize();
    fr::device_array<int> a({1000}, 0, d1), b({1000}, 0, d1);
    fr::parallel_for(first, 1000, add_from{}, fr::in(u), a);
    fr::parallel_for(second, 1000, add_from{}, fr::in(u), b);
    CHECK_EQUAL(fr::to_vector(b), std::vector<int>(1000, 3));
    CHECK_EQUAL(fr::to_vector(a), std::vector<int>(1000, 3));
  }
}

BOOST_AUTO_TEST_CASE(lossy_pages_that_two_threads_read) {
  const lossy runtime("unified", "eager", fr::pool_kind::split);
  fr::unified_array<int> u({1000}, 1, fr::device(0));
  std::vector<fr::device_array<int>> sums;
  for (int d = 0; d < 2; ++d) sums.emplace_back(fr::extents<1>{1000}, 0, fr::device(d));
  const auto read = [&](int d) {
    const fr::stream s{fr::device(d)};
    for (int i = 0; i < 500; ++i) fr::parallel_for(s, 1000, add_from{}, fr::in(u), sums[static_cast<std::size_t>(d)]);
    s.synchronize();
  };
  std::thread other(read, 1);
  read(0);
  other.join();
  for (const auto& sum : sums) CHECK_EQUAL(fr::to_vector(sum), std::vector<int>(1000, 500));
}

// Memory by which a borrow grows is pinned to the CPU, too.
BOOST_AUTO_TEST_CASE(lossy_pages_that_are_borrowed) {
  for (const char* schedule : schedules) {
    const lossy runtime("unified", schedule, fr::pool_kind::split);
    auto& driver = fr::runtime::current().backend();
    constexpr std::size_t n = std::size_t{1} << 20;
    auto* const p = static_cast<int*>(driver.allocate(memory_kind::unified, 0, n * sizeof(int)));
    {
      const fr::stream s0{fr::device(0)}, s1{fr::device(1)};
      auto half = fr::borrow<memory_kind::unified>(p, n / 2);
      fr::fill(half, 0);
      for (const fr::stream* s : {&s0, &s1}) fr::parallel_for(*s, n / 2, add{1}, half);
      auto all = fr::borrow<memory_kind::unified>(p, n);
      fr::fill(all, 0);
      for (int i = 0; i < 4; ++i)
        for (const fr::stream* s : {&s0, &s1}) fr::parallel_for(*s, n, add{1}, all);
      CHECK_EQUAL(fr::to_vector(all), std::vector<int>(n, 8));
    }
    driver.release(memory_kind::unified, 0, p, n * sizeof(int));
  }
}

// Copies run kernels, too, on either device.
BOOST_AUTO_TEST_CASE(lossy_pages_that_are_copied) {
  for (const char* schedule : schedules)
    for (const int by : {0, 1}) {
      const lossy runtime("unified", schedule, fr::pool_kind::split);
      const fr::stream s0{fr::device(0)}, s{fr::device(by)};
      const auto expected = counting<int>(1000, 1);
      auto u = counted<int, 2, memory_kind::unified>(fr::extents<2>(20, 50), fr::device(0), 0);
      fr::parallel_for(s0, 1000, add{1}, u.reshape(fr::extents<1>(1000)));  // its pages are on device 0
      fr::device_array<int, 2> turned({50, 20}, -1, fr::device(1)), same({20, 50}, -1, fr::device(1));
      fr::device_array<double, 2> wide({20, 50}, -1.0, fr::device(1));
      fr::unified_array<int, 2> pages({50, 20}, -1, fr::device(1));
      fr::copy(s, u.transpose(), turned);
      fr::copy(s, u, wide);
      fr::copy(s, u, same);
      fr::copy(s, u.transpose(), pages);
      CHECK_EQUAL(fr::to_vector(turned.transpose()), expected);
      CHECK_EQUAL(fr::to_vector(wide), std::vector<double>(expected.begin(), expected.end()));
      CHECK_EQUAL(fr::to_vector(same), expected);
      CHECK_EQUAL(fr::to_vector(pages.transpose()), expected);
      CHECK_EQUAL(fr::to_vector(u), expected);
    }
}

BOOST_AUTO_TEST_CASE(lossy_pages_in_a_graph) {
  for (const char* schedule : schedules) {
    const lossy runtime("unified", schedule, fr::pool_kind::split);
    const fr::stream s0{fr::device(0)}, s1{fr::device(1)};
    fr::unified_array<int> u({1000}, 1, fr::device(0));
    fr::unified_array<int> y({1000}, 0, fr::device(0));  // only pages, none of which device 1 has used
    fr::graph g = fr::capture(s0, [&] {
      fr::parallel_for(s0, 1000, add{1}, u);
      fr::parallel_for(s1, 1000, add_from{}, fr::in(u), y);
    });
    for (int i = 0; i < 3; ++i) g.launch(s0);
    CHECK_EQUAL(y, std::vector<int>(1000, 2 + 3 + 4));
  }
}

// The driver uses links by itself, even with peers off.
BOOST_AUTO_TEST_CASE(lossy_pages_where_peers_are_off) {
  const support::quiet_stderr said;
  const variable off("FERRY_PEER", "off");
  const fr::simulation sim("devices=3;broken=0-1:unified");
  pages_arrive();
  BOOST_TEST(count(said.text(), "in pages of unified memory") == 1u, said.text());
}

BOOST_AUTO_TEST_CASE(pages_where_there_are_no_links) {
  const support::quiet_stderr said;
  fr::simulation sim("devices=3;peers=none;broken=0-1:unified");
  pages_arrive();
  BOOST_TEST(said.text() == "");
  BOOST_TEST(sim.get().migrates_unified());
}

// A link test without memory draws no conclusion about the link.
BOOST_AUTO_TEST_CASE(no_memory_for_the_test_of_pages) {
  int failed = 0;
  for (int at = 1; at < 14; ++at) {
    const support::quiet_stderr said;
    const variable on("FERRY_PEER", "on");
    const fr::simulation sim("devices=2;broken=0-1:unified;fail=alloc@" + std::to_string(at));
    for (int round = 0; round < 2; ++round) try {
        fr::unified_array<int> u({1000}, 0, fr::device(0));
        for (int i = 0; i < 20; ++i) fr::parallel_for(fr::stream(fr::device(i % 2)), 1000, add{1}, u);
        CHECK_EQUAL(u, std::vector<int>(1000, 20));
      } catch (const fr::out_of_memory&) {
        ++failed;
      }
  }
  BOOST_TEST(failed > 1);
}

// The device in the middle holds the pages, and neither of the others is their home.
BOOST_AUTO_TEST_CASE(pages_that_come_from_a_third_device) {
  for (const char* schedule : schedules) {
    const support::quiet_stderr said;
    const variable on("FERRY_PEER", "on");
    const fr::simulation sim("devices=3;broken=1-2:unified;schedule=" + std::string(schedule));
    pages_arrive();
    BOOST_TEST(count(said.text(), "the driver reports devices 2 and 1 as peers") +
                   count(said.text(), "the driver reports devices 1 and 2 as peers") ==
               1u);
  }
}

// A single device tests nothing, and neither do two devices with peers off.
BOOST_AUTO_TEST_CASE(nothing_is_tested_before_it_is_used) {
  for (const char* peers : {"on", "off"}) {
    const support::quiet_stderr said;
    const variable use("FERRY_PEER", peers);
    fr::simulation sim("devices=2;broken=0-1");
    sim.get().peers().kernels(fr::detail::peer_kernels::error);
    fr::unified_array<int> u({10}, 0, fr::device(1));
    fr::parallel_for(fr::stream(fr::device(1)), 10, add{1}, u);
    fr::parallel_for(fr::stream(fr::device(1)), 10, add{1}, u);
    fr::device_array<int> x({10}, 0, fr::device(0));
    fr::parallel_for(10, add{1}, x);
    BOOST_TEST(said.text() == "");
    for (const auto sort : {fr::detail::peer_memory::plain, fr::detail::peer_memory::pooled})
      BOOST_TEST(sim.get().peers().can_reach(0, 1, sort) == (std::string_view(peers) == "on"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
