// Fields with components in loops over cells: components as the first dimension or the last, cut along any axis, in
// sweeps, reductions and parts of regions, against the same loops over one device.
#include <ferry/ferry.hpp>
#include <random>

#include "contract/fixture.hpp"
#include "multigpu/shards.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

using namespace contract;

namespace components {
namespace {

constexpr std::size_t parts = 3;

// Moves component c by c cells along both axes, and mixes in the cell's mean. Leading: components are the first
// dimension.
template <bool Leading>
struct step {
  template <class Span>
  FERRY_HOST_DEVICE static auto& at(const Span& a, std::size_t c, std::size_t i, std::size_t j) {
    if constexpr (Leading)
      return a(c, i, j);
    else
      return a(i, j, c);
  }
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, fr::shard_span<const int, 3> now,
                                   fr::shard_span<const int, 2> wall, fr::shard_span<int, 3> next) const {
    int sum = 0;
    for (std::size_t c = 0; c != parts; ++c) {
      const std::size_t back = c % 2;
      const int value = wall(i, j) != 0 ? at(now, parts - 1 - c, i, j) : at(now, c, i - back, j + c / 2);
      at(next, c, i, j) = 3 * value % 101 + static_cast<int>(c);
      sum += at(next, c, i, j);
    }
    return sum;
  }
};

template <bool Leading>
struct steps {
  using array = fr::sharded_array<int, 3>;
  static fr::extents<3> shape(std::size_t n, std::size_t m) {
    return Leading ? fr::extents<3>(parts, n, m) : fr::extents<3>(n, m, parts);
  }
  static fr::shard_options options(fr::shard_options cells) {
    cells.halo = {1, 1, 0};
    if constexpr (!Leading) return cells;
    for (std::ptrdiff_t& axis : cells.axis.axes) ++axis;
    cells.halo = {0, 1, 1};
    return cells;
  }
  // The same steps on the CPU. Returns the sum of the last one.
  static long on_cpu(std::vector<int>& now, const std::vector<int>& wall, std::size_t n, std::size_t m, int times) {
    const auto at = [&](std::vector<int>& v, std::size_t c, std::size_t i, std::size_t j) -> int& {
      return Leading ? v[(c * n + i) * m + j] : v[(i * m + j) * parts + c];
    };
    long sum = 0;
    for (int t = 0; t < times; ++t) {
      std::vector<int> next(now.size());
      sum = 0;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j)
          for (std::size_t c = 0; c < parts; ++c) {
            const int value =
                wall[i * m + j] != 0 ? at(now, parts - 1 - c, i, j) : at(now, c, (i + n - c % 2) % n, (j + c / 2) % m);
            sum += at(next, c, i, j) = 3 * value % 101 + static_cast<int>(c);
          }
      now = next;
    }
    return sum;
  }
  static void agree(std::mt19937& random, std::size_t devices) {
    const std::size_t n = devices + random() % 9, m = devices + random() % 9;
    const fr::team t = fr::team::all();
    shards::dice d(random());
    fr::shard_options cut = shards::any_cut(d, 2, t.size());
    cut.halo = {1, 1}, cut.periodic = true;
    const auto numbers = [&](std::size_t count, unsigned below) {
      std::vector<int> v(count);
      for (int& x : v) x = static_cast<int>(random() % below);
      return v;
    };
    std::vector<int> cells = numbers(parts * n * m, 100);
    const std::vector<int> walls = numbers(n * m, 2);
    fr::sharded_array<int, 2> wall(t, {n, m}, cut);
    array now(t, shape(n, m), options(cut)), next(t, shape(n, m), options(cut));
    fr::copy(cells, now), fr::copy(walls, wall);
    const int form = static_cast<int>(random() % 3), times = 4;
    const auto all = random() % 2 == 0 ? fr::owned(wall) : fr::cells(now, Leading ? 0 : 2);
    long sum = 0;
    for (int k = 0; k < times; ++k) {
      if (form == 0) {
        fr::exchange_halos(now, wall);
        sum = fr::parallel_reduce(all, step<Leading>{}, fr::plus{}, fr::in(now), fr::in(wall), fr::out(next)).value();
      } else if (form == 1) {
        if (k == 0) fr::exchange_halos(now);
        sum = fr::parallel_reduce(fr::sweep(all), step<Leading>{}, fr::plus{}, fr::in(now), fr::in(wall), fr::out(next))
                  .value();
      } else {
        fr::exchange_halos(now);
        sum = fr::parallel_reduce(all.with(fr::shard_cells::boundary), step<Leading>{}, fr::plus{}, fr::in(now),
                                  fr::in(wall), fr::inout(next))
                  .value();
        sum += fr::parallel_reduce(all.with(fr::shard_cells::interior), step<Leading>{}, fr::plus{}, fr::in(now),
                                   fr::in(wall), fr::inout(next))
                   .value();
      }
      swap(now, next);
    }
    BOOST_TEST(sum == on_cpu(cells, walls, n, m, times));
    BOOST_TEST((fr::to_vector(now) == cells), "form " << form << ", " << wall.layout().text());
  }
};

