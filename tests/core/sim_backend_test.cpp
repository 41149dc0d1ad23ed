// The simulated backend: memory, peers, handles, and CUDA's errors.
#include <numeric>
#include <thread>

#include "sim_fixture.hpp"

using namespace sim_test;

BOOST_AUTO_TEST_SUITE(sim_backend)

BOOST_AUTO_TEST_CASE(memory_is_limited_filled_and_accounted) {
  sim_machine m("devices=2;memory=1MiB");
  auto* p = static_cast<unsigned char*>(m.b.allocate(memory_kind::device, 1, 1000));
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(p) % 256 == 0u);
  BOOST_TEST((p[0] == 0xA5 && p[999] == 0xA5));
  BOOST_TEST(m.b.memory(1).free_bytes == (1u << 20) - 1000);
  BOOST_TEST(m.b.memory(0).free_bytes == 1u << 20);
  try {
    m.b.allocate(memory_kind::device, 1, 1u << 20);
    BOOST_ERROR("no limit");
  } catch (const fr::out_of_memory& e) {
    BOOST_TEST(e.requested() == 1u << 20);
  }
  void* u = m.b.allocate(memory_kind::unified, 0, 4u << 20);
  BOOST_TEST(m.look.held(memory_kind::unified, 0).bytes == 4u << 20);
  check_throws<fr::invalid_argument>([&] { m.b.release(memory_kind::device, 0, p, 1000); }, "memory of device 1");
  check_throws<fr::invalid_argument>([&] { m.b.release(memory_kind::device, 1, p + 1, 1000); }, "no allocation");
  m.b.release(memory_kind::device, 1, p, 1000);
  BOOST_TEST(p[0] == 0xDD);
  check_throws<fr::invalid_argument>([&] { m.b.release(memory_kind::device, 1, p, 1000); }, "released before");
  m.b.release(memory_kind::unified, 0, u, 4u << 20);
  BOOST_TEST(m.look.held(memory_kind::device, 1).allocations == 0u);
  BOOST_TEST(m.look.held(memory_kind::unified, 0).bytes == 0u);
  for (int i = 0; i < 40; ++i)
    m.b.release(memory_kind::host, 0, m.b.allocate(memory_kind::host, 0, 10u << 20), 10u << 20);
}

BOOST_AUTO_TEST_CASE(peer_access_is_asked_for) {
  for (const auto& how : both) {
    sim_machine m("devices=3;peers=0-1;" + how);
    int *x = m.ints(4, 0), *y = m.ints(4, 2);
    const auto s1 = m.stream(1), s2 = m.stream(2);
    BOOST_TEST((m.b.can_access_peer(0, 1) && m.b.can_access_peer(1, 0) && !m.b.can_access_peer(0, 2) &&
                !m.b.can_access_peer(0, 0)));
    check_throws<fr::peer_access_error>([&] { m.b.enable_peer_access(2, 0); },
                                        "device 2 has no way to the memory of device 0");
    m.b.enable_peer_access(1, 0), m.b.enable_peer_access(1, 0);
    set(m, s1, x, 4, 1);
    m.b.synchronize(s1);
    m.b.copy_peer(s2, y, 2, x, 0, 4 * sizeof(int));  // copies need no peers
    BOOST_TEST(fetch(m, s2, y, 4)[3] == 1);
    check_throws<fr::device_error>([&] { set(m, s2, x, 4, 1), m.b.synchronize(s2); },
                                   "belong to device 0, and device 2");
    check_throws<fr::device_error>([&] { m.b.create_event(2, false); }, "belong to device 0, and device 2");
    check_throws<fr::device_error>([&] { m.b.release(memory_kind::device, 2, y, 4 * sizeof(int)); },
                                   "belong to device 0");
    BOOST_TEST(m.look.held(memory_kind::device, 2).bytes == 0u);  // released nevertheless
    BOOST_TEST(fetch(m, s1, x, 4)[0] == 1);                       // other devices continue to work
    m.look.reset_errors();
    m.b.synchronize(s2);
  }
}

