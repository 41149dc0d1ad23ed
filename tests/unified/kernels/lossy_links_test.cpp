// Links that lose pages of unified memory: such pages are pinned to the CPU, whatever the hints.
#include <algorithm>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "contract/small_chunks.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;

namespace lossy_links {
namespace {

constexpr std::size_t count = (std::size_t{6} << 20) / sizeof(int);

struct add {
  int by;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += by; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};

bool is_all(const fr::unified_array<int>& a, int value) {
  return std::all_of(a.cbegin(), a.cend(), [&](int x) { return x == value; });
}

}  // namespace
}  // namespace lossy_links

BOOST_AUTO_TEST_SUITE(lossy_links)

BOOST_AUTO_TEST_CASE(pages_stay_with_the_cpu) {
  for (const auto how : {fr::migration::automatic, fr::migration::explicitly})
    for (const std::string schedule : {"eager", "random:1", "random:2", "random:3"}) {
      const support::quiet_stderr said;
      const contract::variable on("FERRY_PEER", "on");
      const fr::simulation sim("devices=3;broken=0-1:unified,1-2:unified;schedule=" + schedule);
      const fr::migration_scope mode(how);
      const fr::stream s[] = {fr::stream(fr::device(0)), fr::stream(fr::device(1)), fr::stream(fr::device(2))};
      fr::unified_array<int> u({count}, 0), total({count}, 0);
      int expected = 0, sum = 0;
      for (int i = 1; i <= 12; ++i) {
        fr::parallel_for(s[i % 3], count, add{i}, u);
        fr::parallel_for(s[(i + 1) % 3], count, add_from{}, fr::in(u), total);
        expected += i, sum += expected;
        if (i % 4 == 0) fr::prefetch(s[i % 3], u, fr::device((i + 2) % 3));
      }
      BOOST_TEST_CONTEXT(schedule) {
        BOOST_TEST(is_all(u, expected));
        BOOST_TEST(is_all(total, sum));
      }
      BOOST_TEST(said.text().find("in pages of unified memory: all unified memory stays in memory of the CPU") !=
                 std::string::npos);
    }
}

// Every device reads several times, without any write.
BOOST_AUTO_TEST_CASE(readers_on_both_ends) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const support::quiet_stderr said;
    const contract::variable on("FERRY_PEER", "on");
    const fr::simulation sim("devices=2;broken=0-1;schedule=random:" + std::to_string(seed));
    fr::unified_array<int> u({count}, 5, fr::device(1));
    fr::device_array<int> a({count}, 0, fr::device(0)), b({count}, 0, fr::device(1));
    const fr::stream s{fr::device(0)}, t{fr::device(1)};
    fr::parallel_for(t, count, add{1}, u);
    for (int i = 0; i < 3; ++i) {
      fr::parallel_for(s, count, add_from{}, fr::in(u), a);
      fr::parallel_for(t, count, add_from{}, fr::in(u), b);
    }
    BOOST_TEST((fr::to_vector(a) == std::vector<int>(count, 18)), "seed " << seed);
    BOOST_TEST((fr::to_vector(b) == std::vector<int>(count, 18)), "seed " << seed);
  }
}

// Pages prefetched to devices before the link test, hints, and bytes that get a new owner.
BOOST_AUTO_TEST_CASE(lossy_pages_and_hints) {
  for (const std::string schedule : {"eager", "random:1", "random:2", "random:3"}) {
    const support::quiet_stderr said;
    const contract::variable on("FERRY_PEER", "on");
    fr::simulation sim("devices=2;broken=0-1:unified;schedule=" + schedule);
    const fr::stream s0{fr::device(0)}, s1{fr::device(1)}, other{fr::device(0)};
    for (int round = 0; round < 3; ++round) {
      fr::unified_array<int> u({1000}, 0, fr::device(0)), v({1000}, 0, fr::device(0));
      fr::advise(u, fr::advice::preferred_location, fr::device(0));
      fr::advise(v, fr::advice::read_mostly);
      fr::parallel_for(s0, 1000, add{1}, u);
      fr::prefetch(other, u, fr::device(0));
      fr::prefetch(other, v, fr::device(0));
      for (int i = 0; i < 3; ++i) {
        fr::parallel_for(s1, 1000, add_from{}, fr::in(v), u);
        fr::parallel_for(s1, 1000, add{1}, v);
        fr::prefetch(s0, u, fr::device(0));
        fr::parallel_for(s0, 1000, add_from{}, fr::in(u), v);
      }
      int a = 1, b = 0;
      for (int i = 0; i < 3; ++i) a += b, b += 1, b += a;
      BOOST_TEST(is_all(u, a), schedule);
      BOOST_TEST(is_all(v, b), schedule);
      BOOST_TEST(!sim.get().migrates_unified());
    }
  }
}

// An array in the same page is prefetched to a device, in streams that have not yet executed the prefetch.
BOOST_AUTO_TEST_CASE(neighbours_that_are_on_their_way) {
  for (int seed = 0; seed < 30; ++seed) {
    const support::quiet_stderr said;
    const contract::variable on("FERRY_PEER", "on");
    const fr::simulation sim("devices=2;broken=0-1:unified;schedule=random:" + std::to_string(seed));
    const fr::stream s{fr::device(1)};
    std::vector<fr::stream> others;
    for (int i = 0; i < 20; ++i) others.emplace_back(fr::device(0));
    fr::unified_array<int> u({1000}, 0, fr::device(0)), v({1000}, 0, fr::device(0));
    for (int i = 0; i < 10; ++i)
      for (const fr::stream& other : others) fr::prefetch(other, v, fr::device(0));
    for (int i = 0; i < 20; ++i) fr::parallel_for(s, 1000, add{1}, u);
    BOOST_TEST(is_all(u, 20), "seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
