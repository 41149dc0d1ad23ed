// Functions that the CPU runs in the order of a stream, and the wait for all of them.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "contract/fixture.hpp"

using namespace contract;

namespace contract_of_host_tasks {
namespace {

struct add {
  int by;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += by; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};

constexpr std::size_t n = 1000;

// Multiplies the elements, on the CPU.
struct times {
  int by;
  void operator()(fr::mdspan<int, 1> p) const {
    for (std::size_t i = 0; i < p.extent(0); ++i) p[i] *= by;
  }
};

// The driver may destroy the functions of a graph on a thread of its own, later.
bool is_soon(const std::atomic<int>& value, int expected) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (value != expected && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return value == expected;
}

// Counts the functions that exist.
class counted_function {
 public:
  explicit counted_function(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  counted_function(const counted_function& o) : alive_(o.alive_) { ++alive_; }
  ~counted_function() { --alive_; }
  counted_function& operator=(const counted_function&) = delete;
  void operator()(int* p) const { p[0] += 1; }

 private:
  std::atomic<int>& alive_;
};

}  // namespace
}  // namespace contract_of_host_tasks

BOOST_FIXTURE_TEST_SUITE(contract_of_host_tasks, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(tasks_are_ordered_by_their_arrays, K, host_kinds) {
  const fr::device first = fr::devices().front(), last = fr::devices().back();
  const fr::stream s{first}, t{last};
  fr::basic_array<int, 1, K::value> a({n}, 1, last);
  fr::device_array<int> d({n}, 0, first);
  for (int i = 0; i < 20; ++i) {
    fr::parallel_for(t, n, add{1}, a);
    fr::host_task(s, times{2}, a);
    fr::parallel_for(t, n, add{-1}, a);
    fr::copy(s, a, d);
    fr::host_task(t, times{3}, fr::inout(a));
    fr::copy(s, d, a);  // undoes the task
    fr::host_task(
        t, [](int* p) { std::fill(p, p + n, 0); }, a.slice({0, n}));
    fr::copy(t, d, a);
  }
  int expected = 1;
  for (int i = 0; i < 20; ++i) expected = (expected + 1) * 2 - 1;
  CHECK_EQUAL(std::as_const(a), std::vector<int>(n, expected));
  fr::host_task(s, times{0}, a);
  BOOST_TEST(a[n - 1] == 0);  // the CPU waits for the task
}

BOOST_AUTO_TEST_CASE(tasks_see_what_they_declare) {
  const fr::stream s;
  const auto a = counted<int, 2, memory_kind::host>({3, 4});
  fr::unified_array<int> u({6}, 5);
  fr::host_array<long> found({4}, 0L);
  int value = 3;
  fr::host_task(
      s,
      [](fr::mdspan<const int, 2> x, const int* p, fr::mdspan<int, 1> part, fr::mdspan<const int, 2> turned, int v,
         long* out) {
        out[0] = x(2, 3), out[1] = p[1] + v, out[2] = part.stride(0), out[3] = turned(0, 1);
        part[1] = 7;
      },
      a, fr::in(u), u.slice({0, 6, 3}), a.transpose(), value, fr::out(found));
  value = 9;  // the value was copied
  CHECK_EQUAL(std::as_const(found), (std::vector<long>{11, 8, 3, 4}));
  CHECK_EQUAL(std::as_const(u), (std::vector<int>{5, 5, 5, 7, 5, 5}));
  std::atomic<int> calls{0};
  fr::host_task(s, [&calls, p = std::make_unique<int>(2)] { calls += *p; });  // no array: ordered by its stream only
  s.synchronize();
  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(functions_live_until_they_have_run) {
  const fr::stream s;
  fr::host_array<int> a({1}, 0);
  std::atomic<int> alive{0};
  {
    const counted_function f(alive);
    for (int i = 0; i < 10; ++i) fr::host_task(s, f, a);
    BOOST_TEST(alive >= 1);
  }
  s.synchronize();
  BOOST_TEST(is_soon(alive, 0));
  BOOST_TEST(a[0] == 10);
  {
    const auto kept = std::make_shared<fr::host_array<int>>(fr::extents<1>{n}, 4);
    fr::host_task(
        s, [kept](int* p) { *p = static_cast<int>(kept->size()); }, a);  // its end frees an array
  }
  s.synchronize();
  BOOST_TEST(a[0] == static_cast<int>(n));
}

BOOST_AUTO_TEST_CASE(graphs_call_tasks_at_each_launch) {
  const fr::stream s, t{fr::devices().back()};
  fr::unified_array<int> a({n}, 1);
  fr::host_array<int> calls({1}, 0);
  std::atomic<int> alive{0};
  {
    auto g = fr::capture(s, [&] {
      fr::parallel_for(s, n, add{1}, a);
      fr::host_task(t, times{2}, a);
      fr::host_task(s, counted_function(alive), calls);
      fr::parallel_for(s, n, add{1}, a);
    });
    BOOST_TEST((alive == 1 && calls[0] == 0 && a[0] == 1));
    int expected = 1;
    for (int i = 0; i < 5; ++i) {
      g.launch(i % 2 ? s : t);
      expected = (expected + 1) * 2 + 1;
    }
    CHECK_EQUAL(std::as_const(a), std::vector<int>(n, expected));
    BOOST_TEST((calls[0] == 5 && alive == 1));
    auto outer = fr::capture(t, [&] { g.launch(t), g.launch(t); });
    outer.launch(s);
    BOOST_TEST(calls[0] == 7);
  }
  BOOST_TEST(is_soon(alive, 0));
}

BOOST_AUTO_TEST_CASE(the_next_wait_throws_what_tasks_threw) {
  const fr::stream s, t{fr::devices().back()};
  fr::host_array<int> a({n}, 1), other({n}, 2);
  a.name("a");
  const auto fail = [&] {
    fr::host_task(
        s,
        [](int* p) {
          p[0] = 5;
          throw std::runtime_error("disk full");
        },
        a);
  };
  const auto threw = {std::string_view("host_task in host_task_test.cpp:"), std::string_view("threw: disk full")};
  const auto check_both = [&](auto call, std::string_view use = "") {
    check_error<fr::host_task_error>(call, {*threw.begin(), *(threw.begin() + 1), use});
  };
  fail();
  fr::parallel_for(t, n, add{1}, a);  // later work runs
  check_both([&] { (void)std::as_const(a)[3]; }, "array 'a' in host_task_test.cpp:");
  BOOST_TEST((a[0] == 6 && a[3] == 2));  // reported once, and the program continues
  s.synchronize();
  fail();
  check_both([&] { s.synchronize(); });
  fail();
  check_both([] { fr::synchronize(); });
  fr::synchronize();
  fail();
  check_both([&] { s.record().synchronize(); });
  fail();
  fr::device_array<int> copied({n}, 0);
  fr::copy(s, a, copied);
  check_both([&] { (void)fr::to_vector(copied); });  // what was computed from the array does not reach the CPU silently
  CHECK_EQUAL(fr::to_vector(other), std::vector<int>(n, 2));
  auto g = fr::capture(s, [&] { fail(); });
  for (int i = 0; i < 2; ++i) {
    g.launch(s);
    check_both([&] { s.synchronize(); });
  }
  fr::host_task(s, [] { throw 5; });
  fail();
  check_error<fr::host_task_error>([&] { s.synchronize(); }, {"no std::exception", "Later, 1 further task threw"});
  fr::host_task(s, [] { throw std::out_of_range("x"); });
  try {
    s.synchronize();
  } catch (const fr::host_task_error& e) {
    BOOST_CHECK_THROW(std::rethrow_exception(e.cause()), std::out_of_range);
  }
}

BOOST_AUTO_TEST_CASE(tasks_must_not_call_ferry) {
  const fr::stream s, t;
  fr::unified_array<int> a({n}, 1);
  fr::device_array<int> b({n}, 2);
  auto graph = fr::capture(t, [&] { fr::fill(t, b, 3); });
  fr::event before = s.record();
  const auto refused = [&](auto call) {
    std::string text;
    fr::host_task(
        s,
        [&](int* p) {
          try {
            call();
          } catch (const fr::invalid_argument& e) {
            text = e.what();
          }
          p[0] = 4;
        },
        a);
    fr::parallel_for(s, n, add{1}, a);
    s.synchronize();
    BOOST_TEST(contains(text, "from inside a function that a stream runs on the CPU"), text);
    BOOST_TEST(a[0] == 5);
  };
  refused([&] { fr::host_task(t, [] {}); });
  refused([&] { fr::submit(t, [](fr::native_stream) {}); });
  refused([&] { fr::parallel_for(t, n, add{1}, b); });
  refused([&] { fr::fill(t, b, 1); });
  refused([&] { fr::copy(t, a, b); });
  refused([&] { (void)fr::to_vector(b); });
  refused([&] { fr::device_array<int> c({n}); });
  refused([&] { fr::unified_array<int> c({n}, 1); });
  refused([&] { fr::host_array<int> c({n}); });
  refused([&] { a[3] = 1; });
  refused([&] { s.synchronize(); });
  refused([&] { fr::synchronize(); });
  refused([&] { (void)s.is_done(); });
  refused([&] { t.wait(s); });
  refused([&] { t.wait(before); });
  refused([&] { (void)t.record(); });
  refused([&] { before.synchronize(); });
  refused([&] { (void)before.is_done(); });
  refused([&] { (void)fr::pointer(b, t); });
  refused([&] { (void)fr::capture(t, [] {}); });
  refused([&] { graph.launch(t); });
  refused([&] { const fr::stream fresh{fr::device(0), -1}; });
  refused([&] { b = fr::device_array<int>(fr::extents<1>{n}); });
  fr::host_task(
      s, [&](int*) { fr::fill(t, b, 1); }, a);
  check_error<fr::host_task_error>([&] { s.synchronize(); }, {"from inside a function"});
  CHECK_EQUAL(fr::to_vector(b), std::vector<int>(n, 2));  // and the program continues
}

BOOST_AUTO_TEST_CASE(calls_that_are_wrong) {
  const fr::stream s;
  int calls = 0;
  const auto count = [&calls](const auto&...) { ++calls; };
  fr::host_array<int> freed({n}, 1);
  const auto view = freed.slice({0, 10});
  freed.free();
  BOOST_CHECK_THROW(fr::host_task(s, count, view), fr::use_after_free);
  fr::host_array<int, 2> m({3, 4}, 1);
  check_error<fr::invalid_argument>(
      [&] {
        fr::host_task(
            s, [](int*) {}, m.transpose());
      },
      {"host_task_test.cpp:"});
  fr::submit(
      s,
      [&](fr::native_stream, int*) {
        check_error<fr::invalid_argument>([&] { fr::host_task(s, count); }, {"from inside a submission"});
      },
      m);
  {
    const fr::simulation other("devices=1");
    const fr::stream t;
    check_error<fr::invalid_argument>([&] { fr::host_task(t, count, m); }, {"belongs to another runtime"});
    check_error<fr::invalid_argument>([&] { fr::host_task(s, count); }, {"belongs to another runtime"});
  }
  s.synchronize();
  BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_CASE(synchronize_waits_for_all_streams_of_all_devices) {
  std::atomic<int> ended{0};
  std::vector<fr::stream> streams;
  for (const fr::device d : fr::devices())
    for (int i = 0; i < 3; ++i) streams.emplace_back(d);
  for (int round = 1; round < 4; ++round) {
    for (const fr::stream& s : streams)
      fr::host_task(s, [&ended] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++ended;
      });
    fr::synchronize();
    BOOST_TEST(ended == round * static_cast<int>(streams.size()));
  }
  check_error<fr::invalid_argument>([&] { (void)fr::capture(streams[0], [] { fr::synchronize(); }); },
                                    {"synchronize", "inside a capture"});
}

BOOST_AUTO_TEST_SUITE_END()
