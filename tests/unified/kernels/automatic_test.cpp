// Automatic migration: pages that change sides are moved ahead of their use, and no others, according to the driver's
// range attributes. traffic_test.cpp covers pages that the driver moves by itself.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "unified/kernels/automatic_fixture.hpp"

namespace automatic {
namespace {

struct set_to {
  float value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] = value; }
};
struct set_even {  // does not write all that out() declares
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const {
    if (i % 2 == 0) x[i] = 1;
  }
};

}  // namespace
}  // namespace automatic

BOOST_AUTO_TEST_SUITE(automatic)

BOOST_AUTO_TEST_CASE(cpu_and_gpu_in_turn) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  u.name("u");
  for (float& x : u) x = 1;
  for (int round = 1; round <= 3; ++round) {
    add(dev(0), u);
    BOOST_TEST(fr::residency(u).on(dev(0)) == u.size_bytes());
    BOOST_TEST(is_at(u, dev(0)));
    double sum = 0;
    for (const float x : std::as_const(u)) sum += x;
    BOOST_TEST(sum == static_cast<double>(n) * (1 + round));
    BOOST_TEST(fr::residency(u).on_cpu == u.size_bytes());
    BOOST_TEST(is_on_cpu(u));
  }
  const auto r = fr::report_migration();
  const fr::migration_entry* e = entry(r, "u");
  BOOST_REQUIRE(e);
  BOOST_TEST(e->to_devices.by_prefetch == 3 * u.size_bytes());
  BOOST_TEST(e->to_cpu.by_prefetch >= 3 * u.size_bytes());
  BOOST_TEST((e->to_devices.by_fault == 0 && e->to_cpu.by_fault == 0 && e->bounces == 0));
  BOOST_TEST(e->suggestion.find("automatic_test.cpp") != std::string::npos, e->suggestion);
}

// The CPU reads elements through one view or several. The pages that it took are prefetched back before the next device
// use.
BOOST_AUTO_TEST_CASE(all_pages_that_were_read_are_sent, *boost::unit_test::precondition(on_simulated_devices)) {
  std::vector<std::uint64_t> sent;
  for (const bool part_first : {false, true}) {
    place here;
    fr::unified_array<float> u({n}, dev(0));
    u.name("u");
    for (float& x : u) x = 1;
    add(dev(0), u);
    [[maybe_unused]] float sum = part_first ? std::as_const(u).slice({0, 1})[0] : 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::as_const(u)[i] > 0 ? 1.f : 0.f;
    add(dev(0), u);
    const auto r = fr::report_migration();
    const fr::migration_entry* e = entry(r, "u");
    BOOST_REQUIRE(e);
    sent.push_back(e->to_devices.by_prefetch);
  }
  BOOST_TEST(sent[0] == 2 * n * sizeof(float));
  BOOST_TEST(sent[1] == sent[0]);
}

// Pages entirely inside the range are discarded and prefetched. The partly written page keeps its contents.
BOOST_AUTO_TEST_CASE(what_out_does_not_write_stays) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 1;
  BOOST_TEST(is_on_cpu(u));
  fr::parallel_for(fr::default_stream(dev(0)), n, set_to{5}, fr::out(u));
  BOOST_TEST(is_at(u, dev(0)));
  BOOST_TEST((u[0] == 5 && u[n - 1] == 5));
  for (float& x : u) x = 2;
  fr::parallel_for(fr::default_stream(dev(0)), n - 100, set_to{7}, fr::out(u.slice({0, n - 100})));
  BOOST_TEST((std::as_const(u)[n - 101] == 7 && std::as_const(u)[n - 100] == 2 && std::as_const(u)[n - 1] == 2));
}

// A call that writes all of an array and reads it, too, reads the earlier contents.
BOOST_AUTO_TEST_CASE(out_and_in_of_one_array) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 6;
  fr::parallel_for(fr::default_stream(dev(0)), n, copy_of{}, fr::out(u), fr::in(u));
  BOOST_TEST((std::as_const(u)[0] == 6 && std::as_const(u)[n - 1] == 6));
}

