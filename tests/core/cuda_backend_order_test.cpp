// Order on the CUDA backend, on real GPUs: host functions, events, capture, and two devices.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "cuda_fixture.hpp"
#include "cuda_strided_cases.hpp"

using namespace cuda_test;

BOOST_AUTO_TEST_SUITE(cuda_backend_order, *utf::precondition(needs_devices{1}))

BOOST_FIXTURE_TEST_CASE(host_functions_run_in_order_and_may_throw, unchanged) {
  std::atomic<int> ran{0};
  int order = 0;
  b.run_on_host(s, [&] {
    nap(20);
    order = ran == 0 ? 1 : -1;
    ++ran;
  });
  b.run_on_host(s, [&] {
    order = order == 1 ? 2 : -1;
    ++ran;
  });
  BOOST_TEST(!b.is_done(s));
  check("is_done");
  b.synchronize(s);
  BOOST_TEST(order == 2);
  BOOST_TEST(b.is_done(s));
  b.run_on_host(s, [] { throw std::runtime_error("no such luck"); });
  b.run_on_host(s, [&] { ++ran; });
  BOOST_CHECK_EXCEPTION(b.synchronize(s), device_error,
                        [](const device_error& e) { return contains(e.what(), "no such luck"); });
  BOOST_TEST(ran == 3);
  b.synchronize(s);
  check("run_on_host");
}

BOOST_FIXTURE_TEST_CASE(events_order_streams_and_tell_time, unchanged) {
  const native_stream t = b.create_stream(0, -1);
  BOOST_TEST(b.stream_id(s) != b.stream_id(t));
  const native_event start = b.create_event(0, true), end = b.create_event(0, true), plain = b.create_event(0, false);
  BOOST_TEST(b.is_done(plain));  // never recorded
  std::atomic<int> x{0};
  int seen = -1;
  b.record(start, s);
  b.run_on_host(s, [&] {
    nap(30);
    x = 5;
  });
  b.record(end, s);
  b.record(plain, s);
  check("record");
  b.wait(t, plain);
  check("wait");
  b.run_on_host(t, [&] { seen = x; });
  BOOST_TEST(!b.is_done(plain));
  BOOST_CHECK_THROW(b.elapsed_milliseconds(start, end), invalid_argument);
  b.synchronize(plain);
  BOOST_TEST(x == 5);
  b.synchronize(t);
  BOOST_TEST(seen == 5);
  BOOST_TEST(b.elapsed_milliseconds(start, end) > 25.0);
  for (const native_event e : {start, end, plain}) b.destroy_event(e);
  b.destroy_stream(t);
  check("destroy_event");
}

// Such a thread has no current context yet, which driver calls on default streams need.
BOOST_FIXTURE_TEST_CASE(a_thread_that_called_nothing_yet_hands_over, unchanged) {
  const native_stream t = b.create_stream(0, 0), legacy{}, per_thread{cudaStreamPerThread};
  const native_event e = b.create_event(0, false), of_default = b.create_event(0, false);
  int x = 0, seen = -1;
  std::string failed;
  b.run_on_host(s, [&] {
    nap(20);
    x = 5;
  });
  std::thread([&] {
    try {
      b.record(e, s), b.wait(t, e);
      for (const native_stream of : {legacy, per_thread})
        b.record(of_default, of), b.wait(of, e), b.wait(t, of_default);
    } catch (const std::exception& thrown) {
      failed = thrown.what();
    }
  }).join();
  BOOST_TEST(failed == "");
  b.run_on_host(t, [&] { seen = x; });
  b.synchronize(t);
  BOOST_TEST(seen == 5);
  for (const native_event made : {e, of_default}) b.destroy_event(made);
  b.destroy_stream(t);
  check("destroy_event");
}

