// Automatic migration: what changes sides is moved ahead of its use, and nothing else.
#include "unified/kernels/shared.hpp"

namespace fr = ferry;
using namespace shared;

namespace {

constexpr std::size_t n = 4 * page / sizeof(float);

struct set_to {
  float value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] = value; }
};
struct set_even {  // breaks the promise of out()
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const {
    if (i % 2 == 0) x[i] = 1;
  }
};
struct copy_of {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* to, const float* from) const { to[i] = from[i]; }
};

void add(fr::device d, auto&& v) { fr::parallel_for(fr::default_stream(d), v.size(), add_one{}, fr::inout(v)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(automatic)

BOOST_AUTO_TEST_CASE(cpu_and_gpu_in_turn) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  u.name("u");
  for (float& x : u) x = 1;
  for (int round = 1; round <= 3; ++round) {
    const std::size_t faulted = here.moved().faulted;
    add(dev(0), u);
    BOOST_TEST(fr::residency(u).on(dev(0)) == u.size_bytes());
    BOOST_TEST((driver_place(u, u.size_bytes()) == fr::memory_location{0}));
    double sum = 0;
    for (const float x : std::as_const(u)) sum += x;
    BOOST_TEST(sum == static_cast<double>(n) * (1 + round));
    BOOST_TEST(fr::residency(u).on_cpu == u.size_bytes());
    BOOST_TEST(here.moved().faulted == faulted, "no page was taken by a fault");
  }
  const auto r = fr::report_migration();
  const fr::migration_entry* e = entry(r, "u");
  BOOST_REQUIRE(e);
  BOOST_TEST(e->to_devices.by_prefetch == 3 * u.size_bytes());
  BOOST_TEST(e->to_cpu.by_prefetch >= 3 * u.size_bytes());
  BOOST_TEST((e->to_devices.by_fault == 0 && e->to_cpu.by_fault == 0 && e->bounces == 0));
  BOOST_TEST(e->suggestion.find("automatic_test.cpp") != std::string::npos, e->suggestion);
}

// Pages that lie wholly inside need not travel; the page that is only in part written does.
BOOST_AUTO_TEST_CASE(nothing_moves_for_out) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 1;
  const auto before = here.moved();
  fr::parallel_for(fr::default_stream(dev(0)), n, set_to{5}, fr::out(u));
  auto after = here.moved();
  BOOST_TEST(after.prefetched == before.prefetched);
  BOOST_TEST(after.faulted == before.faulted);
  if (here.is_simulated()) BOOST_TEST(after.discarded - before.discarded == u.size_bytes());
  BOOST_TEST(u[0] == 5);
  for (float& x : u) x = 2;
  fr::parallel_for(fr::default_stream(dev(0)), n - 100, set_to{7}, fr::out(u.slice({0, n - 100})));
  BOOST_TEST((std::as_const(u)[n - 101] == 7 && std::as_const(u)[n - 100] == 2 && std::as_const(u)[n - 1] == 2));
}

// Who writes all of an array and reads it in the same call finds what was there.
BOOST_AUTO_TEST_CASE(out_and_in_of_one_array) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 6;
  fr::parallel_for(fr::default_stream(dev(0)), n, copy_of{}, fr::out(u), fr::in(u));
  BOOST_TEST((std::as_const(u)[0] == 6 && std::as_const(u)[n - 1] == 6));
}

// The poison is the simulator's.
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
    BOOST_TEST(run(u) == 2);
    BOOST_TEST(here.moved().prefetched == 0);
  }
  fr::unified_array<float> u({n}, dev(0));
  fr::set_migration(u, fr::migration::explicitly);
  BOOST_TEST(run(u) == 2);
  BOOST_TEST(here.moved().prefetched == 0);
  {
    fr::migration_scope scope(fr::migration::automatic);  // goes before the array's own
    BOOST_TEST(run(u) == 2);
  }
  if (here.is_simulated()) BOOST_TEST(here.moved().prefetched > 0);
  fr::set_migration(fr::migration::explicitly);
  fr::unified_array<float> v({n}, dev(0));
  const auto before = here.moved().prefetched;
  BOOST_TEST(run(v) == 2);
  BOOST_TEST(here.moved().prefetched == before);
  fr::set_migration(fr::migration::automatic);
}

// An array that gets the bytes of another begins anew: it inherits neither the setting nor what was known of the pages.
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
  BOOST_TEST((driver_place(v, v.size_bytes()) == fr::memory_location{0}));
  BOOST_TEST(std::as_const(v)[7] == 5);
}

