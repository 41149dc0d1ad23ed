// Loops over arrays that are cut along several axes: stencils that read corners, bit for bit as over one array; parts
// of regions, components, ghost cells, and writes and reads outside of what a loop may access.
#include <cstring>

#include "multigpu/shards.hpp"
#include "support/check_error.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

using namespace shards;

namespace grid_loops {
namespace {

using support::check_error;
using support::failure_of;
using support::has;
using read_cells = fr::shard_span<const double, 2>;
using write_cells = fr::shard_span<double, 2>;

// A cell and its eight neighbours, with a weight for each: confusing two of them changes the result, which is exact.
struct nine_points {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, read_cells now, write_cells next) const {
    next(i, j) = now(i, j) + 2 * now(i - 1, j) + 3 * now(i + 1, j) + 4 * now(i, j - 1) + 5 * now(i, j + 1) +
                 6 * now(i - 1, j - 1) + 7 * now(i - 1, j + 1) + 8 * now(i + 1, j - 1) + 9 * now(i + 1, j + 1);
    return next(i, j);
  }
};
struct nine_points_of_tile {
  FERRY_HOST_DEVICE void operator()(fr::tile t, read_cells now, write_cells next) const {
    const nine_points one;
    for (std::size_t i = t.row; i < t.row + t.rows; ++i)
      for (std::size_t j = t.column; j < t.column + t.columns; ++j) one(i, j, now, next);
  }
};

// The same field in CPU memory, with a layer of ghost cells.
struct plain {
  std::size_t rows, columns;
  bool is_torus;
  std::vector<double> now = std::vector<double>((rows + 2) * (columns + 2)), next = now;
  double& at(std::vector<double>& v, std::size_t i, std::size_t j) const { return v[(i + 1) * (columns + 2) + j + 1]; }
  void step() {
    if (is_torus) {
      for (std::size_t j = 0; j < columns; ++j)
        at(now, std::size_t(-1), j) = at(now, rows - 1, j), at(now, rows, j) = at(now, 0, j);
      for (std::size_t i = 0; i < rows + 2; ++i)
        at(now, i - 1, std::size_t(-1)) = at(now, i - 1, columns - 1), at(now, i - 1, columns) = at(now, i - 1, 0);
    }
    const auto stride = static_cast<std::ptrdiff_t>(columns + 2);
    const fr::mdspan<const double, 2> from(now.data(), fr::extents<2>(rows + 2, columns + 2), {stride, 1});
    const fr::mdspan<double, 2> to(next.data(), fr::extents<2>(rows + 2, columns + 2), {stride, 1});
    for (std::size_t i = 1; i <= rows; ++i)
      for (std::size_t j = 1; j <= columns; ++j) nine_points()(i, j, from, to);
    std::swap(now, next);
  }
  std::vector<double> cells() const {
    std::vector<double> v;
    for (std::size_t i = 1; i <= rows; ++i)
      v.insert(v.end(), &now[i * (columns + 2) + 1], &now[(i + 1) * (columns + 2) - 1]);
    return v;
  }
};

enum class form { sweep, tiles, parts, reduction, expression };

template <fr::memory_kind Kind>
void step(form how, fr::sharded_array<double, 2, Kind>& now, fr::sharded_array<double, 2, Kind>& next) {
  switch (how) {
    case form::sweep: return fr::parallel_for(fr::sweep(next), nine_points{}, fr::in(now), fr::out(next));
    case form::tiles:
      return fr::parallel_for(fr::sweep(fr::shard_tiles{fr::owned(next), 2, 3}), nine_points_of_tile{}, fr::in(now),
                              fr::out(next));
    case form::parts:
      fr::exchange_halos(now);
      fr::parallel_for(fr::boundary(next), nine_points{}, fr::in(now), fr::inout(next));
      return fr::parallel_for(fr::interior(next), nine_points{}, fr::in(now), fr::inout(next));
    case form::reduction:
      return (void)fr::parallel_reduce(fr::sweep(next), nine_points{}, fr::plus{}, fr::in(now), fr::out(next));
    case form::expression: {
      const auto at = [&](std::ptrdiff_t i, std::ptrdiff_t j) { return fr::shift(now, {i, j}); };
      next = now + 2 * at(-1, 0) + 3 * at(1, 0) + 4 * at(0, -1) + 5 * at(0, 1) + 6 * at(-1, -1) + 7 * at(-1, 1) +
             8 * at(1, -1) + 9 * at(1, 1);
    }
  }
}

template <fr::memory_kind Kind>
void compare(std::size_t seed, const fr::shard_options& cut, form how) {
  const fr::team t = fr::team::all();
  plain p{7 + seed % 5, 8 + seed % 3, seed % 2 == 0};
  fr::shard_options o = cut;
  o.halo = {1, 1}, o.periodic = p.is_torus;
  fr::sharded_array<double, 2, Kind> now(t, {p.rows, p.columns}, o, 0.0), next(t, {p.rows, p.columns}, o, 0.0);
  std::vector<double> first(p.rows * p.columns);
  for (std::size_t i = 0; i < p.rows; ++i)
    for (std::size_t j = 0; j < p.columns; ++j)
      p.at(p.now, i, j) = first[i * p.columns + j] = static_cast<double>((i * 131 + j * 37 + seed) % 211);
  fr::copy(std::span<const double>(first), now);
  fr::exchange_halos(now);
  for (int k = 0; k < 6; ++k) {
    step(how, now, next);
    swap(now, next);
    p.step();
  }
  const std::vector<double> found = fr::to_vector(now), expected = p.cells();
  BOOST_TEST(std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)) == 0,
             now.layout().text() << ", form " << static_cast<int>(how));
}

