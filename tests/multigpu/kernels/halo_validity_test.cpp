// Stale halos are detected where they are read, and nowhere else.
#include <unistd.h>

#include <cmath>
#include <ferry/ferry.hpp>
#include <filesystem>

#include <ferry/multigpu/sharded_npy.hpp>
#include "contract/fixture.hpp"
#include "multigpu/shards.hpp"

using namespace contract;
using shards::seeds;

namespace halo_validity {
namespace {

using field = fr::sharded_array<double, 2>;

struct one_more {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<double, 2> a) const { a(i, j) += 1; }
};
struct set_one {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<double, 2> a) const {
    return a(i, j) = 1;
  }
};
// The number of NaN neighbours along an axis.
struct lost_neighbours {
  std::size_t axis;
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a) const {
    const std::size_t r = axis == 0, c = axis == 1;
    return int{std::isnan(a(i - r, j - c))} + int{std::isnan(a(i + r, j + c))};
  }
};
struct lost_cells {
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a) const {
    return std::isnan(a(i, j));
  }
};
// True if the neighbour before one given cell is NaN; the cell is the same for all members.
struct is_lost_before {
  std::size_t axis;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a,
                                    fr::mdspan<int, 1> found) const {
    found(0) = std::isnan(a(i - (axis == 0), j - (axis == 1)));
  }
};
// Includes corners of the array, where both neighbours are beyond it.
struct sum_of_ghosts {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a) const {
    double sum = 0;
    if (i == 0) sum += a(i - 1, j);
    if (i + 1 == a.extent(0)) sum += a(i + 1, j);
    if (j == 0) sum += a(i, j - 1);
    if (j + 1 == a.extent(1)) sum += a(i, j + 1);
    return sum;
  }
};

struct writes_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<double, 2> a) const { a(i, j) = 1; }
};
struct sums_of_ghosts_before {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> a,
                                    fr::shard_span<double, 2> b) const {
    b(i, j) = a(i - 1, j - 1) + a(i, j - 1) + a(i + 1, j - 1);
  }
};

constexpr std::size_t rows = 9, columns = 10;

// The number of stale neighbours in a loop over three shards along an axis: a row or column on each side.
std::size_t all_lost(std::size_t axis) { return 6 * (axis == 0 ? columns : rows); }
std::size_t lost(const field& a) {
  return static_cast<std::size_t>(
      fr::parallel_reduce(fr::owned(a), lost_neighbours{a.layout().axis()}, fr::plus{}, fr::in(a)).value());
}

// Runs f(team, options) on simulated devices with random schedules, for arrays split along each axis.
template <class F>
void on_random_schedules(F f) {
  for (std::size_t seed = 0; seed < seeds(6); ++seed)
    for (const std::size_t axis : {0u, 1u}) BOOST_TEST_CONTEXT("seed " << seed << ", axis " << axis) {
        const fr::simulation sim("devices=3;schedule=random:" + std::to_string(seed));
        f(fr::team::all(), fr::shard_options{.axis = axis, .halo = 1, .periodic = true});
      }
}

}  // namespace
}  // namespace halo_validity

BOOST_AUTO_TEST_SUITE(halo_validity)

BOOST_AUTO_TEST_CASE(halos_out_of_date_are_refused_by_name_and_index) {
  for (const char* how : {"devices=3", "devices=3;schedule=random:1", "devices=3;schedule=random:2"})
    for (const std::size_t axis : {0u, 1u})
      for (const bool by_sweep : {false, true}) {
        fr::simulation sim(how);
        sim.get().checks.set(fr::check::halos, true);
        const fr::team t = fr::team::all();
        field a(t, {rows, columns}, {.axis = axis, .halo = 1, .periodic = true}, 1.0),
            b(t, {rows, columns}, {.axis = axis, .halo = 1});
        a.name("height");
        BOOST_TEST(lost(a) == 0u);
        fr::parallel_for(fr::owned(a), one_more{}, a);
        fr::parallel_for(fr::owned(a), one_more{}, a);  // reads no halo
        fr::exchange_halos(a);
        BOOST_TEST(lost(a) == 0u);
        if (by_sweep)
          fr::parallel_for(fr::sweep(a), one_more{}, a), fr::parallel_for(fr::owned(a), one_more{}, a);
        else
          fr::copy(std::vector<double>(rows * columns, 3.0), a);
        check_error<fr::device_error>([&] { (void)lost(a); },
                                      {"index ", axis == 0 ? "dimension 0" : "dimension 1", "sharded array 'height'",
                                       "out of date", "exchange_halos(height)"});
      }
}

