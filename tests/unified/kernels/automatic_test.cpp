// Automatic migration: pages that change sides are moved ahead of their use, and no others, according to the driver's
// range attributes. traffic_test.cpp covers pages that the driver moves by itself.
#include <algorithm>
#include <map>
#include <vector>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "unified/kernels/driver_pages.hpp"

namespace fr = ferry;
using namespace shared;

namespace automatic {
namespace {

constexpr std::size_t n = 4 * page / sizeof(float);

struct set_to {
  float value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] = value; }
};
struct set_even {  // does not write all that out() declares
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const {
    if (i % 2 == 0) x[i] = 1;
  }
};
struct copy_of {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* to, const float* from) const { to[i] = from[i]; }
};

void add(fr::device d, auto&& v) { fr::parallel_for(fr::default_stream(d), v.size(), add_one{}, fr::inout(v)); }

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

BOOST_AUTO_TEST_CASE(shards_stay_on_their_devices,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  const std::size_t devices = fr::devices().size(), part = n, all = devices * part, halo = 10000;
  fr::unified_array<float> a({all}), b({all});
  a.name("a"), b.name("b");
  for (float& x : a) x = 1;
  const auto step = [&](fr::unified_array<float>& to, const fr::unified_array<float>& from) {
    for (std::size_t d = 0; d < devices; ++d) {
      const std::size_t lo = d * part, hi = lo + part;
      const std::size_t left = lo >= halo ? lo - halo : 0, right = std::min(hi + halo, all);
      fr::parallel_for(fr::default_stream(dev(d)), hi - lo, copy_of{}, fr::out(to.slice({lo, hi})),
                       fr::in(from.slice({left, right})));
    }
  };
  // All pages but the edge pages, which the array shares with its neighbours.
  const auto inner = [&](const fr::unified_array<float>& of, std::size_t d) {
    return of.slice({d * part + part / 4, d * part + 3 * part / 4});
  };
  for (int i = 0; i < 3; ++i) step(b, a), step(a, b);
  for (int i = 0; i < 10; ++i) {
    step(b, a), step(a, b);
    for (std::size_t d = 0; d < devices && here.are_peers(); ++d)
      BOOST_TEST((is_at(inner(a, d), dev(d)) && is_at(inner(b, d), dev(d))), "step " << i << ", device " << d);
  }
  const fr::migration_report r = fr::report_migration();
  for (const char* name : {"a", "b"}) {
    BOOST_REQUIRE(entry(r, name));
    BOOST_TEST(entry(r, name)->bounces == 0U);
    BOOST_TEST(!entry(r, name)->migration_disabled);
  }
  for (std::size_t d = 0; d < devices; ++d) BOOST_TEST(fr::residency(a).on(dev(d)) + page >= part * sizeof(float));
  BOOST_TEST(std::as_const(a)[all - 1] == 1);
}

BOOST_AUTO_TEST_CASE(a_range_that_bounces_is_left_alone,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  fr::unified_array<float> u({n});
  u.name("ball");
  for (float& x : u) x = 0;
  for (int i = 0; i < 8; ++i) add(dev(static_cast<std::size_t>(i) % 2), u);
  fr::runtime::current().streams().synchronize();
  const auto settled = driver_place(u);
  BOOST_TEST((settled && !settled->is_host()));
  if (const auto known = driver_was_told(u); known && here.are_peers())
    BOOST_TEST((known->names(dev(0)) || known->names(dev(1))));
  for (int i = 0; i < 8; ++i) {
    add(dev(static_cast<std::size_t>(i) % 2), u);
    fr::runtime::current().streams().synchronize();
    if (here.are_peers())
      BOOST_TEST((driver_place(u) == settled), "turn " << i);
    else if (here.is_simulated())  // without mapping, each use takes the pages by faults
      BOOST_TEST(is_at(u, dev(static_cast<std::size_t>(i) % 2)), "turn " << i);
  }
  const fr::migration_report r = fr::report_migration();
  BOOST_REQUIRE(entry(r, "ball"));
  BOOST_TEST(entry(r, "ball")->migration_disabled);
  BOOST_TEST(entry(r, "ball")->bounces >= 2U);
  BOOST_TEST(entry(r, "ball")->suggestion.find("devices take it from each other") == 0U);
  BOOST_TEST(r.table().find("ball") != std::string::npos);
  BOOST_TEST(r.json().find("\"migration_disabled\": true") != std::string::npos);
  BOOST_TEST(std::as_const(u)[5] == 16);
  for (int i = 0; i < 20; ++i) add(dev(1), u);  // stable use: migration is enabled again
  BOOST_TEST(fr::residency(u).on(dev(1)) == u.size_bytes());
  BOOST_TEST(is_at(u, dev(1)));
}

// Devices without peer access cannot map ping-pong pages, which is no failure: other arrays are prefetched as before.
BOOST_AUTO_TEST_CASE(bouncing_without_peers_fails_nothing,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here("devices=2;peers=none");
  for (int k = 0; k < 12; ++k) {
    fr::unified_array<float> u({n}, 1.f);
    for (int i = 0; i < 10; ++i) add(dev(static_cast<std::size_t>(i) % 2), u);
    BOOST_TEST(std::as_const(u)[n / 2] == 11);
  }
  fr::unified_array<float> u({n}, dev(0));
  u.name("sent");
  for (float& x : u) x = 1;
  add(dev(0), u);
  BOOST_TEST(entry(fr::report_migration(), "sent")->to_devices.by_prefetch == u.size_bytes());
}