BOOST_FIXTURE_TEST_CASE(unified_memory_can_be_moved_and_advised, unchanged) {
  const std::size_t n = (std::size_t{4} << 20) + 3;
  const bytes u(b, memory_kind::unified, 0, n);
  std::fill(u.p, u.p + n, std::byte{3});
  b.prefetch(s, u.p, n, {0});
  check("prefetch");
  for (const memory_advice a :
       {memory_advice::read_mostly, memory_advice::unset_read_mostly, memory_advice::preferred_location,
        memory_advice::unset_preferred_location, memory_advice::accessed_by, memory_advice::unset_accessed_by})
    for (const memory_location where : {memory_location{0}, memory_location{}}) {
      b.advise(u.p, n, a, where);
      check("advise");
    }
  b.prefetch(s, u.p, n, {});
  b.prefetch(s, u.p, 0, {});
  b.synchronize(s);
  BOOST_CHECK(std::all_of(u.p, u.p + n, [](std::byte v) { return v == std::byte{3}; }));
  BOOST_CHECK_THROW(b.prefetch(s, u.p, n, {b.device_count()}), invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(captured_work_runs_at_every_launch, unchanged) {
  const bytes a(b, memory_kind::device, 0, 1000), c(b, memory_kind::device, 0, 1000);
  const native_stream t = b.create_stream(0, 0);
  const native_event fork = b.create_event(0, false), join = b.create_event(0, false);
  auto counter = std::make_shared<std::atomic<int>>(0);
  const std::uint32_t word = 0x01020304;
  const std::uint64_t id = b.stream_id(s);
  b.begin_capture(s);
  BOOST_TEST(b.is_capturing(s));
  b.release(memory_kind::device, 0, b.allocate(memory_kind::device, 0, 4096), 4096);  // not part of the capture
  BOOST_TEST(b.is_done(join));
  BOOST_TEST(b.stream_id(s) == id);  // a CUDA call here would invalidate the capture
  b.fill_strided(s, {a.p, {4}}, {.element_bytes = 4, .rank = 1, .extent = {250}}, &word);
  b.record(fork, s);
  b.wait(t, fork);
  BOOST_TEST(b.is_capturing(t));
  b.copy(t, c.p, a.p, 1000);
  b.record(join, t);
  b.wait(s, join);
  b.run_on_host(s, [counter] { ++*counter; });
  const native_graph g = b.end_capture(s);
  check("end_capture");
  BOOST_TEST(!b.is_capturing(s));
  const auto launch = [&](native_graph one, int count) {
    put(c.p, std::vector<std::byte>(1000));
    b.launch_graph(one, s);
    check("launch_graph");
    const auto got = fetch(c.p, 1000);
    for (std::size_t i = 0; i < 1000; ++i) BOOST_CHECK(got[i] == static_cast<std::byte>(4 - i % 4));
    BOOST_TEST(*counter == count);
  };
  launch(g, 1);
  launch(g, 2);
  b.begin_capture(s);
  b.launch_graph(g, s);  // becomes part of the capture twice, in sequence, and runs with the whole
  b.launch_graph(g, s);
  check("launch_graph inside a capture");
  const native_graph outer = b.end_capture(s);
  b.destroy_graph(g);
  check("destroy_graph");
  launch(outer, 4);
  b.destroy_graph(outer);
  for (int i = 0; i < 200 && counter.use_count() > 1; ++i) nap(5);
  BOOST_TEST(counter.use_count() == 1);  // destroying the graph frees its function
  b.destroy_event(fork);
  b.destroy_event(join);
  b.destroy_stream(t);
}

// CUDA refuses every query on a foreign stream in capture: the current device is used instead, and the id is an error.
BOOST_FIXTURE_TEST_CASE(foreign_streams_are_accepted_and_can_be_captured, unchanged) {
  const bytes a(b, memory_kind::device, current, 1000);
  cudaStream_t own = nullptr;
  BOOST_TEST(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) == cudaSuccess);
  const native_stream foreign{own};
  const std::byte two{2}, three{3};
  const strided_shape odd{.element_bytes = 1, .rank = 1, .extent = {500}};
  BOOST_TEST(b.stream_id(foreign) != b.stream_id(s));
  b.fill_strided(foreign, {a.p, {2}}, odd, &two);
  b.synchronize(foreign);
  b.begin_capture(foreign);
  b.fill_strided(foreign, {a.p + 1, {2}}, odd, &three);
  BOOST_CHECK_THROW(b.stream_id(foreign), invalid_argument);
  const native_graph g = b.end_capture(foreign);
  b.launch_graph(g, foreign);
  std::vector<std::byte> got(1000);
  b.copy(foreign, got.data(), a.p, got.size());
  b.synchronize(foreign);
  check("foreign stream");
  for (std::size_t i = 0; i < 1000; ++i) BOOST_CHECK(got[i] == (i % 2 == 0 ? two : three));
  b.destroy_graph(g);
  BOOST_TEST(cudaStreamDestroy(own) == cudaSuccess);
}

// Relaxed scopes: ferry's calls must work while the program captures elsewhere in the strictest mode, and must not
// invalidate that capture.
BOOST_FIXTURE_TEST_CASE(allocation_and_queries_work_during_a_global_capture, unchanged) {
  cudaStream_t own = nullptr;
  BOOST_TEST(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) == cudaSuccess);
  BOOST_TEST(cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal) == cudaSuccess);
  for (const memory_kind kind : {memory_kind::device, memory_kind::unified, memory_kind::host})
    b.release(kind, 0, b.allocate(kind, 0, 4096), 4096);
  const native_stream t = b.create_stream(0, 0);
  const native_event e = b.create_event(0, false);
  b.record(e, t);
  b.synchronize(e);
  b.synchronize(t);
  BOOST_TEST(b.is_done(e));
  b.destroy_event(e);
  b.destroy_stream(t);
  b.memory(0);
  check("during a global capture");
  cudaGraph_t graph = nullptr;
  BOOST_TEST(cudaStreamEndCapture(own, &graph) == cudaSuccess);
  BOOST_TEST(cudaGraphDestroy(graph) == cudaSuccess);
  BOOST_TEST(cudaStreamDestroy(own) == cudaSuccess);
}

