// The halo method between peers: the cheaper one, measured once per team and shape, unless it is set explicitly.
#include <chrono>
#include <limits>
#include <thread>

#include "contract/small_chunks.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "halos/halo_choice.hpp"
#include "multigpu/shards.hpp"
#include "support/quiet_stderr.hpp"

using namespace shards;

namespace choice_of_halos {
namespace {

using fr::halo_method;

// Returns a configured cost for each method, and counts the measurements.
struct costs {
  double stores = 1, copies = 1;
  int asked = 0;
  double operator()(halo_method how, const std::function<void()>& exchange) {
    for (int i = 0; i < 3; ++i) exchange();
    ++asked;
    return how == halo_method::stores ? stores : copies;
  }
};
struct metered {
  explicit metered(costs& c)
      : scope([&c](const fr::team&, halo_method how, const std::function<void()>& f) { return c(how, f); }) {}
  fr::detail::halo_meter_scope scope;
};

// True if an exchange makes the driver copy bytes.
template <class Array>
bool copies_halos(const fr::team& t, Array& a) {
  const auto m = fr::measure(t.stream(0), [&] { fr::exchange_halos(a); });
  t.synchronize();
  return m.copied_bytes > 0;
}

fr::sharded_array<int, 2> field(const fr::team& t, std::size_t rows = 12, halo_method how = halo_method::automatic) {
  return {t, {rows, 5}, {.halo = 1, .periodic = true, .exchange = how}, 0};
}

}  // namespace
}  // namespace choice_of_halos

BOOST_AUTO_TEST_SUITE(choice_of_halos)

BOOST_AUTO_TEST_CASE(the_cheaper_way_is_taken_and_remembered) {
  for (const bool copies_win : {true, false}) {
    fr::simulation sim("devices=3");
    const bool peers = sim.get().peers().policy().use;
    const auto asks = [&](int n) { return peers ? n : 0; };  // without a choice there is no measurement
    costs c{copies_win ? 2.0 : 1.0, copies_win ? 1.0 : 2.0};
    const metered scope(c);
    const fr::team t = fr::team::all();
    auto a = field(t), b = field(t), wider = field(t, 24);
    fr::exchange_halos(a);
    BOOST_TEST(c.asked == asks(2));
    BOOST_TEST(copies_halos(t, a) == (copies_win || !peers));
    fr::exchange_halos(b);  // the same shape
    BOOST_TEST(c.asked == asks(2));
    BOOST_TEST(copies_halos(t, b) == (copies_win || !peers));
    fr::exchange_halos(wider);  // the same halo shape: rows of 5
    BOOST_TEST(c.asked == asks(2));
    fr::sharded_array<double, 2> other(t, {12, 5}, {.halo = 1, .periodic = true}, 0.0);
    fr::exchange_halos(other);
    BOOST_TEST(c.asked == asks(4));
    const fr::team again = fr::team::all();
    auto d = field(again);
    fr::exchange_halos(d);
    BOOST_TEST(c.asked == asks(6));
  }
}

BOOST_AUTO_TEST_CASE(either_can_be_forced) {
  fr::simulation sim("devices=2");
  const bool peers = sim.get().peers().policy().use;  // otherwise stores to neighbours become copies
  costs c{1, 2};
  const metered scope(c);
  const fr::team t = fr::team::all();
  auto a = field(t, 8, halo_method::copies), b = field(t, 8, halo_method::stores);
  fr::exchange_halos(a), fr::exchange_halos(b);
  BOOST_TEST(copies_halos(t, a));
  BOOST_TEST(copies_halos(t, b) == !peers);
  for (const std::string how : {"copies", "stores"}) {
    const contract::variable said("FERRY_HALOS", how.c_str());
    auto e = field(t);
    fr::exchange_halos(e);
    BOOST_TEST(copies_halos(t, e) == (how == "copies" || !peers));
    BOOST_TEST(copies_halos(t, a));  // the array's own setting has precedence
  }
  BOOST_TEST(c.asked == 0);
  const contract::variable said("FERRY_HALOS", "pigeons");
  auto f = field(t);
  BOOST_CHECK_EXCEPTION(fr::exchange_halos(f), fr::parse_error, [](const fr::error& e) {
    return std::string(e.text()).find("FERRY_HALOS='pigeons' is not allowed; allowed are automatic, stores, copies") ==
           0;
  });
}

BOOST_AUTO_TEST_CASE(nothing_is_measured_where_there_is_no_choice) {
  costs c{2, 1};
  const metered scope(c);
  {
    fr::simulation sim("devices=3;peers=none");
    const fr::team t = fr::team::all();
    auto a = field(t);
    fr::exchange_halos(a);
    BOOST_TEST(copies_halos(t, a));
    fr::unified_sharded_array<int, 1> u(t, {30}, {.halo = 1}, 0);
    fr::exchange_halos(u);
  }
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  fr::team one(fr::devices().first(1));
  auto alone = field(one);
  fr::exchange_halos(alone);
  auto captured = field(t);
  fr::graph g = fr::capture(t.stream(0), [&] { fr::exchange_halos(captured); });
  g.launch(t.stream(0));
  BOOST_TEST(c.asked == 0);
}