BOOST_AUTO_TEST_CASE(shards_stay_on_their_devices,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  const std::size_t devices = fr::devices().size(), part = n / devices, halo = 10000;
  fr::unified_array<float> a({n}), b({n});
  a.name("a"), b.name("b");
  for (float& x : a) x = 1;
  const auto step = [&](fr::unified_array<float>& to, const fr::unified_array<float>& from) {
    for (std::size_t d = 0; d < devices; ++d) {
      const std::size_t lo = d * part, hi = d + 1 == devices ? n : lo + part;
      const std::size_t left = lo >= halo ? lo - halo : 0, right = std::min(hi + halo, n);
      fr::parallel_for(fr::default_stream(dev(d)), hi - lo, copy_of{}, fr::out(to.slice({lo, hi})),
                       fr::in(from.slice({left, right})));
    }
  };
  for (int i = 0; i < 3; ++i) step(b, a), step(a, b);
  const auto settled = here.moved();
  for (int i = 0; i < 10; ++i) step(b, a), step(a, b);
  const auto after = here.moved();
  BOOST_TEST(after.prefetched == settled.prefetched);
  BOOST_TEST(after.faulted == settled.faulted);
  BOOST_TEST(after.discarded == settled.discarded);
  const fr::migration_report r = fr::report_migration();
  for (const char* name : {"a", "b"}) {
    BOOST_REQUIRE(entry(r, name));
    BOOST_TEST(entry(r, name)->bounces == 0U);
    BOOST_TEST(!entry(r, name)->left_alone);
  }
  for (std::size_t d = 0; d < devices; ++d) BOOST_TEST(fr::residency(a).on(dev(d)) + page >= part * sizeof(float));
  BOOST_TEST(std::as_const(a)[n - 1] == 1);
}

BOOST_AUTO_TEST_CASE(a_range_that_bounces_is_left_alone,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  fr::unified_array<float> u({n});
  u.name("ball");
  for (float& x : u) x = 0;
  for (int i = 0; i < 8; ++i) add(dev(static_cast<std::size_t>(i) % 2), u);
  const auto settled = here.moved();
  for (int i = 0; i < 8; ++i) add(dev(static_cast<std::size_t>(i) % 2), u);
  BOOST_TEST(here.moved().prefetched == settled.prefetched);
  BOOST_TEST(here.moved().faulted == settled.faulted);
  const fr::migration_report r = fr::report_migration();
  BOOST_REQUIRE(entry(r, "ball"));
  BOOST_TEST(entry(r, "ball")->left_alone);
  BOOST_TEST(entry(r, "ball")->bounces >= 2U);
  BOOST_TEST(entry(r, "ball")->suggestion.find("devices take it from each other") == 0U);
  BOOST_TEST(r.table().find("ball") != std::string::npos);
  BOOST_TEST(r.json().find("\"left_alone\": true") != std::string::npos);
  BOOST_TEST(std::as_const(u)[5] == 16);
  for (int i = 0; i < 20; ++i) add(dev(1), u);  // it has settled: it may move again
  BOOST_TEST(fr::residency(u).on(dev(1)) == u.size_bytes());
}

// What another device only reads is reached where it is, once; who alone reads it for long gets it.
BOOST_AUTO_TEST_CASE(readers_elsewhere_map,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  fr::unified_array<float> u({n}, dev(0)), to({n}, dev(1));
  add(dev(0), u);
  fr::parallel_for(fr::default_stream(dev(1)), n, copy_of{}, fr::out(to), fr::in(u));
  BOOST_TEST(fr::residency(u).on(dev(0)) == u.size_bytes());
  BOOST_TEST(here.moved().faulted == 0U);
  for (int i = 0; i < 5; ++i) fr::parallel_for(fr::default_stream(dev(1)), n, copy_of{}, fr::out(to), fr::in(u));
  BOOST_TEST(fr::residency(u).on(dev(1)) == u.size_bytes());
}

// Under a schedule that runs late, the device's kernel is still pending when the CPU asks: for sure only on simulated devices.
BOOST_AUTO_TEST_CASE(pages_stay_with_who_still_reads_them, *boost::unit_test::precondition(on_simulated_devices)) {
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
    if (!to.is_ready()) {  // so the kernel was pending when the CPU asked, too
      ++read_beside;
      BOOST_TEST(fr::residency(u).on(dev(0)) == u.size_bytes(), "seed " << seed);
    }
    BOOST_TEST((std::as_const(to)[3] == 2 && std::as_const(u)[3] == 2));
  }
  BOOST_TEST(read_beside > 0, "no kernel was pending: nothing was tested");
}

BOOST_AUTO_TEST_CASE(small_ranges_are_left_to_faults) {
  place here;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 1;
  const auto before = here.moved();
  fr::parallel_for(fr::default_stream(dev(0)), 10, add_one{}, fr::inout(u.slice({5, 15})));
  BOOST_TEST(here.moved().prefetched == before.prefetched);
  const float some = std::as_const(u)[7];
  BOOST_TEST(some == 2);
}

// The loop may go on while its pages arrive; a device that comes meanwhile stops what has not been sent.
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
      u.free();  // while they arrive
      continue;
    }
    for (const float x : std::as_const(u)) sum += x;
    const double half = static_cast<double>(n) / 2, value = round % 2 ? 5 : 4;
    BOOST_TEST(sum == half * value + half * (round % 3 ? 9 : value), "round " << round);
  }
  fr::set_migration(fr::migration_options{});
}

BOOST_AUTO_TEST_SUITE_END()
