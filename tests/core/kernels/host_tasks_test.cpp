// Functions that the CPU runs for simulated devices: host_task, and the second function of cuda_or_simulated.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/runtime/peer.hpp"
#include "support/busy_stream.hpp"
#include "support/check_error.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;

namespace host_tasks {
namespace {

using support::check_error;
using support::has;

constexpr std::size_t n = 64;
constexpr int seeds = 12;

std::string machine(int seed) {
  return "devices=2;check=on;schedule=" + (seed == 0 ? std::string("eager") : "random:" + std::to_string(seed));
}

struct add {
  int by;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += by; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};

void times_two(fr::mdspan<int, 1> p) {
  for (std::size_t i = 0; i < p.extent(0); ++i) p[i] *= 2;
}

// y = a x + y, as a library for devices computes it.
const auto axpy = fr::cuda_or_simulated([](fr::native_stream, int, const int*, int*) {},
                                        [](int a, const int* x, int* y) {
                                          for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
                                        });

// Work on a native stream, which ferry does not track.
void write_outside(fr::stream_ref s, int* p, int value) {
  fr::runtime::current().backend().fill_strided(s.native(), {reinterpret_cast<std::byte*>(p), {4}}, {4, 1, {n}},
                                                &value);
}

// What the program throws on a device that fails.
std::string race_of(int seed, void (*program)(fr::stream&, fr::stream&, fr::unified_array<int>&)) {
  const support::quiet_stderr quiet;
  const fr::simulation sim(machine(seed));
  fr::stream s{fr::device(0)}, t{fr::device(1)};
  fr::unified_array<int> a({n}, 1);
  a.name("a");
  fr::synchronize();
  return support::failure_of<fr::device_error>([&] {
    program(s, t, a);
    fr::synchronize();
  });
}

}  // namespace
}  // namespace host_tasks

BOOST_AUTO_TEST_SUITE(host_tasks)

BOOST_AUTO_TEST_CASE(tasks_and_kernels_of_several_streams) {
  for (int seed = 0; seed < seeds; ++seed) BOOST_TEST_CONTEXT(machine(seed)) {
      const fr::simulation sim(machine(seed));
      fr::stream s{fr::device(0)}, t{fr::device(1)};
      fr::unified_array<int> a({n}, 1);
      fr::host_array<int> b({n}, 0, fr::device(1));
      int expected = 1, sum = 0;
      for (int i = 0; i < 6; ++i) {
        fr::host_task(s, times_two, a);
        fr::parallel_for(t, n, add{1}, a);
        fr::host_task(
            t, [](const int* x, int* y) { y[0] += x[n - 1]; }, fr::in(a), b);
        fr::host_task(
            s, [](const int* x) { (void)x; }, fr::in(a));
        expected = 2 * expected + 1, sum += expected;
      }
      BOOST_TEST((std::as_const(a)[5] == expected && b[0] == sum));
    }
}

BOOST_AUTO_TEST_CASE(graphs_of_tasks_under_random_schedules) {
  for (int seed = 0; seed < seeds; ++seed) BOOST_TEST_CONTEXT(machine(seed)) {
      const fr::simulation sim(machine(seed));
      fr::stream s{fr::device(0)}, t{fr::device(1)};
      fr::host_array<int> a({n}, 1), b({n}, 0);
      const auto alive = std::make_shared<int>(0);
      {
        auto g = fr::capture(s, [&] {
          fr::host_task(
              s, [alive](int* p) { p[0] += ++*alive; }, a);
          fr::parallel_for(t, n, add_from{}, a, b);
          fr::host_task(t, times_two, a);
        });
        int first = 1, sum = 0;
        for (int i = 1; i < 6; ++i) {
          g.launch(i % 2 ? s : t);
          first += i, sum += first, first *= 2;
        }
        BOOST_TEST((a[0] == first && b[0] == sum && *alive == 5));
        BOOST_TEST(alive.use_count() > 1);
      }
      BOOST_TEST(alive.use_count() == 1);
    }
}

BOOST_AUTO_TEST_CASE(submitting_a_task_waits_for_nothing) {
  const fr::simulation sim("devices=2;schedule=random:3");
  fr::stream s{fr::device(0)}, t{fr::device(1)};
  fr::host_array<int> a({n}, 1);
  support::busy_stream busy(s);
  fr::parallel_for(s, n, add{1}, a);
  fr::host_task(t, times_two, a);
  fr::host_task(s, times_two, a);
  BOOST_TEST(busy.is_busy());
  busy.release();
  BOOST_TEST(a[7] == 8);
}