struct number {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    a(i, j) = static_cast<int>(100 * i + j);
  }
};
// Reads or writes a cell at a distance.
struct read_at {
  std::size_t down, right;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const int, 2> a,
                                    fr::shard_span<int, 2> b) const {
    b(i, j) = a(i + down, j + right);
  }
};
struct write_at {
  std::size_t down, right;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    if (i == 2 && j == 2) a(i + down, j + right) = -5;
  }
};
// Moves component c by (c / 2, c % 2) cells, along diagonals, too.
struct move_components {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const int, 3> now,
                                    fr::shard_span<int, 3> next, fr::shard_span<int, 2> sum) const {
    int all = 0;
    for (std::size_t c = 0; c < 4; ++c) next(c, i, j) = now(c, i - c / 2, j - c % 2), all += next(c, i, j);
    sum(i, j) = all;
  }
};

const fr::shard_options two_by_two{.axis = {0, 1}, .grid = {2, 2}, .halo = {1, 1}};

}  // namespace
}  // namespace grid_loops

BOOST_AUTO_TEST_SUITE(grid_loops)

BOOST_AUTO_TEST_CASE(stencils_that_read_corners_are_those_of_one_array) {
  constexpr form forms[] = {form::sweep, form::tiles, form::parts, form::reduction, form::expression};
  for (std::size_t seed = 0; seed < seeds(60); ++seed) {
    // Combines each form with each number of rows, machine, schedule and check, which depend on seed % 5, % 3 and % 2.
    const form how = forms[(2 * seed + seed / 5) % 5];
    fr::simulation sim(simulated_machine(seed, seed % 3 == 0 ? 6 : 4));
    sim.get().checks.set(fr::check::halos, seed % 2 == 1);
    const std::ptrdiff_t other = seed % 3 == 0 ? 3 : 2;
    for (const fr::shard_options& cut : {fr::shard_options{.axis = {0, 1}, .grid = {2, other}},
                                         {.axis = {0, 1}, .grid = {other, 2}},
                                         {.axis = {0, 1}, .grid = {1, 2 * other}},
                                         {.axis = {0, 1}}}) {
      compare<fr::memory_kind::device>(seed, cut, how);
      compare<fr::memory_kind::unified>(seed, cut, how);
    }
  }
}

BOOST_AUTO_TEST_CASE(stencils_that_read_corners_on_this_machine) {
  for (std::size_t seed = 0; seed < 6; ++seed)
    for (const form how : {form::sweep, form::tiles, form::parts, form::reduction})
      compare<fr::memory_kind::device>(seed, {.axis = {0, 1}}, how);
}

// Boundary and interior are all cells, each once.
BOOST_AUTO_TEST_CASE(boundary_and_interior_are_apart) {
  const fr::simulation sim("devices=9");
  const fr::team t = fr::team::all();
  fr::sharded_array<int, 2> a(t, {14, 12}, {.axis = {0, 1}, .grid = {3, 3}, .halo = {1, 2}}, 0);
  const auto some = fr::box<2>::of_corners({3, 1}, {9, 8});
  for (const bool is_part : {false, true})
    for (const auto which : {fr::shard_cells::boundary, fr::shard_cells::interior})
      for (std::size_t m = 0; m < 9; ++m) {
        fr::shard_region<2> region = fr::owned(a).with(which);
        if (is_part) region = region.within({{3, 9}, {1, 8}});
        std::vector<int> times(14 * 12);
        for (const auto& p : region.parts(m))
          for (std::size_t k = 0; k < p.slabs(); ++k)
            for_each_index(p.slab(k), [&](const auto& at) { ++times[offset(a.extents(), at)]; });
        const auto own = a.layout().own(m), inside = a.layout().interior(m);
        for_each_index(a.layout().whole(), [&](const auto& at) {
          const auto cell = fr::box<2>::of_corners(at, {at[0] + 1, at[1] + 1});
          const bool is_interior = which == fr::shard_cells::interior;
          const bool is_in =
              own.contains(cell) && inside.contains(cell) == is_interior && (!is_part || some.contains(cell));
          BOOST_TEST(times[offset(a.extents(), at)] == static_cast<int>(is_in));
        });
      }
}

