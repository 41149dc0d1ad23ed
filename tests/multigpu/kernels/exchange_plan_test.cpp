// Exchange plans: reads of sharded arrays at any indices.
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "multigpu/random_exchanges.hpp"
#include "support/check_error.hpp"
#include "support/failures.hpp"

using namespace contract;

namespace exchange_plans {
namespace {

using exchanges::read_line;
using support::check_error;

// Finite volumes on a random mesh, by edges: first the flux of each edge, then the sum over the edges of each cell.
struct flux_of_edge {
  FERRY_HOST_DEVICE void operator()(std::size_t e, fr::shard_span<const int, 2> ends,
                                    fr::gathered_span<const double, 1> u, fr::shard_span<double, 1> flux) const {
    const double left = u(static_cast<std::size_t>(ends(e, 0))), right = u(static_cast<std::size_t>(ends(e, 1)));
    flux(e) = 0.1 * (left - right) + 0.01 * (left * left - right * right);
  }
};
struct sum_of_fluxes {
  FERRY_HOST_DEVICE void operator()(std::size_t c, fr::shard_span<const int, 2> edges,
                                    fr::shard_span<const int, 2> signs, fr::gathered_span<const double, 1> flux,
                                    fr::shard_span<double, 1> u) const {
    for (std::size_t k = 0; k < edges.extent(1) && edges(c, k) >= 0; ++k)
      u(c) -= signs(c, k) * flux(static_cast<std::size_t>(edges(c, k)));
  }
};

struct mesh {
  std::size_t cells, edges, most = 0;  // most: edges of a cell
  std::vector<int> ends, edges_of, signs;
  mesh(shards::dice& d, std::size_t c, std::size_t e) : cells(c), edges(e) {
    std::vector<std::vector<std::pair<int, int>>> of(cells);
    for (std::size_t k = 0; k != edges; ++k) {
      const std::size_t left = d.below(cells), right = (left + 1 + d.below(cells - 1)) % cells;
      ends.push_back(static_cast<int>(left)), ends.push_back(static_cast<int>(right));
      of[left].emplace_back(static_cast<int>(k), 1), of[right].emplace_back(static_cast<int>(k), -1);
    }
    for (const auto& list : of) most = std::max(most, list.size());
    for (const auto& list : of)
      for (std::size_t k = 0; k != most; ++k) {
        edges_of.push_back(k < list.size() ? list[k].first : -1);
        signs.push_back(k < list.size() ? list[k].second : 0);
      }
  }
  std::vector<double> start() const {
    std::vector<double> u;
    for (std::size_t c = 0; c != cells; ++c) u.push_back(1 + 0.01 * static_cast<double>(c * c % 101));
    return u;
  }
  std::vector<double> serial(int steps) const {
    std::vector<double> u = start(), flux(edges);
    for (int s = 0; s != steps; ++s) {
      for (std::size_t e = 0; e != edges; ++e) {
        const double left = u[static_cast<std::size_t>(ends[2 * e])],
                     right = u[static_cast<std::size_t>(ends[2 * e + 1])];
        flux[e] = 0.1 * (left - right) + 0.01 * (left * left - right * right);
      }
      for (std::size_t c = 0; c != cells; ++c)
        for (std::size_t k = 0; k != most && edges_of[c * most + k] >= 0; ++k)
          u[c] -= signs[c * most + k] * flux[static_cast<std::size_t>(edges_of[c * most + k])];
    }
    return u;
  }
  std::vector<double> sharded(const fr::team& t, int steps) const {
    fr::sharded_array<int, 2> from(t, {edges, 2}), around(t, {cells, most}), sign(t, {cells, most});
    fr::copy(std::span<const int>(ends), from);
    fr::copy(std::span<const int>(edges_of), around);
    fr::copy(std::span<const int>(signs), sign);
    fr::sharded_array<double, 1> u(t, {cells}), flux(t, {edges}, {}, 0.0);
    fr::copy(std::span<const double>(start()), u);
    const fr::exchange_plan of_cells(u, from), of_edges(flux, around);
    of_cells.renumber(from), of_edges.renumber(around);
    for (int s = 0; s != steps; ++s) {
      of_cells.exchange(u);
      fr::parallel_for(fr::owned(flux), flux_of_edge{}, fr::in(from), of_cells.reads(u), fr::out(flux));
      of_edges.exchange(flux);
      fr::parallel_for(fr::owned(u), sum_of_fluxes{}, fr::in(around), fr::in(sign), of_edges.reads(flux), fr::inout(u));
    }
    return fr::to_vector(u);
  }
};

struct sum_of_reads {
  FERRY_HOST_DEVICE double operator()(std::size_t i, fr::shard_span<const int, 2> table,
                                      fr::gathered_span<const double, 1> u) const {
    return u[static_cast<std::size_t>(table(i, 0))];
  }
};
struct copy_of_read {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<const int, 2> table,
                                    fr::gathered_span<const double, 1> u, fr::shard_span<double, 1> y) const {
    y(i) = u[static_cast<std::size_t>(table(i, 0))];
  }
};
struct copy_beside {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<const double, 1> u,
                                    fr::shard_span<double, 1> y) const {
    y(i) = u(i);
  }
};
struct reads_beyond {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::gathered_span<const double, 1> u,
                                    fr::shard_span<double, 1> y) const {
    y(i) = u(u.extent(0));
  }
};

}  // namespace
}  // namespace exchange_plans

