// Host memory runs out while calls are added to a group: a call that throws leaves the group unchanged.
#include <cstdlib>
#include <new>

#include "cases.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"

namespace {
thread_local int allocations_left = -1;  // negative: no limit
}  // namespace

// Not inlined: otherwise GCC pairs the malloc and free inside with the caller's new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  const bool none = allocations_left == 0;
  if (allocations_left > 0) --allocations_left;
  void* p = none ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

using namespace collectives;

namespace groups_without_memory {
namespace {

// Repeats the call with memory for 0, 1, 2, ... allocations until it succeeds; returns the number of failed attempts.
template <class Call, class AfterFailure>
int until_it_succeeds(Call call, AfterFailure check) {
  for (int failed = 0;; ++failed) {
    bool threw = false;
    allocations_left = failed;
    try {
      call();
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    allocations_left = -1;
    if (!threw) return failed;
    check();
  }
}

struct two_devices {
  fr::simulation runtime{"devices=2"};
  fr::team t = first_devices(2);
};

}  // namespace
}  // namespace groups_without_memory

BOOST_FIXTURE_TEST_SUITE(groups_without_memory, two_devices)

// The group already has 0, 1, 2, ... calls, so that a different part of it must grow each time.
BOOST_AUTO_TEST_CASE(sends_and_receives) {
  int failures = 0;
  fr::detail::memory_pool& pool = runtime.get().pool(fr::memory_kind::device, 0);
  for (std::size_t before = 0; before <= 17; ++before) {
    fr::device_array<int> kept({10}, 1, t.device(0)), got({10 * 18}, 0, t.device(1));
    const auto place = [&](std::size_t i) { return got.slice({10 * i, 10 * i + 10}); };
    fr::collective_group g(t);
    for (std::size_t i = 0; i < before; ++i) g.send(kept, 0, 1);
    auto more = std::make_unique<fr::device_array<int>>(fr::extents<1>(10), 2, t.device(0));
    const auto allocations = pool.statistics().allocations;
    bool is_sent = false;
    failures += until_it_succeeds(
        [&] {
          g.send(*more, 0, 1);
          is_sent = true;
        },
        [&] { BOOST_TEST(!is_sent); });
    more.reset();
    BOOST_TEST(pool.statistics().allocations == allocations);  // the group still refers to it
    for (std::size_t i = 0; i <= before; ++i) failures += until_it_succeeds([&] { g.receive(place(i), 1, 0); }, [] {});
    g.submit();  // throws if unmatched calls remain
    BOOST_TEST(pool.statistics().allocations == allocations - 1);
    std::vector<int> expected(10 * (before + 1), 1);
    std::fill(expected.end() - 10, expected.end(), 2);
    BOOST_TEST(fr::to_vector(std::as_const(got).slice({0, expected.size()})) == expected,
               boost::test_tools::per_element());
  }
  BOOST_TEST(failures > 0);
}

// A group does not keep the arrays of a failed call alive.
BOOST_AUTO_TEST_CASE(arrays_of_calls_that_threw) {
  fr::detail::memory_pool& pool = runtime.get().pool(fr::memory_kind::device, 0);
  int failures = 0;
  for (const int allowed : {0, 1, 2, 3})
    for (std::size_t before = 0; before <= 17; ++before)
      for (const bool exchanges : {true, false}) {
        fr::device_array<int> kept({10}, 1, t.device(0));
        fr::collective_group g(t);
        for (std::size_t i = 0; i < before; ++i) g.send(kept, 0, 1);
        const auto allocations = pool.statistics().allocations;
        auto mine = give<int>(t, 10);
        bool threw = false;
        allocations_left = allowed;
        try {
          if (exchanges)
            g.send(mine[0], 0, 1);
          else
            g.all_reduce(mine, fr::plus{});
        } catch (const std::bad_alloc&) {
          threw = true;
        }
        allocations_left = -1;
        mine.clear();
        BOOST_TEST(pool.statistics().allocations == allocations + (threw ? 0u : 1u));
        failures += threw;
      }
  BOOST_TEST(failures > 0);
}

BOOST_AUTO_TEST_SUITE_END()
