// Reductions over the shards of several processes: sums are bitwise those of one process, and so are minima and maxima.
#include <bit>

#include "multigpu/shards.hpp"
#include "processes/processes.hpp"

using namespace shards;

namespace results_of_processes {
namespace {

struct square_2d {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a) const {
    const double x = a(static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(j));
    return x * x;
  }
};
struct value_1d {
  FERRY_HOST_DEVICE float operator()(std::size_t i, fr::shard_span<const float, 1> a) const {
    return a(static_cast<std::ptrdiff_t>(i));
  }
};

struct keep_sums {
  FERRY_HOST_DEVICE void operator()(std::size_t, fr::mdspan<const float, 1> parts, fr::mdspan<const float, 1> again,
                                    float* kept) const {
    kept[0] = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) kept[0] += parts(i) + again(i);
  }
};

struct results {
  std::uint64_t sum_2d = 0;
  std::uint32_t sum = 0, least = 0, greatest = 0, product = 0;
  bool operator==(const results&) const = default;
};
std::ostream& operator<<(std::ostream& out, const results& r) {
  return out << std::hex << r.sum_2d << ' ' << r.sum << ' ' << r.least << ' ' << r.greatest << ' ' << r.product;
}

results work_out(const fr::team& t, std::size_t axis, const fr::extents<2>& e, const std::vector<double>& values,
                 const std::vector<float>& line) {
  fr::sharded_array<double, 2> a(t, e, {axis});
  fr::sharded_array<float, 1> b(t, {line.size()});
  fr::copy(std::span<const double>(values), a);
  fr::copy(std::span<const float>(line), b);
  const auto sum_2d = fr::parallel_reduce(fr::owned(a), square_2d{}, fr::reproducible(fr::plus{}), a);
  const auto sum = fr::parallel_reduce(fr::owned(b), value_1d{}, fr::reproducible(fr::plus{}), fr::in(b));
  const auto product = fr::parallel_reduce(fr::owned(b), value_1d{}, fr::reproducible(fr::multiplies{}), fr::in(b));
  const auto least = fr::parallel_reduce(fr::owned(b), value_1d{}, fr::minimum{}, fr::in(b));
  const auto greatest = fr::parallel_reduce(fr::owned(b), value_1d{}, fr::maximum{}, fr::in(b));
  return {std::bit_cast<std::uint64_t>(sum_2d.value()), std::bit_cast<std::uint32_t>(sum.value()),
          std::bit_cast<std::uint32_t>(least.value()), std::bit_cast<std::uint32_t>(greatest.value()),
          std::bit_cast<std::uint32_t>(product.value())};
}

void check_results(dice& d, const fr::team& t) {
  // Often with empty shards, chunks shared by several members, and members with chunks of their own.
  const fr::extents<2> e{d.between(1, d.flip() ? 600 : 5), d.between(1, d.flip() ? 300 : 5)};
  std::vector<double> values(e.count());
  for (double& v : values) v = 1e9 / static_cast<double>(1 + d.below(1'000'000)) - 3e4;
  std::vector<float> line(d.between(1, d.flip() ? 3000 : 4));
  for (float& v : line) v = 1 + (static_cast<float>(d.below(1'000'000)) - 5e5f) * 1e-9f;
  const std::size_t axis = d.below(2);
  const results here = work_out(fr::team(fr::devices().first(1)), axis, e, values, line);
  BOOST_TEST(work_out(t, axis, e, values, line) == here);
}

}  // namespace
}  // namespace results_of_processes

BOOST_AUTO_TEST_SUITE(results_of_processes)

BOOST_AUTO_TEST_CASE(have_the_same_bits_on_this_machine) {
  const fr::team t = fr::team::world();
  for (std::size_t seed = 0; seed < 20; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      check_results(d, t);
    }
  }
}

// A kernel that combines the parts of a result reads the parts of all processes.
BOOST_AUTO_TEST_CASE(are_those_of_all_processes_in_kernels_too) {
  const fr::team t = fr::team::world();
  fr::sharded_array<float, 1> a(t, {100}, {}, 1.0f);
  fr::replicated_array<float> kept(t, {1});
  for (int step = 1; step <= 3; ++step) {
    const auto sum = fr::parallel_reduce(fr::owned(a), value_1d{}, fr::plus{}, fr::in(a));
    fr::parallel_for(fr::each_member(t, 1), keep_sums{}, sum, sum, fr::out(kept));
    for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m)
      BOOST_TEST(fr::to_vector(kept.copy_of(m))[0] == 200.0f * static_cast<float>(step * step));
    fr::fill(a, static_cast<float>((step + 1) * (step + 1)));
  }
}

BOOST_AUTO_TEST_CASE(have_the_same_bits_under_random_schedules) {
  for (std::size_t seed = 0; seed < seeds(10); ++seed) {
    fr::detail::processes* const all = fr::detail::processes::world();
    fr::simulation runtime("devices=4;schedule=random:" + std::to_string(17 * seed + (all ? all->rank() : 0)));
    const fr::team t = fr::team::world();
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      check_results(d, t);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