BOOST_FIXTURE_TEST_CASE(a_broken_capture_is_an_error_with_a_way_out, unchanged) {
  b.begin_capture(s);
  BOOST_CHECK_EXCEPTION(b.synchronize(s), invalid_argument,
                        [](const invalid_argument& e) { return contains(e.what(), "captured"); });
  check("synchronize");
  BOOST_CHECK_THROW(b.end_capture(s), invalid_argument);
  check("end_capture");
  BOOST_TEST(!b.is_capturing(s));
  b.synchronize(s);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cuda_backend_two_devices,
                      *utf::precondition(needs_devices{2}) * boost::unit_test::label("two_devices"))

BOOST_FIXTURE_TEST_CASE(peers_copy_both_ways, unchanged) {
  cuda_test::random_engine r(5);
  const std::size_t n = (1u << 20) + 13;
  const native_stream s1 = b.create_stream(1, 0);
  for (const bool enabled : {false, true}) {
    if (enabled) {
      if (!b.can_access_peer(0, 1) || !b.can_access_peer(1, 0)) break;
      for (int twice = 0; twice < 2; ++twice) {
        b.enable_peer_access(0, 1);
        b.enable_peer_access(1, 0);
        check("enable_peer_access");
      }
    }
    const bytes a(b, memory_kind::device, 0, n), c(b, memory_kind::device, 1, n), back(b, memory_kind::device, 0, n);
    const auto v = cuda_test::random_bytes(r, n);
    put(a.p, v);
    b.copy_peer(s, c.p, 1, a.p, 0, n);
    check("copy_peer");
    b.synchronize(s);
    b.copy_peer(s1, back.p, 0, c.p, 1, n);
    b.synchronize(s1);
    BOOST_CHECK(fetch(back.p, n) == v);
    if (!enabled) continue;
    // A kernel of device 0 reads every second byte of device 1, and one of device 1 writes device 0.
    const strided_shape half{.element_bytes = 1, .rank = 1, .extent = {n / 2}};
    b.copy_strided(s, {a.p, {1}}, {c.p, {2}}, half);
    const auto got = fetch(a.p, n / 2);
    for (std::size_t i = 0; i < n / 2; i += 101) BOOST_CHECK(got[i] == v[2 * i]);
    const std::byte one{1};
    b.fill_strided(s1, {back.p, {2}}, half, &one);
    check("fill_strided");
    b.synchronize(s1);
    BOOST_CHECK(fetch(back.p, 2)[0] == one && fetch(back.p, 2)[1] == v[1]);
  }
  b.destroy_stream(s1);
}

BOOST_FIXTURE_TEST_CASE(events_order_streams_of_two_devices, unchanged) {
  const native_stream s1 = b.create_stream(1, 0);
  const native_event e = b.create_event(0, false), e1 = b.create_event(1, false);
  std::atomic<int> x{0};
  int seen = 0;
  b.run_on_host(s, [&] {
    nap(30);
    x = 1;
  });
  b.record(e, s);
  b.wait(s1, e);
  b.run_on_host(s1, [&] { seen = x; });
  b.record(e1, s1);
  check("record");
  b.synchronize(e1);
  BOOST_TEST(seen == 1);
  BOOST_CHECK_THROW(b.record(e, s1), invalid_argument);  // an event belongs to its device
  check("record");
  b.destroy_event(e);
  b.destroy_event(e1);
  b.destroy_stream(s1);
}

BOOST_AUTO_TEST_SUITE_END()