// Measurements do not change halos, whichever method wins. After the exchange the halos are right.
BOOST_AUTO_TEST_CASE(measuring_leaves_halos_alone) {
  for (std::size_t seed = 0; seed < seeds(60); ++seed) {
    dice d(seed);
    fr::simulation sim("devices=" + std::to_string(d.between(2, 4)) +
                       (seed % 5 ? ";schedule=random:" + std::to_string(seed) : std::string()));
    const fr::team t = fr::team::all();
    auto layout = any_layout<2>(d, t);  // clang++ 14: lambdas cannot capture structured bindings
    const auto& e = layout.first;
    auto& o = layout.second;
    o.exchange = halo_method::automatic;
    fr::sharded_array<int, 2> a(t, e, o, -7);
    const auto values = random_values<int>(d, e.count());
    const bool stores = d.flip();
    bool looked = false;
    const fr::detail::halo_meter_scope scope(
        [&](const fr::team&, halo_method how, const std::function<void()>& exchange) {
          exchange(), exchange();
          for (std::size_t m = 0; m < t.size() && !looked; ++m)
            for (const int cell : fr::to_vector(a.shard_with_halo(m))) BOOST_TEST(cell == -7);
          looked = true;
          return (how == halo_method::stores) == stores ? 1.0 : 2.0;
        });
    fr::sharded_array<int, 2> b(t, e, o, -7);
    fr::copy(std::span<const int>(values), b);
    fr::exchange_halos(a);
    fr::exchange_halos(b);
    for (std::size_t m = 0; m < t.size(); ++m) {
      const auto found = fr::to_vector(b.shard_with_halo(m));
      std::size_t i = 0, wrong = 0;
      for_each_index(b.layout().local(m), [&](auto at) {
        const int expected = wrap(b.layout(), at) ? values[offset(e, at)] : -7;
        wrong += found[i++] != expected;
      });
      BOOST_TEST(wrong == 0u, "seed " << seed << ", member " << m << ": " << b.layout().text());
    }
  }
}

// The trial of stores detects that a link loses bytes: the exchange then uses copies.
BOOST_AUTO_TEST_CASE(a_link_that_fails_its_test) {
  fr::simulation sim("devices=2;broken=0-1");
  costs c{1, 2};
  const metered scope(c);
  const support::quiet_stderr said;
  const fr::team t = fr::team::all();
  auto a = field(t, 4);
  fr::copy(std::vector<int>(20, 3), a);
  fr::exchange_halos(a);
  for (std::size_t m = 0; m < 2; ++m) BOOST_TEST((fr::to_vector(a.shard_with_halo(m)) == std::vector<int>(20, 3)));
}

// The same without measurements, for halos in rows and in columns: copies from the first exchange on.
BOOST_AUTO_TEST_CASE(a_link_that_fails_when_a_plan_is_made) {
  const contract::variable on("FERRY_PEER", "on");
  for (const auto how : {halo_method::automatic, halo_method::stores})
    for (const std::size_t axis : {0u, 1u}) {
      const support::quiet_stderr said;
      fr::simulation sim("devices=2;broken=0-1");
      sim.get().peers().kernels(fr::detail::peer_kernels::error);
      const fr::team t = fr::team::all();
      fr::sharded_array<int, 2> a(t, {6, 8}, {.axis = axis, .halo = 1, .periodic = true, .exchange = how}, -1);
      fr::copy(std::vector<int>(48, 3), a);
      fr::exchange_halos(a);
      BOOST_TEST(copies_halos(t, a));
      for (std::size_t m = 0; m < 2; ++m)
        for (const int cell : fr::to_vector(a.shard_with_halo(m))) BOOST_TEST(cell == 3);
      BOOST_TEST(said.text().find("as peers, but") == said.text().rfind("as peers, but"));  // once
    }
}

BOOST_AUTO_TEST_CASE(the_clock) {
  fr::simulation sim("devices=2;schedule=random:3");
  const fr::team t = fr::team::all();
  int exchanges = 0;
  const auto begin = std::chrono::steady_clock::now();
  const double seconds = fr::detail::time_halos(t, halo_method::stores, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++exchanges;
  });
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  BOOST_TEST((seconds >= 1e-3 && seconds <= whole.count()));
  BOOST_TEST(exchanges == 21);
  const fr::detail::halo_meter_scope scope(fr::detail::time_halos);
  auto a = field(t, 4);
  fr::copy(std::vector<int>(20, 3), a);
  fr::exchange_halos(a);
  BOOST_TEST((fr::to_vector(a.shard_with_halo(1)) == std::vector<int>(20, 3)));
}

BOOST_AUTO_TEST_SUITE_END()
