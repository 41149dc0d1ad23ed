// CPU reads on the fast path: no access check is needed for bytes without a pending write, after the first wait on any
// view.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace mark_host_clean {
namespace {

constexpr std::size_t n = 256;

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] += 1; }
};
struct fails {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const {
    FERRY_ASSERT(i > 1000, "always");
    y[i] = 1;
  }
};
struct copy_of {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y, const int* x) const { y[i] = x[i]; }
};

template <class Array>
bool is_free(const Array& a) {
  return a.owner().get().history.is_host_clean();
}

template <class Body>
void over_schedules(Body body) {
  for (unsigned seed = 0; seed < support::seeds(50); ++seed) {
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    body();
  }
}

}  // namespace
}  // namespace mark_host_clean

BOOST_AUTO_TEST_SUITE(mark_host_clean)

// One view's wait serves all views, until the next write.
BOOST_AUTO_TEST_CASE(of_all_views) {
  over_schedules([] {
    fr::unified_array<int> u({n}, 0), to({n}, 0);
    const fr::stream s{fr::device(1)};
    for (int k = 1; k <= 3; ++k) {
      fr::parallel_for(s, n, add_one{}, u);
      BOOST_TEST(!is_free(u));
      BOOST_TEST(std::as_const(u)[n - 1] == k);
      BOOST_TEST(is_free(u));
      BOOST_TEST(std::as_const(u).slice({{0, n / 2}})[1] == k);
      fr::parallel_for(s, n, copy_of{}, to, fr::in(u));
      BOOST_TEST(is_free(u));
      BOOST_TEST(std::as_const(u)[0] == k);
    }
    BOOST_TEST(std::as_const(to)[5] == 3);
  });
}

// A wait for a part of the array applies to that part only.
BOOST_AUTO_TEST_CASE(not_of_parts_that_others_write) {
  over_schedules([] {
    fr::unified_array<int> u({n}, 0);
    auto left = u.slice({{0, n / 2}}), right = u.slice({{n / 2, n}});
    const fr::stream s{fr::device(0)}, t{fr::device(1)};
    for (int k = 1; k <= 3; ++k) {
      fr::parallel_for(s, n / 2, add_one{}, left);
      fr::parallel_for(t, n / 2, add_one{}, right);
      BOOST_TEST(std::as_const(left)[1] == k);
      BOOST_TEST(std::as_const(left)[2] == k);
      BOOST_TEST(std::as_const(u)[n / 2] == k);
      BOOST_TEST(std::as_const(right)[n / 2 - 1] == k);
    }
  });
}

// Writes through raw pointers and by graphs clear the host-clean bit, too.
BOOST_AUTO_TEST_CASE(end_with_every_way_to_write) {
  over_schedules([] {
    fr::unified_array<int> u({n}, 7), from({n}, 1);
    const fr::stream s{fr::device(0)};
    fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, n, add_one{}, u); });
    BOOST_TEST(std::as_const(u)[0] == 7);
    g.launch(s);
    BOOST_TEST(std::as_const(u)[n - 1] == 8);
    fr::copy(s, from, u);
    BOOST_TEST(std::as_const(u)[n - 1] == 1);
    (void)fr::pointer(u, s);
    BOOST_TEST(!is_free(u));
    fr::parallel_for(s, n, add_one{}, u);
    BOOST_TEST(std::as_const(u)[n - 1] == 2);
  });
}

BOOST_AUTO_TEST_CASE(end_with_the_array) {
  fr::simulation sim("devices=1");
  fr::unified_array<int> u({n}, 1);
  auto view = u.slice({{0, n}});
  BOOST_TEST(std::as_const(view)[0] == 1);
  u.free();
  BOOST_CHECK_THROW(std::as_const(view)[0], fr::use_after_free);
}