// Without the check they read as NaN, like cells that a loop does not declare to read.
BOOST_AUTO_TEST_CASE(halos_out_of_date_read_as_nan_under_random_schedules) {
  on_random_schedules([](const fr::team& t, fr::shard_options o) {
    field a(t, {rows, columns}, o, 1.0);
    BOOST_TEST(lost(a) == 0u);
    fr::parallel_for(fr::owned(a), one_more{}, fr::inout(a));
    BOOST_TEST(lost(a) == all_lost(o.axis.first()));
    BOOST_TEST(fr::parallel_reduce(fr::owned(a), lost_cells{}, fr::plus{}, fr::in(a)).value() == 0);
    // Partial writes: only neighbours of the written cells are stale.
    fr::exchange_halos(a);
    fr::parallel_for(fr::owned(a).within({{0, 1}, {0, 1}}), one_more{}, fr::inout(a));
    BOOST_TEST(lost(a) == 1u);
    // The memory itself is unchanged, even by loops that write between halo cells.
    for (int i = 0; i < 2; ++i) fr::parallel_for(fr::owned(a), one_more{}, fr::inout(a));
    for (std::size_t m = 0; m < t.size(); ++m) {
      const std::vector<double> cells = fr::to_vector(std::as_const(a).shard_with_halo(m));
      BOOST_TEST(std::count_if(cells.begin(), cells.end(), [](double x) { return std::isnan(x); }) == 0);
    }
  });
}

BOOST_AUTO_TEST_CASE(what_makes_halos_valid_and_what_does_not) {
  on_random_schedules([](const fr::team& t, fr::shard_options o) {
    const fr::extents<2> e{rows, columns};
    const std::size_t all = all_lost(o.axis.first());
    const std::vector<double> values(rows * columns, 2.0);
    const fr::device_array<double, 2> plain(e, 2.0, fr::device(0));
    field a(t, e, o), b(t, e, o, 1.0);
    BOOST_TEST(lost(a) == all);  // undefined
    fr::fill(a, 2.0);
    BOOST_TEST(lost(a) == 0u);
    fr::copy(values, a);
    BOOST_TEST(lost(a) == all);
    fr::parallel_for(fr::sweep(a), one_more{}, a);
    BOOST_TEST(lost(a) == 0u);
    (void)fr::parallel_reduce(fr::owned(a), set_one{}, fr::plus{}, fr::out(a)).value();
    BOOST_TEST(lost(a) == all);
    (void)fr::parallel_reduce(fr::sweep(a), set_one{}, fr::plus{}, fr::out(a)).value();
    BOOST_TEST(lost(a) == 0u);
    (void)fr::parallel_reduce(fr::owned(a), set_one{}, fr::reproducible(fr::plus{}), fr::out(a)).value();
    BOOST_TEST(lost(a) == all);
    (void)fr::parallel_reduce(fr::sweep(a), set_one{}, fr::reproducible(fr::plus{}), fr::out(a)).value();
    BOOST_TEST(lost(a) == 0u);
    fr::copy(plain, a);
    BOOST_TEST(lost(a) == all);
    fr::exchange_halos(b, a);
    BOOST_TEST(lost(a) == 0u);
    fr::parallel_for(fr::interior(a), one_more{}, a);  // no halo contains these cells
    BOOST_TEST(lost(a) == 0u);
    fr::parallel_for(fr::boundary(a), one_more{}, a);
    BOOST_TEST(lost(a) == all);

    swap(a, b);
    BOOST_TEST(lost(a) == 0u);
    BOOST_TEST(lost(b) == all);
    field moved = std::move(b);
    BOOST_TEST(lost(moved) == all);
    fr::reshard(moved, a);
    BOOST_TEST(lost(a) == all);
    BOOST_TEST(lost(fr::reshard(a, t, o)) == 0u);
    fr::exchange_halos(a);
    fr::scatter(values, a);
    BOOST_TEST(lost(a) == all);
    const auto file = std::filesystem::temp_directory_path() / ("ferry_halos_" + std::to_string(::getpid()) + ".npy");
    fr::save_npy(file.string(), a);
    BOOST_TEST(lost(fr::load_npy<double, 2>(file.string(), t, o)) == all);
    std::filesystem::remove(file);
  });
}

// The program may fill halos through a writable view.
BOOST_AUTO_TEST_CASE(halos_that_a_writable_view_reaches_are_not_tracked) {
  on_random_schedules([](const fr::team& t, fr::shard_options o) {
    field a(t, {rows, columns}, o, 1.0);
    (void)a.shard(0);
    fr::parallel_for(fr::owned(a), one_more{}, a);
    BOOST_TEST(lost(a) == all_lost(o.axis.first()));
    (void)std::as_const(a).shard_with_halo(0);
    (void)a.shard_with_halo(1);
    BOOST_TEST(lost(a) == all_lost(o.axis.first()) * 2 / 3);
    o.axis.first() == 0 ? (void)a.cells(2, {{9, 10}}) : (void)a.cells(2, {fr::all_of, {10, 11}});
    BOOST_TEST(lost(a) == all_lost(o.axis.first()) / 2);
  });
}

