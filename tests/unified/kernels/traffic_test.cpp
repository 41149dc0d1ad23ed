// What moves and what does not: bytes moved by prefetches, and bytes that devices took by faults.
#include "unified/kernels/traffic.hpp"

namespace fr = ferry;
using namespace shared;

namespace traffic {
namespace {

constexpr std::size_t n = 16 * page / sizeof(float), bytes = n * sizeof(float);

struct set_to {
  float value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] = value; }
};
struct copy_of {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* to, const float* from) const { to[i] = from[i]; }
};

void add(fr::device d, auto&& v) { fr::parallel_for(fr::default_stream(d), v.size(), add_one{}, fr::inout(v)); }

fr::detail::sim::traffic since(meter& m, const fr::detail::sim::traffic& before) {
  const fr::detail::sim::traffic now = m.moved();
  return {now.prefetched - before.prefetched, now.faulted - before.faulted, now.discarded - before.discarded,
          now.evicted - before.evicted};
}

}  // namespace
}  // namespace traffic

BOOST_AUTO_TEST_SUITE(traffic, *boost::unit_test::precondition(moves_are_counted{}))

BOOST_AUTO_TEST_CASE(cpu_and_gpu_in_turn_take_nothing_by_faults) {
  place here;
  meter m;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 1;
  const auto before = m.moved();
  double sum = 0;
  for (int round = 0; round < 3; ++round) {
    add(dev(0), u);
    for (const float x : std::as_const(u)) sum += x;
  }
  const auto t = since(m, before);
  BOOST_TEST(sum == (2.0 + 3 + 4) * n);
  BOOST_TEST(t.faulted == 0U);
  BOOST_TEST(about(t.prefetched, 6 * bytes), t.prefetched << " bytes");
}

// With migration off, faults move the pages: the meter counts them.
BOOST_AUTO_TEST_CASE(what_is_left_to_the_driver_goes_by_faults) {
  place here;
  meter m;
  const fr::migration_scope by_faults(fr::migration::explicitly);
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 1;
  const auto before = m.moved();
  add(dev(0), u);
  const auto t = since(m, before);
  BOOST_TEST(t.prefetched == 0U);
  BOOST_TEST(about(t.faulted, bytes), t.faulted << " bytes");
}

// Pages under out() are populated on the device without a transfer of their contents. At both ends a driver may use
// larger pages.
BOOST_AUTO_TEST_CASE(contents_do_not_travel_for_out) {
  place here;
  meter m;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 1;
  const auto before = m.moved();
  fr::parallel_for(fr::default_stream(dev(0)), n, set_to{5}, fr::out(u));
  const auto t = since(m, before);
  BOOST_TEST(t.faulted == 0U);
  BOOST_TEST(t.prefetched <= (m.is_exact() ? 0 : 2 * page), t.prefetched << " bytes");
  if (m.is_exact()) BOOST_TEST(t.discarded == bytes);
  BOOST_TEST((std::as_const(u)[0] == 5 && std::as_const(u)[n - 1] == 5));
}

BOOST_AUTO_TEST_CASE(shards_send_nothing_once_they_have_settled,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  meter m;
  const std::size_t devices = fr::devices().size(), part = n / devices, halo = 10000;
  fr::unified_array<float> a({n}), b({n});
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
  const auto settled = m.moved();
  for (int i = 0; i < 10; ++i) step(b, a), step(a, b);
  const auto t = since(m, settled);
  const bool as_expected = here.are_peers() ? t.prefetched == 0 && t.faulted == 0 && t.discarded == 0
                                            : t.faulted > 0;  // edge pages cannot be mapped, and move back and forth
  BOOST_TEST(as_expected, t.prefetched << " sent, " << t.faulted << " by faults, " << t.discarded << " dropped");
}

BOOST_AUTO_TEST_CASE(what_has_bounced_stays,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  meter m;
  fr::unified_array<float> u({n});
  for (float& x : u) x = 0;
  const auto turns = [&] {
    for (int i = 0; i < 8; ++i) add(dev(static_cast<std::size_t>(i) % 2), u);
  };
  turns();
  const auto settled = m.moved();
  turns();
  const auto t = since(m, settled);
  // Without peer access pages cannot be mapped: each use takes them by faults.
  BOOST_TEST((t.prefetched == 0 && (t.faulted == 0) == here.are_peers()),
             t.prefetched << " sent, " << t.faulted << " by faults");
}

BOOST_AUTO_TEST_CASE(readers_elsewhere_take_nothing,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  place here;
  meter m;
  fr::unified_array<float> u({n}, dev(0)), to({n}, dev(1));
  add(dev(0), u);
  const auto before = m.moved();
  fr::parallel_for(fr::default_stream(dev(1)), n, copy_of{}, fr::out(to), fr::in(u));
  const auto t = since(m, before);
  const bool as_expected = here.are_peers() ? t.prefetched <= (m.is_exact() ? 0 : 2 * page)
                                            : about(t.prefetched, bytes);  // cannot be mapped, and is prefetched
  BOOST_TEST((t.faulted == 0 && as_expected), t.prefetched << " sent, " << t.faulted << " by faults");
}

BOOST_AUTO_TEST_CASE(policies_of_arrays) {
  place here;
  meter m;
  fr::unified_array<float> ahead({n}, dev(0)), some({n}, dev(0)), still({n}, dev(0));
  fr::set_policy(ahead, fr::array_policy::parse("prefetch"));
  fr::set_policy(still, fr::array_policy::parse("explicit"));
  for (auto* u : {&ahead, &some, &still})
    for (float& x : *u) x = 1;
  auto before = m.moved();
  add(dev(0), ahead.slice({100, 200}));
  auto t = since(m, before);
  BOOST_TEST((about(t.prefetched, bytes) && t.faulted == 0), t.prefetched << " sent, " << t.faulted << " by faults");
  before = m.moved();
  add(dev(0), some.slice({100, 200}));
  t = since(m, before);
  BOOST_TEST((t.prefetched == 0 && t.faulted >= 400 && t.faulted <= (m.is_exact() ? 400 : 2 * page)),
             t.prefetched << " sent, " << t.faulted << " by faults");
  before = m.moved();
  add(dev(0), still);
  t = since(m, before);
  BOOST_TEST((t.prefetched == 0 && about(t.faulted, bytes)), t.prefetched << " sent, " << t.faulted << " by faults");
  // Overwritten pages move without their contents, the others with them.
  for (float& x : ahead.slice({0, 10})) x += 1;
  before = m.moved();
  fr::parallel_for(fr::default_stream(dev(0)), n / 2, set_to{5}, fr::out(ahead.slice({0, n / 2})));
  t = since(m, before);
  BOOST_TEST((t.prefetched >= bytes / 2 - 2 * page && t.prefetched <= bytes / 2 + 2 * page && t.faulted == 0),
             t.prefetched << " sent, " << t.faulted << " by faults");
  if (m.is_exact()) BOOST_TEST(t.discarded == bytes / 2);
}

// No prefetch for a few elements: the device's faults fetch them.
BOOST_AUTO_TEST_CASE(small_ranges_are_not_sent) {
  place here;
  meter m;
  fr::unified_array<float> u({n}, dev(0));
  for (float& x : u) x = 1;
  const auto before = m.moved();
  add(dev(0), u.slice({5, 15}));
  const auto t = since(m, before);
  BOOST_TEST((t.prefetched == 0 && t.faulted >= 40 && t.faulted <= 2 * page),
             t.prefetched << " sent, " << t.faulted << " by faults");
}

BOOST_AUTO_TEST_SUITE_END()
