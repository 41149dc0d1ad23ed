// Teams: their members, and how ranges are divided.
#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/ferry.hpp>
#include <ferry/multigpu/process_error.hpp>

#include "ferry/core/detail/runtime/peer.hpp"

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(teams)

// Parts are adjacent, cover the whole range, and differ by one element at most.
BOOST_AUTO_TEST_CASE(parts_cover_a_range) {
  fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  BOOST_TEST(t.size() == 4u);
  for (const std::size_t count : {0u, 1u, 3u, 4u, 5u, 17u, 1000u}) {
    std::size_t next = 0;
    for (std::size_t m = 0; m < t.size(); ++m) {
      const fr::part p = t.part_of(m, count);
      BOOST_TEST(p.begin == next);
      BOOST_TEST((p.size() == count / 4 || p.size() == count / 4 + 1));
      next = p.end;
    }
    BOOST_TEST(next == count);
  }
}

BOOST_AUTO_TEST_CASE(a_team_shares_its_links_while_it_exists) {
  fr::simulation sim("devices=3");
  const auto route = [] { return fr::route(fr::pinned_memory, fr::device(0)); };
  BOOST_TEST((route().kind != fr::route_kind::multipath));
  {
    const fr::team t(fr::devices().first(2));
    const fr::team same = t;
    BOOST_TEST((route().kind == fr::route_kind::multipath || !sim.get().peers().policy().use), route().text());
    BOOST_TEST((route().through == std::vector<int>{1} || !sim.get().peers().policy().use));
  }
  BOOST_TEST((route().kind != fr::route_kind::multipath));
}

BOOST_AUTO_TEST_CASE(members_stay_in_order) {
  fr::simulation sim("devices=3");
  const std::vector<fr::device> order{fr::devices()[2], fr::devices()[0]};
  const fr::team t(order);
  BOOST_TEST(t[0].where().index() == 2);
  BOOST_TEST(t[1].where().index() == 0);
}

BOOST_AUTO_TEST_CASE(every_element_has_the_member_whose_part_it_is_in) {
  fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  for (const std::size_t count : {1u, 3u, 4u, 7u, 1001u})
    for (std::size_t i = 0; i < count; ++i) {
      const fr::part p = t.part_of(t.member_of(i, count), count);
      BOOST_TEST((p.begin <= i && i < p.end));
    }
  BOOST_CHECK_THROW((void)t.member_of(3, 3), fr::invalid_argument);
}

BOOST_AUTO_TEST_CASE(copies_name_the_same_team) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all(), same = t, other = fr::team::all();
  BOOST_TEST((same == t));
  BOOST_TEST(!(other == t));
  BOOST_TEST((same.stream(1) == t.stream(1)));
  BOOST_TEST(!(t.stream(1) == t.side_stream(1)));
  BOOST_TEST(t.side_stream(1).where().index() == 1);
  BOOST_TEST(t.side_stream(1).priority() < t.stream(1).priority());
}

// One process's part of a team that spans processes.
BOOST_AUTO_TEST_CASE(members_of_other_processes) {
  fr::simulation sim("devices=2");
  const fr::team t(fr::devices(), 3, 6, nullptr);
  BOOST_TEST(t.size() == 6u);
  BOOST_TEST(t.local_size() == 2u);
  BOOST_TEST(t.first_local() == 3u);
  for (std::size_t m = 0; m < 6; ++m) BOOST_TEST(t.is_local(m) == (m == 3 || m == 4));
  BOOST_TEST(t.device(4).index() == 1);
  BOOST_TEST((t.part_of(5, 13) == fr::part{11, 13}));
  BOOST_CHECK_EXCEPTION((void)t.device(2), fr::invalid_argument, [](const fr::error& e) {
    return std::string(e.what()).find("another process") != std::string::npos;
  });
  std::vector<std::size_t> called;
  t.for_each([&](std::size_t m) { called.push_back(m); });
  BOOST_TEST((called == std::vector<std::size_t>{3, 4}));
  BOOST_CHECK_THROW(fr::team(fr::devices(), 5, 6, nullptr), fr::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_thread_for_each_device) {
  fr::simulation sim("devices=4");
  fr::team t = fr::team::all();
  t.submit(fr::submission::by_threads);
  BOOST_TEST((t.how_submitted() == fr::submission::by_threads));
  std::vector<std::thread::id> who(4);
  std::vector<int> calls(4);
  for (int round = 0; round < 300; ++round) {
    t.for_each([&](std::size_t m) { who[m] = std::this_thread::get_id(), ++calls[m]; });
    // Waits until the threads sleep, and wakes them again.
    if (round == 100) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  BOOST_TEST((calls == std::vector<int>{300, 300, 300, 300}));
  BOOST_TEST((std::set<std::thread::id>(who.begin(), who.end()).size() == 4));
  // Nested calls stay on their thread. An exception is rethrown after all calls are complete, and the next call is
  // unaffected.
  std::atomic<int> inner{0}, reached{0};
  BOOST_CHECK_EXCEPTION(t.for_each([&](std::size_t m) {
    t.for_each([&](std::size_t) { ++inner; });
    ++reached;
    if (m >= 2) throw fr::invalid_argument("member " + std::to_string(m));
  }),
                        fr::invalid_argument, [](const fr::error& e) { return std::string(e.text()) == "member 2"; });
  BOOST_TEST(inner == 16);
  BOOST_TEST(reached == 4);
  t.for_each([&](std::size_t) { ++reached; });
  BOOST_TEST(reached == 8);
  t.submit(fr::submission::by_caller);
  t.for_each([&](std::size_t m) { who[m] = std::this_thread::get_id(); });
  for (const auto& id : who) BOOST_TEST((id == std::this_thread::get_id()));
}

// Waiting for the team reports that the transport aborted an operation because of another process.
BOOST_AUTO_TEST_CASE(waiting_reports_aborted_operations) {
  struct ended final : fr::detail::transport {
    bool failed = false;
    std::string_view name() const override { return "ended"; }
    void submit(std::span<const fr::detail::collective_call>, std::span<const fr::stream_ref>) override {}
    void check() override {
      if (failed) throw fr::process_error("process 1 failed");
    }
  };
  fr::simulation sim("devices=2");
  const auto carrier = std::make_shared<ended>();
  const fr::team t(fr::devices(), 0, 2, carrier);
  std::vector<fr::device_array<int>> a;
  for (std::size_t m = 0; m < 2; ++m) a.emplace_back(fr::extents<1>{8}, 1, t.device(m));
  fr::all_reduce(t, a, fr::plus{});
  t.synchronize();
  carrier->failed = true;
  BOOST_CHECK_THROW(t.synchronize(), fr::process_error);
}

BOOST_AUTO_TEST_CASE(teams_that_cannot_be) {
  fr::simulation sim("devices=2");
  const fr::device d = fr::devices()[1];
  BOOST_CHECK_THROW(fr::team(std::vector<fr::device>{}), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::team(std::vector<fr::device>{fr::device(5)}), fr::invalid_argument);
  BOOST_CHECK_EXCEPTION(fr::team(std::vector<fr::device>{d, d}), fr::invalid_argument, [](const fr::error& e) {
    return std::string(e.what()).find("device 1 is named twice") != std::string::npos;
  });
  const fr::team t = fr::team::all();
  BOOST_CHECK_THROW((void)t[2], fr::invalid_argument);
  BOOST_CHECK_THROW((void)t.part_of(2, 10), fr::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