BOOST_AUTO_TEST_CASE(races_with_work_outside_ferry) {
  for (int seed = 0; seed < 5; ++seed) BOOST_TEST_CONTEXT(machine(seed)) {
      const std::string reads = race_of(seed, [](fr::stream& s, fr::stream& t, fr::unified_array<int>& a) {
        fr::host_task(
            s, [](const int*) {}, a);
        write_outside(t, a.unsynchronized_data(), 3);
      });
      BOOST_TEST((has(reads, "race: ") && has(reads, "host task of host_tasks_test.cpp:") && has(reads, "'a'")), reads);
      const std::string writes = race_of(seed, [](fr::stream& s, fr::stream& t, fr::unified_array<int>& a) {
        fr::host_array<int> copied({n}, 0);
        fr::host_task(s, times_two, a);
        fr::runtime::current().backend().copy(t.native(), copied.unsynchronized_data(), a.unsynchronized_data(), 4 * n);
        fr::synchronize();
      });
      BOOST_TEST((has(writes, "race: ") && has(writes, "host task of host_tasks_test.cpp:")), writes);
      const std::string submitted = race_of(seed, [](fr::stream& s, fr::stream& t, fr::unified_array<int>& a) {
        fr::unified_array<int> y({n}, 0);
        fr::submit(s, axpy, 2, fr::in(a), y);
        write_outside(t, a.unsynchronized_data(), 3);
        fr::synchronize();
      });
      BOOST_TEST((has(submitted, "race: ") && has(submitted, "kernel '")), submitted);
      const std::string none = race_of(seed, [](fr::stream& s, fr::stream& t, fr::unified_array<int>& a) {
        fr::host_task(
            s, [](const int*) {}, fr::in(a));
        fr::host_task(
            t, [](const int*) {}, fr::in(a));
        fr::parallel_for(t, n, add{1}, a);
      });
      BOOST_TEST(none == "");
    }
}

BOOST_AUTO_TEST_CASE(errors_of_tasks_under_random_schedules) {
  for (int seed = 0; seed < seeds; ++seed) BOOST_TEST_CONTEXT(machine(seed)) {
      const fr::simulation sim(machine(seed));
      fr::stream s{fr::device(0)}, t{fr::device(1)};
      fr::host_array<int> a({n}, 1);
      a.name("a");
      const auto fail = [](int*) { throw std::runtime_error("disk full"); };
      const int line = __LINE__ + 1;
      fr::host_task(s, fail, a);
      fr::parallel_for(t, n, add{1}, a);
      check_error<fr::host_task_error>([&] { (void)a[3]; },
                                       {"host_task in host_tasks_test.cpp:" + std::to_string(line), "disk full",
                                        "array 'a' in host_tasks_test.cpp:" + std::to_string(line + 2)});
      BOOST_TEST((a[3] == 2 && fr::device(0).failure() == ""));  // the device did not fail
      fr::host_task(
          s, [&](int*) { fr::fill(t, a, 1); }, a);
      check_error<fr::host_task_error>([] { fr::synchronize(); }, {"from inside a function"});
      fr::host_task(
          s, [&](int*) { (void)t.record(); }, a);
      check_error<fr::host_task_error>([] { fr::synchronize(); }, {"record an event", "from inside a function"});
      fr::device_array<int> copied({n}, 0);
      fr::host_task(s, fail, a);
      fr::copy(t, a, copied);
      check_error<fr::host_task_error>([&] { (void)fr::to_vector(copied); }, {"disk full", "the wait for the unnamed"});
      fr::host_task(
          s, [](fr::mdspan<const int, 1> x) { (void)x[n]; }, a);  // checked as in kernels
      check_error<fr::host_task_error>([&] { s.synchronize(); }, {"'a'", "index 64"});
      fr::synchronize();
    }
}

BOOST_AUTO_TEST_CASE(errors_that_no_call_waited_for_are_printed) {
  const support::quiet_stderr quiet;
  {
    const fr::simulation sim("devices=1;schedule=random:4");
    fr::host_task(fr::stream(), [] { throw std::runtime_error("unseen"); });
  }
  BOOST_TEST((has(quiet.text(), "at the end of a simulated machine") && has(quiet.text(), "unseen")));
}

BOOST_AUTO_TEST_CASE(memory_that_the_cpu_cannot_access) {
  const fr::simulation sim("devices=1");
  const fr::stream s;
  fr::soa<int, float> on_cpu(n);
  fr::basic_soa<fr::memory_kind::device, int, float> on_device(n);
  on_device.name("records");
  const auto nothing = [](auto) {};
  fr::host_task(s, nothing, fr::in(on_cpu));
  check_error<fr::invalid_argument>(
      [&] { fr::host_task(s, nothing, fr::in(on_device)); },
      {"host_task: array 'records' in host_tasks_test.cpp:", "memory of device 0", "ferry::host_array"});
}

BOOST_AUTO_TEST_CASE(devices_without_concurrent_managed_access) {
  const fr::simulation sim("devices=2;concurrent_managed=off");
  const fr::stream s;
  fr::unified_array<int> a({n}, 1);
  fr::host_task(s, times_two, a);  // pinned there
  BOOST_TEST(a[1] == 2);
  fr::detail::backend& backend = fr::runtime::current().backend();
  int* const p = static_cast<int*>(backend.allocate(fr::memory_kind::unified, 0, 4 * n));
  {
    auto managed = fr::borrow<fr::memory_kind::unified>(p, n, {.name = "theirs"});
    check_error<fr::not_supported>([&] { fr::host_task(s, times_two, managed); },
                                   {"array 'theirs'", "managed memory that ferry did not allocate",
                                    "device 0 works, which lacks concurrent managed access", "ferry::host_array"});
  }
  backend.release(fr::memory_kind::unified, 0, p, 4 * n);
}