// The poison comes from the simulator.
BOOST_AUTO_TEST_CASE(partial_writers_under_out_are_seen, *boost::unit_test::precondition(on_simulated_devices)) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 3;
  fr::parallel_for(fr::default_stream(dev(0)), n, set_even{}, fr::out(u));
  BOOST_TEST(u[0] == 1);
  BOOST_TEST((u[1] != u[1]), "the eager schedule runs in place: what was not written is poison, not the old value");
}

BOOST_AUTO_TEST_CASE(explicit_moves_nothing) {
  place here;
  const auto run = [&](fr::unified_array<float>& u) {
    for (float& x : u) x = 1;
    add(dev(0), u);
    return std::as_const(u)[n - 1];
  };
  {
    fr::migration_scope by_hand(fr::migration::explicitly);
    fr::unified_array<float> u({n}, dev(0));
    const prefetch_watch watch(u);
    BOOST_TEST(run(u) == 2);
    BOOST_TEST(watch.saw_none());
  }
  fr::unified_array<float> u({n}, dev(0));
  fr::set_migration(u, fr::migration::explicitly);
  const prefetch_watch of_u(u);
  BOOST_TEST(run(u) == 2);
  BOOST_TEST(of_u.saw_none());
  {
    fr::migration_scope scope(fr::migration::automatic);  // takes precedence over the array's own policy
    BOOST_TEST(run(u) == 2);
    BOOST_TEST(!of_u.saw_none());
    BOOST_TEST(is_at(u, dev(0)));
  }
  fr::set_migration(fr::migration::explicitly);
  fr::unified_array<float> v({n}, dev(0));
  const prefetch_watch of_v(v);
  BOOST_TEST(run(v) == 2);
  BOOST_TEST(of_v.saw_none());
  fr::set_migration(fr::migration::automatic);
}

// An array that reuses another one's bytes inherits neither its policy nor its page locations.
BOOST_AUTO_TEST_CASE(bytes_that_are_reused) {
  place here;
  {
    fr::unified_array<float> u({n}, dev(0));
    fr::set_migration(u, fr::migration::explicitly);
    add(dev(0), u);
  }
  fr::unified_array<float> v({n}, dev(0));
  BOOST_TEST(fr::residency(v).on(dev(0)) + fr::residency(v).on_cpu + fr::residency(v).unknown == v.size_bytes());
  for (float& x : v) x = 4;
  add(dev(0), v);
  BOOST_TEST(is_at(v, dev(0)));
  BOOST_TEST(std::as_const(v)[7] == 5);
}

BOOST_AUTO_TEST_CASE(small_ranges_are_left_to_faults) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 1;
  const prefetch_watch watch(u);
  fr::parallel_for(fr::default_stream(dev(0)), 10, add_one{}, fr::inout(u.slice({5, 15})));
  BOOST_TEST(watch.saw_none());
  const float some = std::as_const(u)[7];
  BOOST_TEST(some == 2);
}

