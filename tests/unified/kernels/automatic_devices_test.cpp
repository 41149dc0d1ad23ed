// Automatic migration between devices: shards stay, pages that bounce are mapped, readers elsewhere map pages, and
// pages stay with pending readers.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "unified/kernels/automatic_fixture.hpp"

BOOST_AUTO_TEST_SUITE(automatic)

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

BOOST_AUTO_TEST_SUITE_END()