BOOST_AUTO_TEST_CASE(illegal_addresses_are_sticky_errors) {
  for (const auto& how : both) {
    const auto fails = [&](auto f, const std::string& part) {
      sim_machine m(how);
      int* x = m.ints(4);
      const auto s = m.stream();
      check_throws<fr::device_error>([&] { f(m, s, x), m.b.synchronize(s); }, part);
      check_throws<fr::device_error>([&] { m.b.is_done(s); }, part);
    };
    int local[4] = {};
    fails([](auto& m, auto s, int* x) { set(m, s, x, 5, 1); }, "past the end");
    fails([](auto& m, auto s, int* x) { set(m, s, x + 4, 1, 1); }, "past the end");
    fails([](auto& m, auto s, int* x) { m.b.copy(s, x, x + 2, 12); }, "past the end");
    fails([&](auto& m, auto s, int*) { set(m, s, local, 4, 1); }, "no memory that device 0 can reach");
    fails([](auto& m, auto s, int* x) { m.b.release(memory_kind::device, 0, x, 16), set(m, s, x, 4, 1); }, "released");
    fails(
        [&](auto& m, auto s, int* x) {
          m.b.copy_strided(s, {reinterpret_cast<std::byte*>(x), {4}}, {reinterpret_cast<std::byte*>(local), {4}},
                           {4, 1, {4}});
        },
        "strided copy");
    fails(
        [](auto& m, auto s, int* x) {
          const std::vector uses{use(x, 4, true, true)};
          m.b.launch(s, {"bad", uses, [](const fr::detail::relocation&) { throw std::runtime_error("index 9 of 4"); }});
        },
        "kernel 'bad': index 9 of 4");
    fails([](auto& m, auto s, int*) { m.b.run_on_host(s, [&m] { m.b.create_stream(0, 0); }); }, "may not call ferry");
  }
}

BOOST_AUTO_TEST_CASE(handles_are_checked) {
  sim_machine m("devices=2"), other("devices=2");
  const auto s = m.stream(0);
  const auto e1 = m.event(1), e = m.event(0);
  check_throws<fr::invalid_argument>([&] { m.b.record(e1, s); }, "its own device");
  m.b.destroy_event(e);
  check_throws<fr::invalid_argument>([&] { m.b.record(e, s); }, "invalid resource handle");
  check_throws<fr::invalid_argument>([&] { other.b.synchronize(s); }, "invalid resource handle");
  check_throws<fr::invalid_argument>([&] { m.b.synchronize(fr::native_stream{}); }, "invalid resource handle");
  BOOST_TEST(m.b.stream_id(s) != m.b.stream_id(m.stream(0)));
  m.b.destroy_stream(s);
  check_throws<fr::invalid_argument>([&] { m.b.is_done(s); }, "invalid resource handle");
  check_throws<fr::invalid_argument>([&] { m.b.create_stream(2, 0); }, "invalid device ordinal");
  check_throws<fr::invalid_argument>([&] { m.b.create_stream(0, 1); }, "priority");
  BOOST_TEST(m.b.exchange_current_device(1) == 0);
  BOOST_TEST(m.b.exchange_current_device(0) == 1);
}

