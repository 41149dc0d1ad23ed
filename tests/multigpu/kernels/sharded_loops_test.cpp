// Loops and reductions over shards in one, two and three dimensions.
#include <bit>
#include <cmath>
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"

using namespace contract;

namespace sharded_loops {
namespace {

FERRY_HOST_DEVICE int number(std::size_t i, std::size_t j, std::size_t k) {
  return static_cast<int>(100 * i + 10 * j + k);
}
struct number_line {
  FERRY_HOST_DEVICE int operator()(std::size_t i, fr::shard_span<int, 1> a) const { return a(i) = number(0, 0, i); }
};
struct number_cells {
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, std::size_t k, fr::shard_span<int, 3> a) const {
    return a(i, j, k) = number(i, j, k);
  }
};
// Adds the six neighbours of a periodic array.
struct add_neighbours {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::shard_span<const int, 3> a,
                                    fr::shard_span<int, 3> b) const {
    b(i, j, k) = a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + a(i, j + 1, k) + a(i, j, k - 1) + a(i, j, k + 1);
  }
};
struct square_1d {
  FERRY_HOST_DEVICE double operator()(std::size_t i, fr::shard_span<const double, 1> a) const { return a(i) * a(i); }
};
struct square_2d {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a) const {
    return a(i, j) * a(i, j);
  }
};
struct take_over_2d {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a,
                                      fr::shard_span<double, 2> b) const {
    b(i, j) = a(i, j);
    return a(i, j) * a(i, j);
  }
};

}  // namespace
}  // namespace sharded_loops

BOOST_AUTO_TEST_SUITE(sharded_loops)

BOOST_AUTO_TEST_CASE(loops_in_one_and_three_dimensions) {
  for (const char* how : {"devices=3", "devices=4;schedule=random:2", "devices=2;peers=none;schedule=random:3"})
    for (std::size_t axis : {0u, 1u, 2u}) {
      fr::simulation sim(how);
      const fr::team t = fr::team::all();
      fr::sharded_array<int, 1> line(t, {9}, {.halo = 1, .periodic = true}, -1);
      fr::parallel_for(fr::sweep(line), number_line{}, fr::out(line));
      CHECK_EQUAL(fr::to_vector(line), counting<int>(9));
      BOOST_TEST(fr::to_vector(line.shard_with_halo(0))[0] == 8);
      const int largest = fr::parallel_reduce(fr::owned(line), number_line{}, fr::maximum{}, line);
      BOOST_TEST(largest == 8);

      const fr::extents<3> e{5, 4, 6};
      fr::sharded_array<int, 3> a(t, e, {.axis = axis, .halo = {1, 1, 1}, .periodic = true}, -1),
          b(t, e, {.axis = axis, .halo = {1, 1, 1}, .periodic = true}, 0);
      const std::int64_t sum = fr::parallel_reduce(fr::sweep(a), number_cells{}, fr::plus{}, fr::out(a));
      fr::parallel_for(fr::sweep(b), add_neighbours{}, fr::in(a), fr::out(b));
      const std::vector<int> found = fr::to_vector(b);
      int expected_sum = 0;
      std::size_t wrong = 0, at = 0;
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j < 4; ++j)
          for (std::size_t k = 0; k < 6; ++k) {
            expected_sum += number(i, j, k);
            wrong += found[at++] != number((i + 4) % 5, j, k) + number((i + 1) % 5, j, k) + number(i, (j + 3) % 4, k) +
                                        number(i, (j + 1) % 4, k) + number(i, j, (k + 5) % 6) +
                                        number(i, j, (k + 1) % 6);
          }
      BOOST_TEST(wrong == 0u);
      BOOST_TEST(sum == expected_sum);

      fr::fill(b, 0);
      fr::parallel_for(fr::owned(b).within({{1, 3}, fr::all_of, {2, 5}}), number_cells{}, fr::inout(b));
      const std::vector<int> some = fr::to_vector(b);
      wrong = at = 0;
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j < 4; ++j)
          for (std::size_t k = 0; k < 6; ++k)
            wrong += some[at++] != (i >= 1 && i < 3 && k >= 2 && k < 5 ? number(i, j, k) : 0);
      BOOST_TEST(wrong == 0u);
    }
}

// The same bits for any number of devices; an ordinary sum differs.
BOOST_AUTO_TEST_CASE(reproducible_sums) {
  for (std::size_t axis : {0u, 1u}) {
    std::vector<std::uint64_t> bits_2d, bits_1d;
    for (std::size_t devices = 1; devices <= 6; ++devices) {
      fr::simulation sim("devices=" + std::to_string(devices) + (devices % 2 ? "" : ";schedule=random:9"));
      const fr::team t = fr::team::all();
      fr::sharded_array<double, 2> a(t, {300, 530}, {.axis = axis, .halo = 1}, 0.0);
      fr::sharded_array<double, 1> b(t, {3001}, {}, 0.0);
      std::vector<double> values(300 * 530);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e9 / static_cast<double>(3 * i + 1);
      fr::copy(std::span<const double>(values), a);
      fr::copy(std::span<const double>(values).subspan(0, 3001), b);
      const auto sum = fr::parallel_reduce(fr::owned(a), square_2d{}, fr::reproducible(fr::plus{}), a);
      const auto line = fr::parallel_reduce(fr::owned(b), square_1d{}, fr::reproducible(fr::plus{}), fr::in(b));
      const double usual = fr::parallel_reduce(fr::owned(a), square_2d{}, fr::plus{}, a);
      BOOST_TEST(std::abs(sum.value() / usual - 1) < 1e-12);
      bits_2d.push_back(std::bit_cast<std::uint64_t>(sum.value()));
      fr::sharded_array<double, 2> c(t, {300, 530}, {.axis = axis, .halo = 1, .periodic = true}, 0.0);
      const auto swept =
          fr::parallel_reduce(fr::sweep(c), take_over_2d{}, fr::reproducible(fr::plus{}), fr::in(a), fr::out(c));
      BOOST_TEST(std::bit_cast<std::uint64_t>(swept.value()) == bits_2d.back());
      for (std::size_t m = 0; m < t.size(); ++m) {
        const auto l = c.layout().local(m);
        const std::size_t k = c.layout().axis();
        const auto edge = fr::to_vector(std::as_const(c).cells(m, l.with(k, l.begin[k], l.begin[k] + 1)));
        const auto at = static_cast<std::size_t>(l.begin[k] + static_cast<std::ptrdiff_t>(c.extent(k))) % c.extent(k);
        BOOST_TEST(edge[2] == values[k == 0 ? at * 530 + 2 : 2 * 530 + at]);
      }
      bits_1d.push_back(std::bit_cast<std::uint64_t>(line.value()));
      check_error<fr::invalid_argument>(
          [&] { (void)fr::parallel_reduce(fr::interior(a), square_2d{}, fr::reproducible(fr::plus{}), a); },
          {"all cells"});
    }
    CHECK_EQUAL(bits_2d, std::vector<std::uint64_t>(6, bits_2d[0]));
    CHECK_EQUAL(bits_1d, std::vector<std::uint64_t>(6, bits_1d[0]));
  }
}

BOOST_AUTO_TEST_SUITE_END()
