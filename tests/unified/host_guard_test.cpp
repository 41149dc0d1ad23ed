// host_guard: waits, writes, and the error that names two source lines.
#include <optional>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "sim/sim_backend.hpp"
#include "support/failures.hpp"

namespace fr = ferry;
using support::failure_of;

BOOST_AUTO_TEST_SUITE(host_guards)

BOOST_AUTO_TEST_CASE(waits_and_writes) {
  for (int seed = 0; seed < 10; ++seed) {
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    fr::unified_array<int, 2> u({20, 30}, 3);
    {
      fr::host_guard g(fr::inout(u));
      BOOST_TEST((g(19, 29) == 3 && g.size() == 600U && g.extent(1) == 30U));
      for (int& x : g.span()) ++x;
    }
    fr::fill(u.slice({0, 1}), 7);
    fr::host_guard g(fr::in(u));
    BOOST_TEST((g(0, 5) == 7 && g(1, 5) == 4));
    static_assert(std::is_const_v<std::remove_reference_t<decltype(g(0, 0))>>);
  }
}

BOOST_AUTO_TEST_CASE(a_conflict_names_both_lines) {
  fr::simulation sim("devices=2");
  fr::unified_array<float> u({1000}, 0.f), v({1000}, 0.f);
  u.name("pressure");
  fr::stream s;
  int write_line = 0;
  const auto write = [&] {
    write_line = __LINE__ + 2;
    fr::submit(
        s, [](fr::native_stream, float*) {}, fr::inout(u));
  };
  const auto read = [&] {
    fr::submit(
        s, [](fr::native_stream, const float*) {}, fr::in(u));
  };
  {
    const int line = __LINE__ + 1;
    fr::host_guard g(fr::in(u));
    const std::string text = failure_of(write);
    BOOST_TEST(text.find("'pressure'") != std::string::npos, text);
    BOOST_TEST(text.find("host_guard_test.cpp:" + std::to_string(line)) != std::string::npos, text);
    BOOST_TEST(text.find("host_guard_test.cpp:" + std::to_string(write_line)) != std::string::npos, text);
    BOOST_TEST(text.find("writes it") != std::string::npos, text);
    BOOST_TEST(failure_of(read).empty(), "both only read");
    BOOST_TEST(failure_of([&] { fr::fill(s, v, 1.f); }).empty(), "another array");
  }
  {
    fr::host_guard g(fr::inout(u.slice({0, 500})));
    BOOST_TEST(!failure_of(read).empty());
    BOOST_TEST(failure_of([&] { fr::fill(s, u.slice({500, 1000}), 1.f); }).empty(), "another part");
    BOOST_TEST(!failure_of([&] { fr::fill(s, u, 1.f); }).empty());
  }
  BOOST_TEST(failure_of(write).empty());
  {
    fr::host_guard g(fr::inout(u));
    u.free();
  }
  fr::unified_array<float> w({1000}, 1.f);  // the same bytes, without a guard
  BOOST_TEST(std::as_const(w)[0] == 1);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  fr::simulation sim("devices=2");
  fr::device_array<int> d({10}, 1);
  BOOST_TEST(failure_of([&] { fr::host_guard g(fr::in(d)); }).find("device memory") != std::string::npos);
  fr::unified_array<int, 2> u({10, 10}, 1);
  fr::host_guard g(fr::inout(u.slice({{0, 10}, {0, 5}})));
  BOOST_CHECK_THROW((void)g.begin(), fr::invalid_argument);
  BOOST_TEST(g(9, 4) == 1);
  fr::host_array<int> h({10}, 2);
  fr::host_guard pinned(fr::inout(h));
  pinned[3] = 4;
  BOOST_TEST(h[3] == 4);
  fr::unified_array<int> none({0});
  fr::host_guard nothing(fr::inout(none));
  BOOST_TEST(nothing.size() == 0U);
}

// A guard of a pinned array refuses conflicting work, too. Without such a guard, the check is skipped.
BOOST_AUTO_TEST_CASE(of_pinned_arrays) {
  fr::simulation sim("devices=2");
  fr::host_array<int> h({100}, 2);
  h.name("staging");
  fr::device_array<int> d({100});
  fr::stream s;
  const auto write = [&] { fr::fill(s, h, 3); };
  fr::graph g = fr::capture(s, write);
  {
    const fr::host_guard held(fr::in(h));
    const std::string text = failure_of(write);
    BOOST_TEST(text.find("'staging'") != std::string::npos, text);
    BOOST_TEST(text.find("reads it through a host_guard") != std::string::npos, text);
    BOOST_TEST(!failure_of([&] { g.launch(s); }).empty());
    BOOST_TEST(!failure_of([&] { fr::copy(s, d, h); }).empty());
    fr::copy(s, std::as_const(h), d);
    BOOST_TEST(fr::detail::access_policy::held_beside_unified.load() == 1);
  }
  write();
  g.launch(s);
  BOOST_TEST(std::as_const(h)[99] == 3);
  BOOST_TEST(fr::detail::access_policy::held_beside_unified.load() == 0);
  std::optional<fr::host_guard<int, 1>> late;
  {
    fr::simulation inner("devices=1");
    fr::host_array<int> gone({10}, 1);
    late.emplace(fr::inout(gone));
    gone.free();
    late.reset();
    BOOST_TEST(fr::detail::access_policy::held_beside_unified.load() == 1);  // until the bytes have a new owner
  }
  BOOST_TEST(fr::detail::access_policy::held_beside_unified.load() == 0);
}

// A prefetch leaves pages under a guard on the CPU, and transfers the others.
BOOST_AUTO_TEST_CASE(prefetches_leave_what_is_held) {
  constexpr std::size_t page = std::size_t{2} << 20;
  fr::simulation sim("devices=2;memory=64MiB");
  const fr::device first = fr::devices()[0];
  fr::unified_array<char> u({8 * page});
  for (char& c : u) c = 'x';
  const auto sent = [&] {
    auto& pages = dynamic_cast<fr::detail::sim::inspector&>(sim.get().backend());
    fr::default_stream(first).synchronize();
    const auto on_device = pages.residency(u.unsynchronized_data(), u.size())[0];
    BOOST_TEST(fr::residency(u).on(first) == on_device);
    return on_device / page;
  };
  {
    const fr::host_guard all(fr::in(u));
    fr::prefetch(u, first);
    BOOST_TEST(sent() == 0U);
  }
  {
    const fr::host_guard inner(fr::inout(u.slice({3 * page - 1, 4 * page + 1})));  // three pages
    const fr::host_guard edge(fr::in(u.slice({0, 1})));
    fr::prefetch(u, first);
    BOOST_TEST(sent() == 4U);
    fr::prefetch(u, fr::host);
    BOOST_TEST(sent() == 0U);
    fr::prefetch(fr::default_stream(first), {{u.slice({2 * page, 5 * page}), first}, {u.slice({0, 2 * page}), first}});
    BOOST_TEST(sent() == 1U);
  }
  fr::prefetch(u, first);
  BOOST_TEST(sent() == 8U);
  BOOST_TEST(std::as_const(u)[8 * page - 1] == 'x');
}

BOOST_AUTO_TEST_SUITE_END()