BOOST_AUTO_TEST_CASE(events_take_time) {
  for (const auto& how : both) {
    sim_machine m(how);
    const auto s = m.stream();
    const auto a = m.b.create_event(0, true), b = m.b.create_event(0, true), plain = m.event();
    check_throws<fr::invalid_argument>([&] { m.b.elapsed_milliseconds(a, b); }, "never recorded");
    check_throws<fr::invalid_argument>([&] { m.b.elapsed_milliseconds(plain, b); }, "without timing");
    m.b.record(a, s);
    m.b.run_on_host(s, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    m.b.record(b, s);
    m.b.synchronize(b);
    BOOST_TEST(m.b.elapsed_milliseconds(a, b) >= 2.0);
  }
}

BOOST_AUTO_TEST_CASE(strided_copies_and_fills) {
  for (const auto& how : both) {
    sim_machine m(how);
    int *x = m.ints(12), *y = m.ints(12);
    const auto s = m.stream();
    std::vector<int> v(12);
    std::iota(v.begin(), v.end(), 0);
    m.b.copy(s, x, v.data(), sizeof(int) * 12);
    auto *bx = reinterpret_cast<std::byte*>(x), *by = reinterpret_cast<std::byte*>(y);
    m.b.copy_strided(s, {by, {16, 4}}, {bx, {4, 12}}, {4, 2, {3, 4}});  // transpose of 4 x 3
    BOOST_TEST(fetch(m, s, y, 12) == (std::vector{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}),
               boost::test_tools::per_element());
    m.b.copy_strided(s, {by, {16, 4}}, {bx + 44, {-16, -4}}, {4, 2, {3, 4}});  // reversed
    BOOST_TEST(fetch(m, s, y, 12)[0] == 11);
    m.b.copy_strided(s, {by, {16, 4}}, {bx, {16, 4}}, {4, 2, {3, 4}});
    BOOST_TEST(fetch(m, s, y, 12) == v, boost::test_tools::per_element());
    const int k = -7;
    m.b.fill_strided(s, {by + 4, {16, 8}}, {4, 2, {3, 2}}, &k);
    BOOST_TEST(fetch(m, s, y, 12) == (std::vector{0, -7, 2, -7, 4, -7, 6, -7, 8, -7, 10, -7}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(managed_pages_move) {
  using where = std::map<int, std::size_t>;
  constexpr std::size_t mib = 1u << 20, n = 5 * mib / sizeof(int);
  for (const auto& how : both) {
    sim_machine m(how);
    int* u = m.ints(n, 0, memory_kind::unified);
    const auto s = m.stream(1);
    BOOST_TEST((m.look.residency(u, 5 * mib) == where{{-1, 5 * mib}}));
    m.b.prefetch(s, u, mib, {1}), m.b.synchronize(s);
    BOOST_TEST((m.look.residency(u, 5 * mib) == where{{-1, 3 * mib}, {1, 2 * mib}}));
    m.b.advise(u, 2 * mib, fr::memory_advice::preferred_location, {-1});
    m.b.prefetch(s, u, mib, {-1});
    set(m, s, u, n, 1), m.b.synchronize(s);
    BOOST_TEST((m.look.residency(u, 5 * mib) == where{{-1, 2 * mib}, {1, 3 * mib}}));
    // The pages are not at the preferred location, so the accessing device takes them.
    m.b.advise(u, 2 * mib, fr::memory_advice::preferred_location, {0});
    set(m, s, u, n, 1), m.b.synchronize(s);
    BOOST_TEST((m.look.residency(u, 5 * mib) == where{{1, 5 * mib}}));
    check_throws<fr::invalid_argument>([&] { m.b.prefetch(s, u, 6 * mib, {1}); }, "one allocation of unified memory");
  }
  sim_machine m("concurrent_managed=off");
  BOOST_TEST(!m.b.properties(0).concurrent_managed_access);
  int* u = m.ints(1, 0, memory_kind::unified);
  check_throws<fr::not_supported>([&] { m.b.prefetch(m.stream(), u, 4, {0}); }, "concurrent managed access");
}

BOOST_AUTO_TEST_CASE(faults_are_injected) {
  sim_machine m("fail=alloc@2,copy@1,launch@2,peer@1");
  int* x = m.ints(4, 0);
  BOOST_CHECK_THROW(m.ints(4, 0), fr::out_of_memory);
  int* y = m.ints(4, 1);
  const auto s0 = m.stream(0), s1 = m.stream(1);
  BOOST_CHECK_THROW(m.b.enable_peer_access(0, 1), fr::peer_access_error);
  m.b.enable_peer_access(0, 1);
  set(m, s0, x, 4, 1);
  check_throws<fr::device_error>([&] { set(m, s0, x, 4, 1); }, "call 2");
  check_throws<fr::device_error>([&] { m.b.synchronize(s0); }, "call 2");
  BOOST_CHECK_THROW(m.b.copy(s1, y, y + 1, 4), fr::device_error);
}

BOOST_AUTO_TEST_SUITE_END()
