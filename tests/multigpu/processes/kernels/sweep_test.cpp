// Loops over the shards of several processes: edges first, halos by messages, and the same sums in every process.
#include "multigpu/shards.hpp"
#include "processes/processes.hpp"

using namespace shards;
using u32 = std::uint32_t;

namespace sweeps_of_processes {
namespace {

// A sum of the neighbours above, below, left and right; all axes are periodic.
struct relax {
  FERRY_HOST_DEVICE u32 operator()(std::size_t row, std::size_t column, fr::shard_span<const u32, 2> u,
                                   fr::shard_span<u32, 2> v) const {
    const auto i = static_cast<std::ptrdiff_t>(row), j = static_cast<std::ptrdiff_t>(column);
    v(i, j) = u(i, j) + 3 * u(i - 1, j) + 5 * u(i + 1, j) + 7 * u(i, j - 1) + 11 * u(i, j + 1);
    return v(i, j) * static_cast<u32>(row * 31 + column);
  }
};

// Returns the loop's sum: 32-bit values in a 64-bit sum.
std::uint64_t relax_plainly(std::size_t rows, std::size_t columns, std::vector<u32>& u) {
  std::vector<u32> v(u.size());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const auto at = [&](std::size_t a, std::size_t b) { return u[a % rows * columns + b % columns]; };
      u32& x = v[i * columns + j];
      x = at(i, j) + 3 * at(i + rows - 1, j) + 5 * at(i + 1, j) + 7 * at(i, j + columns - 1) + 11 * at(i, j + 1);
      sum += x * static_cast<u32>(i * 31 + j);
    }
  u = std::move(v);
  return sum;
}

void check_steps(const fr::team& t, std::size_t axis, std::size_t rows, std::size_t columns) {
  const fr::shard_options how{.axis = axis, .halo = {1, 1}, .periodic = true};
  fr::sharded_array<u32, 2> a(t, {rows, columns}, how), b(t, {rows, columns}, how);
  std::vector<u32> plain(rows * columns);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<u32>(i * 2654435761u >> 20);
  fr::copy(std::span<const u32>(plain), a);
  fr::exchange_halos(a);
  for (int step = 0; step < 8; ++step) {
    const auto sum = fr::parallel_reduce(fr::sweep(a), relax{}, fr::plus{}, fr::in(a), fr::out(b));
    BOOST_TEST(sum.value() == relax_plainly(rows, columns, plain), "step " << step);
    swap(a, b);
  }
  const std::vector<u32> all = fr::gather(a);
  if (t.is_local(0)) BOOST_TEST(all == plain, boost::test_tools::per_element());
}

}  // namespace
}  // namespace sweeps_of_processes

BOOST_AUTO_TEST_SUITE(sweeps_of_processes)

BOOST_AUTO_TEST_CASE(on_this_machine) {
  const fr::team t = fr::team::world();
  check_steps(t, 0, 4 * t.size() + 1, 9);
  check_steps(t, 1, 7, 3 * t.size());
}

BOOST_AUTO_TEST_CASE(under_random_schedules) {
  for (std::size_t seed = 0; seed < seeds(20); ++seed) {
    fr::detail::processes* const all = fr::detail::processes::world();
    fr::simulation runtime("devices=4;schedule=random:" + std::to_string(11 * seed + (all ? all->rank() : 0)));
    const fr::team t = fr::team::world();
    BOOST_TEST_CONTEXT("seed " << seed) check_steps(t, seed % 2, 3 * t.size() + seed % 3, 3 * t.size() + seed % 5);
  }
}

BOOST_AUTO_TEST_SUITE_END()