BOOST_AUTO_TEST_SUITE(exchange_plans)

BOOST_AUTO_TEST_CASE(random_programs) {
  for (std::size_t seed = 0; seed < support::seeds(150); ++seed) {
    const fr::simulation sim(shards::simulated_machine(seed, 1 + seed % 4));
    fr::team t = fr::team::all();
    if (seed % 7 == 6) t.submit(fr::submission::by_threads);
    exchanges::check_all(seed, t);
  }
}

BOOST_AUTO_TEST_CASE(random_programs_on_this_machine) {
  for (std::size_t seed = 0; seed < 8; ++seed) exchanges::check_all(seed, fr::team::all());
}

BOOST_AUTO_TEST_CASE(finite_volumes_equal_those_of_one_core) {
  for (std::size_t seed = 0; seed < support::seeds(30); ++seed) {
    shards::dice d(seed);
    const mesh m(d, d.between(2, 40), d.between(1, 80));
    const fr::simulation sim(shards::simulated_machine(seed, 1 + seed % 4));
    BOOST_TEST((m.sharded(fr::team::all(), 6) == m.serial(6)));
  }
}

BOOST_AUTO_TEST_CASE(local_numbers_are_owned_elements_then_ghosts) {
  const fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  const fr::sharded_array<float, 1> u(t, {10}, {}, 0.f);  // 0 to 3, 4 to 6, 7 to 9
  const fr::exchange_plan plan(u, {{9, 1, 5, 9}, {}, {0, 8}});
  const fr::local_numbers first = plan.local(0);
  BOOST_TEST(first.owned() == 4u);
  BOOST_TEST(first.size() == 6u);
  BOOST_TEST(
      (std::vector<std::size_t>(first.ghosts().begin(), first.ghosts().end()) == std::vector<std::size_t>{5, 9}));
  BOOST_TEST(first(3) == 3u);
  BOOST_TEST(first(5) == 4u);
  BOOST_TEST(first(9) == 5u);
  BOOST_TEST(!first.contains(4));
  BOOST_TEST(plan.local(1).size() == 3u);
  BOOST_TEST(plan.local(1)(5) == 1u);
  BOOST_TEST(plan.local(2)(8) == 1u);
  BOOST_TEST(plan.local(2)(0) == 3u);
}

BOOST_AUTO_TEST_CASE(in_reductions_and_graphs) {
  const fr::simulation sim("devices=3;schedule=random:5");
  const fr::team t = fr::team::all();
  fr::sharded_array<int, 2> table(t, {6, 1});
  fr::copy(std::span<const int>(std::vector<int>{5, 4, 3, 2, 1, 0}), table);
  fr::sharded_array<double, 1> u(t, {6}, {}, 1.0);
  const fr::exchange_plan plan(u, table);
  plan.renumber(table);
  plan.exchange(u);
  fr::sharded_array<double, 1> y(t, {6}, {}, 0.0);
  const auto sum = [&] {
    return fr::parallel_reduce(fr::owned(y), sum_of_reads{}, fr::plus{}, std::as_const(table), plan.reads(u)).value();
  };
  BOOST_TEST(sum() == 6);
  const fr::stream_ref first = t.stream(0);
  fr::graph step = fr::capture(first, [&] {
    plan.exchange(u);
    fr::parallel_for(fr::owned(y), copy_of_read{}, fr::in(table), plan.reads(u), fr::out(y));
    u = 2 * y;
  });
  for (int n = 1; n <= 3; ++n) {
    step.launch(first);
    BOOST_TEST((fr::to_vector(u) == std::vector<double>(6, std::pow(2.0, n))));
  }
}