BOOST_AUTO_TEST_CASE(addresses_of_arrays_in_functions_are_refused) {
  const fr::simulation sim("devices=1");
  fr::runtime::current().checks.set(fr::check::pointers, true);
  const fr::stream s;
  fr::host_array<int> a({n}, 1);
  std::vector<int> own(n, 1);
  int* const p = a.unsynchronized_data();
  int* const q = own.data();
  fr::host_task(s, [q] { q[0] = 5; });  // memory of the program
  check_error<fr::invalid_argument>([&] { fr::host_task(s, [p] { p[0] = 5; }); },
                                    {"host_tasks_test.cpp:", "holds the address"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::host_task(
            s, [](int* x) { x[0] = 5; }, p);
      },
      {"argument 1"});
  s.synchronize();
  BOOST_TEST((a[0] == 1 && own[0] == 5));
}

BOOST_AUTO_TEST_CASE(elements_that_tasks_do_not_write_are_poisoned) {
  const fr::simulation sim("devices=1");
  fr::runtime::current().checks.set(fr::check::poison, true);
  const fr::stream s;
  fr::host_array<float> a({n}, 1.f);
  fr::host_task(
      s, [](float* x) { x[0] = 2; }, fr::out(a));
  BOOST_TEST((a[0] == 2 && a[1] != a[1]));
}

BOOST_AUTO_TEST_CASE(calls_of_libraries_on_simulated_devices) {
  for (int seed = 0; seed < seeds; ++seed) BOOST_TEST_CONTEXT(machine(seed)) {
      const fr::simulation sim(machine(seed));
      fr::stream s{fr::device(0)}, t{fr::device(1)};
      fr::device_array<int> x({n}, 1, fr::device(0)), y({n}, 1, fr::device(0));
      auto g = fr::capture(t, [&] { fr::submit(s, axpy, 3, fr::in(x), y); });
      int expected_x = 1, expected_y = 1;
      for (int i = 0; i < 4; ++i) {
        fr::parallel_for(t, n, add{1}, x);
        fr::submit(s, axpy, 2, fr::in(x), y);
        g.launch(t);
        expected_x += 1, expected_y += 5 * expected_x;
      }
      BOOST_TEST(fr::to_vector(y) == std::vector<int>(n, expected_y), boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(kernels_on_staging_copies_stand_for_libraries) {
  const fr::simulation sim("devices=2;peers=none");
  fr::runtime::current().peers().kernels(fr::detail::peer_kernels::stage);
  fr::stream t{fr::device(1)};
  fr::device_array<int> x({n}, 2, fr::device(0)), y({n}, 1, fr::device(0));
  fr::submit(t, axpy, 4, fr::in(x), y);
  BOOST_TEST(fr::to_vector(y) == std::vector<int>(n, 9), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(errors_of_the_function_for_simulated_devices) {
  for (int seed = 0; seed < 4; ++seed) BOOST_TEST_CONTEXT(machine(seed)) {
      const support::machine_that_breaks sim(machine(seed));
      fr::stream s;
      fr::device_array<int> y({n}, 1);
      std::string text, nested;
      const auto call = fr::cuda_or_simulated([](fr::native_stream, int*) {},
                                              [&, s = fr::stream_ref(s)](int*) {
                                                nested = support::failure_of([&] { s.synchronize(); });
                                                throw std::runtime_error("no such matrix");
                                              });
      text = support::failure_of<fr::device_error>([&] {
        fr::submit(s, call, y);
        fr::synchronize();
      });
      BOOST_TEST(has(text, "no such matrix"), text);
      BOOST_TEST(has(nested, "from inside a function that a stream runs on the CPU"), nested);
    }
}

// Functions that declare a cudaStream_t are as good; CUDA's type is another pointer.
BOOST_AUTO_TEST_CASE(cuda_streams_need_a_second_function) {
  const fr::simulation sim("devices=1");
  const fr::stream s;
  fr::device_array<int> y({n}, 1);
  const auto on_cuda = [](struct CUstream_st*, int*) {};
  check_error<fr::not_supported>([&] { fr::submit(s, on_cuda, y); }, {"CUDA stream", "ferry::cuda_or_simulated(f, g)"});
  fr::submit(s, fr::cuda_or_simulated(on_cuda, times_two), y);
  BOOST_TEST(fr::to_vector(y) == std::vector<int>(n, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(tasks_on_the_cpu_as_a_device) {
  const fr::simulation sim("devices=1;threads=3");
  const fr::stream s;
  fr::unified_array<int> a({100000}, 1);
  fr::parallel_for(s, a.size(), add{1}, a);
  fr::host_task(s, times_two, a);
  fr::parallel_for(s, a.size(), add{1}, a);
  BOOST_TEST(std::as_const(a)[99999] == 5);
}

BOOST_AUTO_TEST_SUITE_END()