BOOST_AUTO_TEST_CASE(cells_beyond_the_array_are_never_out_of_date) {
  for (const char* how : {"devices=3", "devices=3;schedule=random:3", "devices=1;schedule=random:4"})
    for (const std::size_t axis : {0u, 1u}) {
      fr::simulation sim(how);
      sim.get().checks.set(fr::check::halos, true);
      const fr::team t = fr::team::all();
      field a(t, {rows, columns}, {.axis = axis, .halo = {1, 1}});
      fr::for_each_shard(
          [&](std::size_t m, fr::stream_ref s, const auto&) {
            const auto own = a.layout().own(m);
            if (own.begin[0] == 0) fr::fill(s, a.cells(m, {{-1, 0}}), 1.0);
            if (own.end[0] == rows) fr::fill(s, a.cells(m, {{rows, rows + 1}}), 2.0);
            if (own.begin[1] == 0) fr::fill(s, a.cells(m, {fr::all_of, {-1, 0}}), 3.0);
            if (own.end[1] == columns) fr::fill(s, a.cells(m, {fr::all_of, {columns, columns + 1}}), 4.0);
          },
          a);
      fr::parallel_for(fr::owned(a), set_one{}, fr::out(a));
      const double sum = fr::parallel_reduce(fr::owned(a), sum_of_ghosts{}, fr::plus{}, fr::in(a));
      BOOST_TEST(sum == 3.0 * columns + 7.0 * rows);
    }
}

// Launching a graph changes the state of halos; capturing it does not. The corners of ghost cells lie in planes whose
// other cells are stale.
BOOST_AUTO_TEST_CASE(ghost_cells_beside_halos_that_are_out_of_date) {
  for (const char* how : {"devices=3;check=on", "devices=3;check=on;schedule=random:3"}) BOOST_TEST_CONTEXT(how) {
      const fr::simulation sim(how);
      const fr::team t = fr::team::all();
      const fr::shard_options both{.halo = {1, 1}};
      field a(t, {rows, columns}, both), b(t, {rows, columns}, both, 0.0);
      for (std::size_t m = 0; m < t.size(); ++m) fr::fill(t.stream(m), a.cells(m, {fr::all_of, {-1, 0}}), 5.0);
      fr::parallel_for(fr::owned(a), writes_one{}, fr::out(a));
      fr::parallel_for(fr::owned(a).within({fr::all_of, {0, 1}}), sums_of_ghosts_before{}, fr::in(a), fr::inout(b));
      BOOST_TEST(fr::to_vector(b)[0] == 15);
    }
}

BOOST_AUTO_TEST_CASE(graphs) {
  on_random_schedules([](const fr::team& t, fr::shard_options o) {
    const std::size_t all = all_lost(o.axis.first());
    field a(t, {rows, columns}, o, 1.0);
    const auto graph_of = [&](auto body) { return fr::capture(t.stream(0), body); };
    fr::exchange_halos(a);
    fr::graph write = graph_of([&] { fr::parallel_for(fr::owned(a), one_more{}, a); });
    BOOST_TEST(lost(a) == 0u);
    write.launch(t.stream(0));
    BOOST_TEST(lost(a) == all);
    fr::graph exchange = graph_of([&] { fr::exchange_halos(a); });
    BOOST_TEST(lost(a) == all);
    exchange.launch(t.stream(0));
    BOOST_TEST(lost(a) == 0u);
    fr::graph both = graph_of([&] {
      write.launch(t.stream(0));
      exchange.launch(t.stream(0));
    });
    fr::parallel_for(fr::owned(a), one_more{}, a);
    both.launch(t.stream(0));
    BOOST_TEST(lost(a) == 0u);

    // Inside a capture: writes captured before are tracked, and writes from before the capture are not.
    fr::unified_array<int> found({1}, -1);
    const auto look = [&] {
      fr::parallel_for(fr::owned(a).within({{3, 4}, {4, 5}}), is_lost_before{o.axis.first()}, fr::in(a), found);
    };
    write.launch(t.stream(0));
    fr::graph looks = graph_of(look);
    fr::exchange_halos(a);
    looks.launch(t.stream(0));
    BOOST_TEST(found[0] == 0);
    fr::graph writes_and_looks = graph_of([&] {
      write.launch(t.stream(0));
      look();
    });
    BOOST_TEST(lost(a) == 0u);
    writes_and_looks.launch(t.stream(0));
    BOOST_TEST(found[0] == 1);
    BOOST_TEST(lost(a) == all);
    fr::graph is_right = graph_of([&] {
      write.launch(t.stream(0));
      exchange.launch(t.stream(0));
      look();
    });
    is_right.launch(t.stream(0));
    BOOST_TEST(found[0] == 0);
  });
}

BOOST_AUTO_TEST_SUITE_END()
