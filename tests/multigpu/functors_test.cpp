// Functors with a text in loops and reductions over shards, in a source that nvcc does not compile.
#include <boost/test/unit_test.hpp>
#include <vector>

#include "ferry/core/functor.hpp"
#include "ferry/multigpu.hpp"

namespace functors_of_shards {
namespace {

namespace fr = ferry;

FERRY_FUNCTOR(set_values, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<double, 2> u) const {
    u(i, j) = static_cast<double>((7 * i + 3 * j) % 32);
}  // namespace
}  // namespace functors_of_shards
);
FERRY_FUNCTOR(mean_of_neighbors, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> u,
                                    fr::shard_span<double, 2> v) const {
    v(i, j) = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
  }
});
FERRY_FUNCTOR(value_of_cell, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> u) const {
    return u(i, j);
  }
});

FERRY_FUNCTOR(mirror_of_rows, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<double, 2> u) const {
    u(i, j) = -u(std::size_t(0) - 1 - i, j);
  }
});

double value_at(std::size_t i, std::size_t j) { return static_cast<double>((7 * i + 3 * j) % 32); }

}  // namespace
}  // namespace functors_of_shards

BOOST_AUTO_TEST_SUITE(functors_of_shards)
using namespace functors_of_shards;

BOOST_AUTO_TEST_CASE(a_stencil_and_its_sum) {
  constexpr std::size_t rows = 67, columns = 41;
  fr::team team(fr::devices());
  fr::sharded_array<double, 2> u(team, {rows, columns}, {.halo = 1}, 0.), v(team, {rows, columns}, {.halo = 1}, 0.);
  fr::parallel_for(fr::owned(u), set_values{}, u);
  fr::exchange_halos(u);
  const auto inner = fr::owned(v).within({{1, rows - 1}, {1, columns - 1}});
  fr::parallel_for(inner, mean_of_neighbors{}, fr::in(u), fr::inout(v));

  double sum = 0, most = 0;
  std::vector<double> expected(rows * columns);
  for (std::size_t i = 1; i + 1 != rows; ++i)
    for (std::size_t j = 1; j + 1 != columns; ++j) {
      const double x = 0.25 * (value_at(i - 1, j) + value_at(i + 1, j) + value_at(i, j - 1) + value_at(i, j + 1));
      expected[i * columns + j] = x;
      sum += x, most = x > most ? x : most;
    }
  BOOST_TEST((fr::to_vector(v) == expected));
  BOOST_TEST(fr::parallel_reduce(fr::owned(v), value_of_cell{}, fr::plus{}, fr::in(v)).value() == sum);
  BOOST_TEST(fr::parallel_reduce(fr::owned(v), value_of_cell{}, fr::maximum{}, fr::in(v)).value() == most);
}

BOOST_AUTO_TEST_CASE(ghost_cells) {
  fr::sharded_array<double, 2> u(fr::team(fr::devices()), {8, 3}, {.halo = 1}, 0.);
  fr::parallel_for(fr::owned(u), set_values{}, u);
  const auto cells = fr::ghosts(u, fr::side::low(0));
  fr::precompile_for(cells, mirror_of_rows{}, fr::inout(u));
  fr::parallel_for(cells, mirror_of_rows{}, fr::inout(u));
  BOOST_TEST((fr::to_vector(std::as_const(u).cells(0, {{-1, 1}})) == std::vector<double>{-0., -3, -6, 0, 3, 6}));
}

BOOST_AUTO_TEST_SUITE_END()