struct set_component {
  std::size_t component;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<int, 2> a) const { a(component, i) += 1; }
};
struct writes_beside {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<int, 2> a) const {
    a(0, i) = 1;
    if (i == 4) a(0, i + 1) = 7;
  }
};
struct reads_beside {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<const int, 2> a, fr::shard_span<int, 1> to) const {
    to(i) = a(0, i - 1);
  }
};

}  // namespace
}  // namespace components

BOOST_AUTO_TEST_SUITE(components)

BOOST_AUTO_TEST_CASE(loops_over_cells_equal_those_of_one_device) {
  for (std::size_t seed = 0; seed <= support::seeds(30); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937 random(static_cast<unsigned>(seed));
      const std::size_t devices = 1 + random() % 4;
      const fr::simulation sim("devices=" + std::to_string(devices) + ";check=on" +
                               (seed ? ";schedule=random:" + std::to_string(seed) : std::string()));
      steps<true>::agree(random, devices);
      steps<false>::agree(random, devices);
    }
}

BOOST_AUTO_TEST_CASE(loops_over_cells_on_this_machine) {
  for (std::size_t seed = 0; seed <= support::seeds(10); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937 random(static_cast<unsigned>(seed));
      steps<true>::agree(random, fr::devices().size());
      steps<false>::agree(random, fr::devices().size());
    }
}

BOOST_AUTO_TEST_CASE(parts_of_a_region_reach_all_components) {
  const fr::simulation sim("devices=3;check=on");
  const fr::team t = fr::team::all();
  const fr::sharded_array<int, 1> cells(t, {10}, {}, 0);
  fr::sharded_array<int, 2> a(t, {2, 10}, {.axis = 1}, 0);
  fr::parallel_for(fr::owned(cells).within({2, 7}), set_component{1}, fr::inout(a));
  std::vector<int> expected(20, 0);
  std::fill(expected.begin() + 12, expected.begin() + 17, 1);
  CHECK_EQUAL(fr::to_vector(a), expected);
}

BOOST_AUTO_TEST_CASE(mistakes_are_found) {
  using cells_of = fr::sharded_array<int, 1>;
  using parts_of = fr::sharded_array<int, 2>;
  const auto text = [&](auto run) {  // an error in a kernel ends the work of its device
    const support::quiet_stderr quiet;
    const fr::simulation sim("devices=2;check=on");
    const fr::team t = fr::team::all();
    cells_of cells(t, {10}, {.halo = 1, .periodic = true}, 0);
    parts_of a(t, {2, 10}, {.axis = 1, .halo = {0, 1}, .periodic = true}, 0);
    a.name("velocity");
    return support::failure_of<fr::error>([&] { run(cells, a), t.synchronize(); });
  };
  const std::string component = text(
      [&](const cells_of& cells, parts_of& a) { fr::parallel_for(fr::owned(cells), set_component{2}, fr::inout(a)); });
  BOOST_TEST(support::has(component, "index 2 in dimension 0 of sharded array 'velocity'"), component);
  const std::string beside = text(
      [&](const cells_of& cells, parts_of& a) { fr::parallel_for(fr::owned(cells), writes_beside{}, fr::inout(a)); });
  BOOST_TEST(support::has(beside, "'velocity'"), beside);
  const auto reads = [](bool exchanged) {
    return [=](cells_of& cells, parts_of& a) {
      fr::exchange_halos(a);
      fr::parallel_for(fr::owned(cells), set_component{1}, fr::inout(a));
      if (exchanged) fr::exchange_halos(a);
      fr::parallel_for(fr::owned(cells), reads_beside{}, fr::in(a), fr::out(cells));
    };
  };
  const std::string stale = text(reads(false));
  BOOST_TEST(support::has(stale, "out of date"), stale);
  BOOST_TEST(!support::has(text(reads(true)), "out of date"));

  for (const std::size_t axis : {0U, 1U}) {
    const std::string cut = text([&](const cells_of& cells, const parts_of& a) {
      parts_of other(a.team(), axis ? fr::extents<2>(2, 11) : fr::extents<2>(2, 10), {.axis = axis}, 0);
      fr::parallel_for(fr::owned(cells), set_component{1}, fr::inout(other));
    });
    BOOST_TEST(support::has(cut, "must be cut the same way"), cut);
  }
  for (const std::size_t components : {1U, 2U}) {
    const std::string none = text([&](const cells_of&, const parts_of& a) { (void)fr::cells(a, components); });
    BOOST_TEST(support::has(none, "'velocity' with components in dimension " + std::to_string(components)), none);
  }
  const std::string wide = text([&](const cells_of& cells, parts_of& a) {
    const cells_of narrow(cells.team(), {10}, {.periodic = true}, 0);
    fr::parallel_for(fr::sweep(narrow), set_component{1}, fr::inout(a));
  });
  BOOST_TEST(support::has(wide, "sweep over the array with the widest halo"), wide);
}

BOOST_AUTO_TEST_SUITE_END()
