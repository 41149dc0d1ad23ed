// Loops over shards on the CPU as devices, with and without checks of indices: regions with gaps along each axis,
// halos, and the indices of the whole array.
#include <ferry/multigpu.hpp>

#include "multigpu/shards.hpp"
#include "support/cpu_device.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

namespace shard_loops_on_cpu {
namespace {

namespace fr = ferry;
using shards::dice;
using support::cpu_device;
using support::has;

constexpr const char* machines[] = {"devices=1;threads=1;check=off", "devices=3;threads=2;check=off",
                                    "devices=2;threads=4;check=off", "devices=3;threads=2;check=on", "devices=2"};

struct mark_1 {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<long, 1> a) const {
    a(i) = 3 * a(i) + static_cast<long>(i);
  }
};
struct mark_2 {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<long, 2> a) const {
    a(i, j) = 3 * a(i, j) + static_cast<long>(1000 * i + j);
  }
};
struct mark_3 {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::shard_span<long, 3> a) const {
    a(i, j, k) = 3 * a(i, j, k) + static_cast<long>(1000000 * i + 1000 * j + k);
  }
};
struct neighbours {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a,
                                    fr::shard_span<double, 2> b) const {
    b(i, j) = a(i - 1, j) + 2 * a(i, j - 1) + 4 * a(i, j) + 8 * a(i, j + 1) + 16 * a(i + 1, j);
  }
};
struct value {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a) const {
    return a(i, j) * static_cast<double>(i + 1) + static_cast<double>(j);
  }
};
struct reads_beyond {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a,
                                    fr::shard_span<double, 2> b) const {
    b(i, j) = a(i, j + 1);
  }
};

// Interior and boundary of each member together are all cells once: their loops are those over all cells.
template <std::size_t Rank, class F>
void check_regions(dice& d, const fr::extents<Rank>& e, std::size_t axis) {
  fr::sharded_array<long, Rank> a(fr::team::all(), e, {.axis = axis, .halo = 1}, 0);
  std::vector<long> start = shards::random_values<long>(d, e.count());
  fr::host_array<long, Rank> values(e);
  std::copy(start.begin(), start.end(), fr::host(values).data());
  fr::copy(values, a);
  fr::parallel_for(fr::boundary(a), F{}, fr::inout(a));
  fr::parallel_for(fr::interior(a), F{}, fr::inout(a));
  fr::parallel_for(fr::owned(a), F{}, fr::inout(a));
  const auto numbered = [&](std::size_t at) {
    long n = 0;
    for (std::size_t k = 0, weight = 1; k != Rank; ++k, weight *= 1000) {
      const std::size_t axis_of_weight = Rank - 1 - k;
      n += static_cast<long>(weight * (at % e[axis_of_weight]));
      at /= e[axis_of_weight];
    }
    return n;
  };
  for (std::size_t i = 0; i != start.size(); ++i)
    for (int times = 0; times != 2; ++times) start[i] = 3 * start[i] + numbered(i);
  BOOST_REQUIRE_MESSAGE(fr::to_vector(a) == start, "an array of " << e.text() << ", axis " << axis);
}

}  // namespace
}  // namespace shard_loops_on_cpu

BOOST_AUTO_TEST_SUITE(shard_loops_on_cpu)
using namespace shard_loops_on_cpu;

BOOST_AUTO_TEST_CASE(regions_with_gaps_are_whole) {
  for (std::size_t seed = 0; seed != support::seeds(12); ++seed)
    for (const char* machine : machines) BOOST_TEST_CONTEXT("FERRY_CPU=" << machine << ", seed " << seed) {
        const cpu_device cpu(machine);
        dice d(seed);
        check_regions<1, mark_1>(d, fr::extents<1>(d.between(6, 500)), 0);
        for (const std::size_t axis : {0u, 1u})
          check_regions<2, mark_2>(d, fr::extents<2>(d.between(6, 90), d.between(6, 150)), axis);
        for (const std::size_t axis : {0u, 1u, 2u})
          check_regions<3, mark_3>(d, fr::extents<3>(d.between(6, 12), d.between(6, 20), d.between(6, 80)), axis);
      }
}

BOOST_AUTO_TEST_CASE(halos_and_sums_are_the_same) {
  for (const char* machine : machines)
    for (const std::size_t axis : {0u, 1u}) BOOST_TEST_CONTEXT("FERRY_CPU=" << machine << ", axis " << axis) {
        const cpu_device cpu(machine);
        const fr::extents<2> e(45, 101);
        dice d(7);
        const auto start = shards::random_values<double>(d, e.count());
        const fr::shard_options o{.axis = axis, .halo = {1, 1}, .periodic = true};
        const fr::team t = fr::team::all();
        fr::sharded_array<double, 2> a(t, e, o, 0.), b(t, e, o, 0.);
        fr::host_array<double, 2> values(e);
        std::copy(start.begin(), start.end(), fr::host(values).data());
        fr::copy(values, a);
        fr::exchange_halos(a);
        fr::parallel_for(fr::owned(b), neighbours{}, fr::in(a), fr::out(b));
        const auto at = [&](std::size_t i, std::size_t j) { return start[i % e[0] * e[1] + j % e[1]]; };
        std::vector<double> expected(e.count());
        double sum = 0;
        for (std::size_t i = 0; i != e[0]; ++i)
          for (std::size_t j = 0; j != e[1]; ++j) {
            double& to = expected[i * e[1] + j];
            to = at(i + e[0] - 1, j) + 2 * at(i, j + e[1] - 1) + 4 * at(i, j) + 8 * at(i, j + 1) + 16 * at(i + 1, j);
            sum += to * static_cast<double>(i + 1) + static_cast<double>(j);
          }
        BOOST_TEST(fr::to_vector(b) == expected);
        BOOST_TEST(fr::parallel_reduce(fr::owned(b), value{}, fr::plus{}, fr::in(b)) == sum);  // integers: exact
      }
}

// Column 101 does not exist. Its place in memory belongs to the next row, or is the halo of another array.
BOOST_AUTO_TEST_CASE(checks_are_on_or_off) {
  const support::quiet_stderr quiet;
  const auto fails = [] {
    const fr::team t = fr::team::all();
    fr::sharded_array<double, 2> a(t, {40, 101}, {.halo = 1}, 1.), b(t, {40, 101}, {}, 1.);
    a.name("depth");
    fr::exchange_halos(a);
    return support::failure_of<fr::device_error>([&] {
      fr::parallel_for(fr::owned(b).within({{0, 39}}), reads_beyond{}, fr::in(a), fr::inout(b));
      t.synchronize();
    });
  };
  {
    const cpu_device cpu("threads=2;check=off");
    BOOST_TEST(fails() == "");
  }
  const cpu_device cpu("threads=2;check=on");
  const std::string text = fails();
  BOOST_TEST(has(text, "index 101 in dimension 1 of sharded array 'depth'"), text);
  BOOST_TEST(has(text, "outside the cells [0, 101)"), text);
}

BOOST_AUTO_TEST_SUITE_END()