// A loop over a part may access the cells of the halo's width around it along both axes, corners too, and no others.
BOOST_AUTO_TEST_CASE(loops_access_the_halo_around_their_region) {
  const fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  fr::sharded_array<int, 2> a(t, {8, 8}, two_by_two, 1), b(t, {8, 8}, two_by_two, 0);
  a.name("a"), b.name("b");
  fr::parallel_for(fr::owned(a), number{}, fr::out(a));
  fr::exchange_halos(a);
  const auto some = fr::owned(b).within({{1, 7}, {1, 7}});
  for (const auto& [down, right] : {std::pair{1, 1}, {-1, 1}, {1, -1}, {-1, -1}, {0, 1}, {-1, 0}}) {
    fr::parallel_for(some, read_at{std::size_t(down), std::size_t(right)}, fr::in(a), fr::out(b));
    const auto found = fr::to_vector(b);
    for (int i = 1; i < 7; ++i)
      for (int j = 1; j < 7; ++j) BOOST_TEST(found[std::size_t(i * 8 + j)] == 100 * (i + down) + j + right);
  }
  const support::quiet_stderr quiet;
  for (const std::size_t d : {0u, 1u}) {
    const std::string text = failure_of<fr::device_error>([&] {
      const fr::simulation one("devices=4");
      const fr::team all = fr::team::all();
      fr::sharded_array<int, 2> u(all, {8, 8}, two_by_two, 1), v(all, {8, 8}, two_by_two, 0);
      u.name("u");
      fr::parallel_for(fr::owned(v).within({{1, 2}, {1, 2}}), read_at{d == 0 ? 2u : 0u, d == 1 ? 2u : 0u}, fr::in(u),
                       fr::out(v));
      (void)fr::to_vector(v);
    });
    BOOST_TEST(has(text, "in dimension " + std::to_string(d) + " of sharded array 'u' is outside the cells"), text);
  }
}

BOOST_AUTO_TEST_CASE(writes_outside_of_the_region_are_found) {
  const support::quiet_stderr quiet;
  struct wrong {
    fr::slice rows, columns;
    write_at f;
    const char* cell;
  };
  constexpr std::size_t before = std::size_t(-1);
  for (const char* how : {"devices=4", "devices=4;schedule=random:5"})
    for (const wrong& w : {wrong{{2, 3}, {2, 3}, {1, 1}, "(3, 3)"},
                           {{2, 3}, {2, 3}, {0, before}, "(2, 1)"},
                           {{1, 4}, {1, 4}, {2, 2}, "(4, 4)"},  // a corner of the halo
                           {{2, 4}, {2, 4}, {2, 0}, "(4, 2)"}}) {
      const std::string text = failure_of<fr::device_error>([&] {
        const fr::simulation sim(how);
        fr::sharded_array<int, 2> a(fr::team::all(), {8, 8}, two_by_two, 1);
        a.name("a");
        fr::parallel_for(fr::owned(a).within({w.rows, w.columns}), w.f, fr::inout(a));
        (void)fr::to_vector(a);
      });
      BOOST_TEST(has(text, std::string("cell ") + w.cell + " of sharded array 'a' was written"), text);
    }
}

// A read of a corner that is out of date gives NaN on random schedules: here all bits are 1.
BOOST_AUTO_TEST_CASE(corners_are_tracked) {
  const fr::simulation sim("devices=4;schedule=random:3");
  const fr::team t = fr::team::all();
  fr::sharded_array<int, 2> a(t, {8, 8}, two_by_two, 7), b(t, {8, 8}, {.axis = {0, 1}, .grid = {2, 2}}, 0);
  const auto lost = [&] {
    fr::parallel_for(fr::owned(b).within({{3, 4}, {3, 4}}), read_at{1, 1}, fr::in(a), fr::inout(b));
    return fr::to_vector(b)[3 * 8 + 3] == -1;
  };
  BOOST_TEST(!lost());
  fr::parallel_for(fr::owned(a).within({{5, 6}, {4, 5}}), number{}, fr::inout(a));  // beside the corner's cell
  BOOST_TEST(!lost());
  fr::parallel_for(fr::owned(a).within({{4, 5}, {4, 5}}), number{}, fr::inout(a));
  BOOST_TEST(lost());
  fr::exchange_halos(a);
  BOOST_TEST(!lost());
  BOOST_TEST(fr::to_vector(b)[3 * 8 + 3] == 404);
}