// Several arrays in one page: a few of them are prefetched one by one; if all are used in turn, they are left to
// faults.
BOOST_AUTO_TEST_CASE(arrays_that_crowd_a_page_are_left_to_faults) {
  place here;
  constexpr std::size_t small = (std::size_t{64} << 10) / sizeof(float);
  const auto most = static_cast<std::size_t>(fr::get_migration_options().page_neighbours);
  std::map<std::uintptr_t, std::vector<fr::unified_array<float>>> by_page;
  for (int i = 0; i < 100; ++i) {
    fr::unified_array<float> one({small}, dev(0));
    by_page[reinterpret_cast<std::uintptr_t>(one.bytes().begin) / page].push_back(std::move(one));
  }
  const auto fullest = std::max_element(by_page.begin(), by_page.end(),
                                        [](const auto& x, const auto& y) { return x.second.size() < y.second.size(); });
  std::vector<fr::unified_array<float>>& u = fullest->second;
  BOOST_REQUIRE(u.size() > most);
  for (auto& one : u) one.name("u");
  const auto prefetches = [&](std::size_t arrays) {
    fr::reset_migration_report();
    for (std::size_t i = 0; i < arrays; ++i)
      for (float& x : u[i]) x = 1;
    for (std::size_t i = 0; i < arrays; ++i) add(dev(0), u[i]);
    return entry(fr::report_migration(), "u")->prefetches;
  };
  for (int round = 0; round < 2; ++round) BOOST_TEST(prefetches(most) == most);
  BOOST_TEST(prefetches(most + 1) == most);
  for (int round = 0; round < 2; ++round) BOOST_TEST(prefetches(most + 1) == 0U);
  BOOST_TEST(prefetches(1) == 0U);
  BOOST_TEST(prefetches(1) == 1U);
  for (std::size_t i = 0; i <= most; ++i)
    BOOST_TEST((std::as_const(u[i])[0] == 2 && std::as_const(u[i])[small - 1] == 2));
  fr::set_policy(u[0], fr::array_policy::parse("prefetch"));
  (void)prefetches(most + 1);
  BOOST_TEST(prefetches(most + 1) == 2U, "as its policy says: to the device, and to the CPU");
}

// The loop may continue while its pages arrive. A device access meanwhile stops the remaining transfers.
BOOST_AUTO_TEST_CASE(pages_arrive_beside_the_loop) {
  place here;
  fr::migration_options how = fr::get_migration_options();
  how.piece = page / 2;
  how.beside_simulated_loops = true;
  fr::set_migration(how);
  for (int round = 0; round < 20; ++round) {
    fr::unified_array<float> u({n}, dev(0));
    fr::parallel_for(fr::default_stream(dev(0)), n, set_to{1}, fr::out(u));
    for (float& x : u) x += 1;
    std::transform(u.begin(), u.end(), u.begin(), [](float x) { return x * 2; });
    if (round % 2) add(dev(0), u);
    if (round % 3) fr::parallel_for(fr::default_stream(dev(0)), n / 2, set_to{9}, fr::out(u.slice({0, n / 2})));
    double sum = 0;
    if (round % 5 == 0) {
      u.free();  // during the transfer
      continue;
    }
    for (const float x : std::as_const(u)) sum += x;
    const double half = static_cast<double>(n) / 2, value = round % 2 ? 5 : 4;
    BOOST_TEST(sum == half * value + half * (round % 3 ? 9 : value), "round " << round);
  }
  fr::set_migration(fr::migration_options{});
}

// CUDA's driver loses writes to pages that are discarded in place (decision 33).
BOOST_AUTO_TEST_CASE(discarded_pages_hold_later_writes) {
  place here;
  for (const fr::migration how : {fr::migration::explicitly, fr::migration::automatic}) {
    const fr::migration_scope scope(how);
    for (int round = 0; round < 20; ++round) {
      const fr::device d = fr::devices()[static_cast<std::size_t>(round) % fr::devices().size()];
      const auto with = static_cast<float>(round + 1);
      fr::unified_array<float> u({n}, dev(0)), v({n}, dev(0));
      add(d, u);
      fr::discard(fr::default_stream(d), u.slice({0, n / 2}));
      for (float& x : u.slice({0, n / 2})) x = with;
      BOOST_TEST(fr::to_vector(u.slice({0, n / 2})) == std::vector<float>(n / 2, with));
      fr::fill(fr::default_stream(d), v.slice({n / 2, n / 2 + 1000}), 1.f);
      fr::discard(fr::default_stream(d), v);
      fr::fill(fr::default_stream(d), v, 0.f);
      add(d, v);
      const auto& seen = std::as_const(v);
      BOOST_TEST((std::count(seen.begin(), seen.end(), 1.f) == static_cast<std::ptrdiff_t>(n)), "round " << round);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