// Pages that another device only reads are mapped there once. After repeated reads by that device alone, they move to
// it.
BOOST_AUTO_TEST_CASE(readers_elsewhere_map,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  fr::unified_array<float> u({n}, dev(0)), to({n}, dev(1));
  add(dev(0), u);
  fr::parallel_for(fr::default_stream(dev(1)), n, copy_of{}, fr::out(to), fr::in(u));
  const fr::device reached = dev(here.are_peers() ? 0 : 1);  // without peer access: cannot be mapped
  BOOST_TEST(fr::residency(u).on(reached) == u.size_bytes());
  BOOST_TEST(is_at(u, reached));
  if (const auto known = driver_was_told(u); known && here.are_peers()) BOOST_TEST(known->names(dev(1)));
  for (int i = 0; i < 5; ++i) fr::parallel_for(fr::default_stream(dev(1)), n, copy_of{}, fr::out(to), fr::in(u));
  BOOST_TEST(fr::residency(u).on(dev(1)) == u.size_bytes());
  BOOST_TEST(is_at(u, dev(1)));
}

// With delayed execution, the device's kernel is still pending when the CPU reads. Only the simulator guarantees that.
BOOST_AUTO_TEST_CASE(pages_stay_with_a_pending_reader, *boost::unit_test::precondition(on_simulated_devices)) {
  int read_beside = 0;
  for (int seed = 0; seed < 20; ++seed) {
    place here("devices=2;memory=256MiB;schedule=random:" + std::to_string(seed));
    fr::unified_array<float> u({n}, dev(0)), to({n}, dev(0));
    for (float& x : u) x = 1;
    add(dev(0), u);
    fr::default_stream(dev(0)).synchronize();
    fr::parallel_for(fr::default_stream(dev(0)), n, copy_of{}, fr::out(to), fr::in(u));
    const float first = *std::as_const(u).begin();
    BOOST_TEST(first == 2);
    if (!to.is_ready()) {  // so the kernel was also pending at the CPU's access check
      ++read_beside;
      BOOST_TEST(fr::residency(u).on(dev(0)) == u.size_bytes(), "seed " << seed);
    }
    BOOST_TEST((std::as_const(to)[3] == 2 && std::as_const(u)[3] == 2));
  }
  BOOST_TEST(read_beside > 0, "no kernel was pending: nothing was tested");
}

// The same if the reading device does not hold the pages, and a third device or the CPU accesses them.
BOOST_AUTO_TEST_CASE(pages_stay_while_a_third_device_reads_them,
                     *boost::unit_test::precondition(on_simulated_devices)) {
  int read_beside = 0;
  for (int seed = 0; seed < 8; ++seed)
    for (const bool on_cpu : {false, true})
      for (const bool cpu_asks : {false, true}) {
        if (on_cpu && cpu_asks) continue;
        place here("devices=3;memory=256MiB;schedule=random:" + std::to_string(seed));
        fr::unified_array<float> u({n}, dev(0)), to({n}, dev(1)), too({n}, dev(2));
        u.name("read by all");
        for (float& x : u) x = 1;
        if (!on_cpu) add(dev(0), u);
        fr::default_stream(dev(0)).synchronize();
        const auto read = [&](fr::device d, fr::unified_array<float>& into) {
          fr::parallel_for(fr::default_stream(d), n, copy_of{}, fr::out(into), fr::in(u));
        };
        if (on_cpu) {
          const fr::host_guard keeps(fr::in(u));  // so that the pages are mapped in place
          read(dev(1), to);
        } else {
          read(dev(1), to);
        }
        const auto placed = driver_place(u);
        const auto sent = [] {
          std::uint64_t bytes = 0;
          for (const fr::migration_entry& e : fr::report_migration().entries)
            if (e.array == "read by all")
              bytes += e.to_devices.by_prefetch + e.to_cpu.by_prefetch + e.between_devices.by_prefetch + e.dropped;
          return bytes;
        };
        const std::uint64_t before = sent();
        const float value = on_cpu ? 1 : 2;
        for (int i = 0; i < 5; ++i)
          if (!cpu_asks)
            read(dev(2), too);
          else
            BOOST_TEST(*std::as_const(u).begin() == value);
        if (!to.is_ready()) {
          ++read_beside;
          BOOST_TEST(sent() == before, "seed " << seed << ", the CPU asks: " << cpu_asks);
          if (here.are_peers())  // otherwise, readers take the pages by faults at some point
            BOOST_TEST((driver_place(u) == placed), "seed " << seed << ", the CPU asks: " << cpu_asks);
        }
        BOOST_TEST((std::as_const(to)[3] == value && std::as_const(u)[3] == value));
      }
  BOOST_TEST(read_beside > 0, "no kernel was pending: nothing was tested");
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
