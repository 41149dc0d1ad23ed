// Loops over shards, as programs are compiled: at -O3 a warning of g++ in ferry's headers is an error of this test.
#include <boost/test/unit_test.hpp>

#include <ferry/core/runtime.hpp>
#include <ferry/multigpu.hpp>
#include <vector>

#include "sim/sim_backend.hpp"

namespace fr = ferry;

namespace optimized_shards {
namespace {

struct mean_around {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> u,
                                    fr::shard_span<double, 2> v) const {
    v(i, j) = (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) / 4;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(optimized_shards)

BOOST_AUTO_TEST_CASE(a_periodic_stencil_in_two_dimensions) {
  fr::detail::sim::options four;
  four.devices = 4;
  const fr::runtime_scope simulated(fr::detail::sim::make_backend(four));
  const fr::team t(fr::devices());
  const std::size_t rows = 12, columns = 15;
  const fr::shard_options how{.axis = {0, 1}, .halo = 1, .periodic = true};
  fr::sharded_array<double, 2> u(t, {rows, columns}, how), v(t, {rows, columns}, how);
  std::vector<double> numbers(rows * columns);
  for (std::size_t k = 0; k != numbers.size(); ++k) numbers[k] = static_cast<double>(k * k % 37);
  fr::copy(numbers, u);
  fr::exchange_halos(u);
  fr::parallel_for(fr::sweep(v), mean_around{}, fr::in(u), fr::out(v));
  const std::vector<double> found = fr::to_vector(v);
  const auto at = [&](std::size_t i, std::size_t j) { return numbers[i % rows * columns + j % columns]; };
  for (std::size_t i = 0; i != rows; ++i)
    for (std::size_t j = 0; j != columns; ++j)
      BOOST_TEST(found[i * columns + j] ==
                 (at(i + rows - 1, j) + at(i + 1, j) + at(i, j + columns - 1) + at(i, j + 1)) / 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace optimized_shards
