// Loops and reductions over shards of four to six dimensions.
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "multigpu/shards.hpp"

using namespace contract;

namespace shards_of_many_dimensions {
namespace {

struct number_cells {
  FERRY_HOST_DEVICE int operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d,
                                   fr::shard_span<int, 4> u) const {
    return u(a, b, c, d) = static_cast<int>((((a * 20) + b) * 20 + c) * 20 + d);
  }
  FERRY_HOST_DEVICE int operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::size_t e,
                                   fr::shard_span<int, 5> u) const {
    return u(a, b, c, d, e) = static_cast<int>(((((a * 20) + b) * 20 + c) * 20 + d) * 20 + e);
  }
  FERRY_HOST_DEVICE int operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::size_t e,
                                   std::size_t f, fr::shard_span<int, 6> u) const {
    return u(a, b, c, d, e, f) = static_cast<int>((((((a * 8) + b) * 8 + c) * 8 + d) * 8 + e) * 8 + f);
  }
};
// Reads the cells around along the first and the last axis, of a periodic array.
struct add_around {
  FERRY_HOST_DEVICE void operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d,
                                    fr::shard_span<const int, 4> u, fr::shard_span<int, 4> v) const {
    v(a, b, c, d) = u(a - 1, b, c, d) + 2 * u(a + 1, b, c, d) + 3 * u(a, b, c, d - 1) + 4 * u(a, b, c, d + 1);
  }
};

template <std::size_t Rank>
int number_at(const std::array<std::ptrdiff_t, Rank>& at) {
  int n = 0;
  for (const std::ptrdiff_t i : at) n = n * (Rank == 6 ? 8 : 20) + static_cast<int>(i);
  return n;
}
template <std::size_t Rank>
void check_numbers(std::size_t seed) {
  shards::dice d(seed);
  const fr::team t = fr::team::all();
  auto [e, o] = shards::any_layout<Rank>(d, t);
  const fr::shard_layout<Rank> cut(t, e, o);
  for (std::size_t k = 0; k != Rank; ++k) {
    const std::size_t most = Rank == 6 ? 8 : 20;
    e[k] = cut.is_cut(k) ? std::min(e[k], most) : 1 + (e[k] - 1) % (Rank == 6 ? 2 : 3);
    o.halo.widths[k] = 0;
  }
  fr::sharded_array<int, Rank> u(t, e, o, -1);
  fr::parallel_for(fr::owned(u), number_cells{}, u);
  std::vector<int> expected;
  std::int64_t sum = 0;
  fr::box<Rank> all;
  for (std::size_t k = 0; k != Rank; ++k) all.begin[k] = 0, all.end[k] = static_cast<std::ptrdiff_t>(e[k]);
  shards::for_each_index(all, [&](const auto& at) { expected.push_back(number_at(at)), sum += expected.back(); });
  BOOST_TEST(fr::to_vector(u) == expected, boost::test_tools::per_element());
  BOOST_TEST(fr::parallel_reduce(fr::owned(u), number_cells{}, fr::plus{}, u).value() == sum);
}

}  // namespace
}  // namespace shards_of_many_dimensions

BOOST_AUTO_TEST_SUITE(shards_of_many_dimensions)

BOOST_AUTO_TEST_CASE(each_cell_has_its_index) {
  for (std::size_t seed = 0; seed < support::seeds(60); ++seed) {
    const fr::simulation sim(shards::simulated_machine(seed, 1 + seed % 4));
    check_numbers<4>(seed), check_numbers<5>(seed), check_numbers<6>(seed);
  }
}

BOOST_AUTO_TEST_CASE(each_cell_has_its_index_on_this_machine) {
  for (std::size_t seed = 0; seed < 4; ++seed) check_numbers<4>(seed), check_numbers<6>(seed);
}

BOOST_AUTO_TEST_CASE(inside_and_at_boundaries) {
  for (std::size_t seed = 0; seed < support::seeds(40); ++seed) {
    shards::dice d(seed);
    const fr::simulation sim(shards::simulated_machine(seed, 1 + seed % 4));
    const fr::team t = fr::team::all();
    const std::size_t axis = seed % 2 == 0 ? 0 : 3;
    fr::extents<4> e;
    for (std::size_t k = 0; k != 4; ++k) e[k] = d.between(1, 4);
    e[axis] = d.between(t.size(), 4 * t.size());
    const fr::shard_options o{.axis = axis, .halo = {1, 0, 0, 1}, .periodic = true};
    fr::sharded_array<int, 4> u(t, e, o, 0), v(t, e, o, 0);
    fr::parallel_for(fr::owned(u), number_cells{}, u);
    fr::exchange_halos(u);
    fr::parallel_for(fr::interior(v), add_around{}, fr::in(u), fr::inout(v));
    fr::parallel_for(fr::boundary(v), add_around{}, fr::in(u), fr::inout(v));
    std::vector<int> expected;
    fr::box<4> all;
    for (std::size_t k = 0; k != 4; ++k) all.begin[k] = 0, all.end[k] = static_cast<std::ptrdiff_t>(e[k]);
    shards::for_each_index(all, [&](const auto& at) {
      const auto value = [&](std::size_t k, std::ptrdiff_t by) {
        auto other = at;
        const auto n = static_cast<std::ptrdiff_t>(e[k]);
        other[k] = (other[k] + by + n) % n;
        return number_at(other);
      };
      expected.push_back(value(0, -1) + 2 * value(0, 1) + 3 * value(3, -1) + 4 * value(3, 1));
    });
    BOOST_TEST(fr::to_vector(v) == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