// Also if another array has reused the bytes, and the CPU has read them.
BOOST_AUTO_TEST_CASE(not_of_views_that_are_stale) {
  fr::simulation sim("devices=1");
  fr::unified_array<int> u({n}, 1);
  auto view = u.slice({{0, n}});
  const fr::detail::allocation* const node = u.owner().unchecked();
  u.free();
  std::vector<fr::unified_array<int>> later;  // one of them reuses u's bytes
  bool met = false;
  for (int i = 0; i < 100; ++i) {
    later.emplace_back(fr::extents<1>{n}, i);
    BOOST_TEST(std::as_const(later.back())[n - 1] == i);
    met = met || later.back().owner().unchecked() == node;
  }
  BOOST_TEST(met);
  BOOST_CHECK_THROW(std::as_const(view)[0], fr::use_after_free);
  BOOST_CHECK_THROW(std::as_const(u)[0], fr::use_after_free);
}

BOOST_AUTO_TEST_CASE(not_of_borrows_that_have_ended) {
  fr::simulation sim("devices=1");
  auto& driver = fr::runtime::current().backend();
  const auto allocate = [&] { return static_cast<int*>(driver.allocate(fr::memory_kind::host, 0, n * sizeof(int))); };
  int *const p = allocate(), *const q = allocate();
  auto first = fr::borrow<fr::memory_kind::host>(p, n);
  auto view = first.slice({0, n});
  first.give_back();
  {
    auto second = fr::borrow<fr::memory_kind::host>(q, n);
    BOOST_TEST(second.owner().unchecked() == view.owner().unchecked());  // a precondition of this test
    fr::fill(second, 3);
    BOOST_TEST(std::as_const(second)[0] == 3);
    BOOST_CHECK_THROW(std::as_const(view)[5], fr::use_after_free);
  }
  for (int* m : {p, q}) driver.release(fr::memory_kind::host, 0, m, n * sizeof(int));
}

// The capturing thread's read is refused. Another thread may read meanwhile.
BOOST_AUTO_TEST_CASE(not_inside_a_capture_that_uses_the_array) {
  over_schedules([] {
    fr::unified_array<int> u({n}, 3);
    const fr::stream s{fr::device(0)};
    fr::graph g = fr::capture(s, [&] {
      fr::parallel_for(s, n, add_one{}, u);
      std::thread([&] { BOOST_TEST(std::as_const(u)[0] == 3); }).join();
      BOOST_CHECK_THROW((void)std::as_const(u)[0], fr::invalid_argument);
    });
    BOOST_TEST(std::as_const(u)[0] == 3);
    BOOST_TEST(is_free(u));
  });
}

// A device fails while it writes one half. The other half can be read, and that read does not mark the whole array
// host-clean.
BOOST_AUTO_TEST_CASE(not_of_what_a_broken_device_has_left) {
  for (unsigned seed = 0; seed < support::seeds(25); ++seed) {
    const support::machine_that_breaks sim("devices=2;schedule=random:" + std::to_string(seed));
    fr::unified_array<int> u({n}, 0);
    auto left = u.slice({{0, n / 2}}), right = u.slice({{n / 2, n}});
    const fr::stream s{fr::device(0)}, t{fr::device(1)};
    fr::parallel_for(s, n / 2, add_one{}, left);
    s.synchronize();
    try {
      fr::parallel_for(t, n / 2, fails{}, right);
      t.synchronize();
    } catch (const fr::device_error&) {
    }
    for (int k = 0; k < 2; ++k) {
      BOOST_TEST(std::as_const(left)[1] == 1);
      BOOST_CHECK_THROW((void)std::as_const(right)[1], fr::device_error);
      BOOST_CHECK_THROW((void)std::as_const(u)[n - 1], fr::device_error);
    }
  }
}

// Two threads read one array, and either may be the one that waits. ThreadSanitizer checks that the other thread's read
// is ordered.
BOOST_AUTO_TEST_CASE(by_two_threads) {
  over_schedules([] {
    fr::unified_array<int> u({n}, 0);
    const fr::stream s{fr::device(1)};
    for (int k = 1; k <= 4; ++k) {
      fr::parallel_for(s, n, add_one{}, u);
      const auto sum = [&u = std::as_const(u)](int& into) {
        into = 0;
        for (std::size_t i = 0; i < n; ++i) into += u[i];
      };
      int here = 0, there = 0;
      std::thread other([&] { sum(there); });
      sum(here);
      other.join();
      BOOST_TEST(here == k * static_cast<int>(n));
      BOOST_TEST(there == here);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