BOOST_AUTO_TEST_CASE(components_travel_along_diagonals) {
  for (std::size_t seed = 0; seed < seeds(12); ++seed) {
    const fr::simulation sim(simulated_machine(seed, 4));
    const fr::team t = fr::team::all();
    const std::size_t n = 6, m = 5;
    const fr::shard_options how{.axis = {1, 2}, .grid = {2, 2}, .halo = {0, 1, 1}, .periodic = true};
    fr::sharded_array<int, 3> now(t, {4, n, m}, how, 0), next(t, {4, n, m}, how, 0);
    fr::sharded_array<int, 2> sum(t, {n, m}, {.axis = {0, 1}, .grid = {2, 2}, .halo = {1, 1}, .periodic = true}, 0);
    dice d(seed);
    auto cells = random_values<int>(d, 4 * n * m);
    fr::copy(std::span<const int>(cells), now);
    fr::exchange_halos(now, sum);
    for (int k = 0; k < 3; ++k) {
      fr::parallel_for(fr::sweep(seed % 2 ? fr::cells(next, 0) : fr::owned(sum)), move_components{}, fr::in(now),
                       fr::out(next), fr::out(sum));
      swap(now, next);
      auto moved = cells;
      for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < m; ++j)
            moved[(c * n + i) * m + j] = cells[(c * n + (i + n - c / 2) % n) * m + (j + m - c % 2) % m];
      cells = moved;
    }
    BOOST_TEST(fr::to_vector(now) == cells);
    BOOST_TEST(fr::to_vector(sum)[0] == cells[0] + cells[n * m] + cells[2 * n * m] + cells[3 * n * m]);
  }
  const fr::simulation sim("devices=4");
  fr::sharded_array<int, 3> f(fr::team::all(), {4, 6, 6}, {.axis = {0, 1}, .grid = {2, 2}});
  f.name("f");
  check_error<fr::invalid_argument>([&] { (void)fr::cells(f, 0); }, {"'f'", "cut along axes 0 and 1"});
  fr::sharded_array<int, 2> rows(fr::team::all(), {6, 6}, {.axis = 0});
  fr::sharded_array<int, 3> p(fr::team::all(), {4, 6, 6}, {.axis = {1, 2}, .grid = {2, 2}}, 0),
      q(fr::team::all(), {4, 6, 6}, {.axis = {1, 2}, .grid = {2, 2}}, 0);
  p.name("p"), q.name("q");
  check_error<fr::invalid_argument>(
      [&] { fr::parallel_for(fr::owned(rows), move_components{}, fr::in(p), fr::out(q), fr::out(rows)); },
      {"sharded array '", "axes 1 and 2 of a team of 2 x 2", "reshard"});
}

BOOST_AUTO_TEST_CASE(shards_are_boxes) {
  const fr::simulation sim("devices=4");
  fr::sharded_array<int, 2> a(fr::team::all(), {5, 7}, two_by_two, 0);
  std::vector<std::string> shapes(4);
  fr::for_each_shard(
      [&](std::size_t m, fr::stream_ref s, auto cells) {
        shapes[m] = cells.extents().text();
        fr::fill(s, cells, static_cast<int>(m));
      },
      a);
  BOOST_TEST((shapes == std::vector<std::string>{"3 x 4", "3 x 3", "2 x 4", "2 x 3"}));
  const auto found = fr::to_vector(a);
  BOOST_TEST((found[0] == 0 && found[4] == 1 && found[3 * 7] == 2 && found[34] == 3));
}

BOOST_AUTO_TEST_CASE(reproducible_sums_need_one_axis) {
  const fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  fr::sharded_array<double, 2> now(t, {8, 8}, {.axis = {0, 1}, .halo = 1}, 1.0),
      next(t, {8, 8}, {.axis = {0, 1}, .halo = 1}, 1.0);
  now.name("now");
  const auto sum = fr::reproducible(fr::plus{});
  check_error<fr::invalid_argument>(
      [&] { (void)fr::parallel_reduce(fr::owned(now), nine_points{}, sum, fr::in(now), fr::out(next)); },
      {"sharded array 'now' of 8 x 8 along axes 0 and 1 of a team of 2 x 2", "reshard the array along one axis"});
  check_error<fr::invalid_argument>(
      [&] { (void)fr::parallel_reduce(fr::sweep(now), nine_points{}, sum, fr::in(now), fr::out(next)); }, {"'now'"});
}

BOOST_AUTO_TEST_SUITE_END()