BOOST_AUTO_TEST_CASE(graphs_leave_ghosts_up_to_date_or_not) {
  const fr::simulation sim("devices=3;schedule=random:7");
  const fr::team t = fr::team::all();
  fr::sharded_array<double, 1> u(t, {6}, {}, 1.0);
  const fr::exchange_plan plan(u, std::vector<std::vector<std::size_t>>{{5}, {0}, {1}});
  fr::runtime::current().checks.set(fr::check::halos, true);
  const auto is_stale = [&] {
    return support::failure_of<fr::invalid_argument>([&] { (void)plan.reads(u); }).find("out of date") !=
           std::string::npos;
  };
  plan.exchange(u);
  const fr::stream_ref first = t.stream(0);
  fr::graph exchanges_last = fr::capture(first, [&] {
    fr::fill(u, 3.0);
    plan.exchange(u);
  });
  fr::graph writes_last = fr::capture(first, [&] {
    plan.exchange(u);
    fr::fill(u, 4.0);
  });
  exchanges_last.launch(first);
  BOOST_TEST(!is_stale());
  writes_last.launch(first);
  BOOST_TEST(is_stale());
  exchanges_last.launch(first);
  BOOST_TEST(!is_stale());
  fr::fill(u, 5.0);
  BOOST_TEST(is_stale());
}

BOOST_AUTO_TEST_CASE(wrong_calls) {
  const fr::simulation sim("devices=2");
  const fr::team t = fr::team::all(), other(std::vector<fr::device>{fr::device(1), fr::device(0)});
  fr::sharded_array<double, 1> u(t, {10}, {}, 0.0), longer(t, {11}, {}, 0.0), elsewhere(other, {10}, {}, 0.0);
  fr::sharded_array<double, 2> columns(t, {10, 10}, {.axis = 1}, 0.0), wide(t, {10, 10}, {.halo = {0, 1}}, 0.0);
  u.name("density"), longer.name("longer"), columns.name("columns"), wide.name("wide"), elsewhere.name("elsewhere");
  using lists = std::vector<std::vector<std::size_t>>;
  check_error<fr::invalid_argument>([&] { fr::exchange_plan(u, lists{{1}}); },
                                    {"'density'", "exchange_plan_test.cpp:", "1 lists of indices for 2 members"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::exchange_plan(u, lists{{1}, {3, 10}});
      },
      {"'density'", "member 1 needs index 10", "extent 10"});
  check_error<fr::invalid_argument>([&] { fr::exchange_plan(columns, lists{{}, {}}); }, {"'columns'", ".axis = 0"});
  const fr::exchange_plan plan(u, lists{{7}, {0}}), none;
  check_error<fr::invalid_argument>([&] { plan.exchange(longer); },
                                    {"'longer'", "shape 11", "exchange plan for shape 10"});
  check_error<fr::invalid_argument>([&] { plan.exchange(elsewhere); }, {"'elsewhere'"});
  check_error<fr::invalid_argument>([&] { plan.exchange(u, wide); }, {"'wide'", "halos along other axes"});
  check_error<fr::invalid_argument>([&] { (void)plan.reads(u); },
                                    {"'density'", "were never exchanged", "exchange_plan_test.cpp:"});
  check_error<fr::invalid_argument>([&] { none.exchange(u); }, {"the exchange plan was moved from"});
  check_error<fr::invalid_argument>([&] { (void)plan.local(0)(8); }, {"no element 8 for member 0"});
  check_error<fr::invalid_argument>([&] { (void)plan.local(2); }, {"2"});
  fr::sharded_array<int, 1> table(t, {4}, {}, 8), far(other, {4}, {}, 0);
  far.name("far");
  check_error<fr::invalid_argument>([&] { plan.renumber(table); }, {"no element 8 for member 0"});
  check_error<fr::invalid_argument>([&] { plan.renumber(far); }, {"'far'", "another team"});
  plan.exchange(u);
  fr::fill(longer, 1.0);  // no change of u
  (void)plan.reads(u);
  const fr::sharded_array<double, 1>& read = u;
  fr::sharded_array<double, 1> y(t, {10}, {}, 0.0);
  {
    fr::runtime::current().checks.set(fr::check::halos, true);
    (void)plan.reads(read);
    fr::parallel_for(fr::owned(y), copy_beside{}, fr::in(u), fr::out(y));
    (void)plan.reads(u);
    u = y + 1;
    check_error<fr::invalid_argument>([&] { (void)plan.reads(u); },
                                      {"'density'", "out of date", "exchange_plan::exchange"});
    plan.exchange(u);
    (void)plan.reads(u);
  }
  const fr::simulation broken("devices=2");
  const fr::team small = fr::team::all();
  fr::sharded_array<double, 1> v(small, {10}, {}, 0.0), z(small, {10}, {}, 0.0);
  v.name("velocity");
  const fr::exchange_plan of_v(v, lists{{7}, {0}});
  of_v.exchange(v);
  check_error<fr::device_error>(
      [&] {
        fr::parallel_for(fr::owned(z), reads_beyond{}, of_v.reads(v), fr::out(z));
        small.synchronize();
      },
      {"index 6 in dimension 0", "'velocity", "extent 6"});
}

BOOST_AUTO_TEST_SUITE_END()
