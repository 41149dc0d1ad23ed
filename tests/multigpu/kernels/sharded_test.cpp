// Sharded arrays: invalid shapes, costs, and conversions from and to other arrays.
#include <bit>
#include <cmath>
#include <ferry/ferry.hpp>
#include <map>

#include "contract/fixture.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "multigpu/shards.hpp"
#include "sim/sim_backend.hpp"
#include "support/counting_backend.hpp"

using namespace contract;

namespace sharded_arrays {
namespace {

using field = fr::sharded_array<float, 2>;

struct relax {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const float, 2> a,
                                      fr::shard_span<float, 2> next) const {
    const bool has_above = i > 0 || a.begin(0) < 0, has_below = i + 1 < a.extent(0) || a.begin(0) < 0;
    next(i, j) = 0.5f * ((has_above ? a(i - 1, j) : 0) + (has_below ? a(i + 1, j) : 0));
    return next(i, j) - a(i, j);
  }
};
struct add_row {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    a(i, j) += static_cast<int>(10 * i + j);
  }
};
struct reads_too_far {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const int, 2> a,
                                    fr::shard_span<int, 2> b) const {
    b(i, j) = a(i + 2, j);
  }
};
struct writes_beside {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const { a(i + 1, j) = 1; }
};

struct writes_tile {
  FERRY_HOST_DEVICE void operator()(fr::tile t, fr::shard_span<int, 2> a) const { a(t.row, t.column) = 1; }
};

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
struct add_to_all {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<float, 2> a) const { a(i, j) += 1; }
};
struct height {
  FERRY_HOST_DEVICE float operator()(std::size_t i, std::size_t j, fr::shard_span<const float, 2> a) const {
    return a(i, j);
  }
};

// The number of stream waits in a step, after warm-up steps.
template <class Step>
double waits_of(std::size_t devices, bool periodic, Step step) {
  fr::simulation sim("devices=" + std::to_string(devices));
  support::call_counts calls;
  fr::runtime_scope counting(std::make_unique<support::counting_backend>(sim.get().backend(), calls));
  const fr::team t = fr::team::all();
  const fr::shard_options o{.axis = 0, .halo = 1, .periodic = periodic};
  field a(t, {64, 8}, o, 1.0f), next(t, {64, 8}, o, 1.0f);
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      step(a, next);
      swap(a, next);
    }
  };
  run(10);
  const long before = calls.stream_waits, blocked = calls.cpu_waits;
  run(100);
  BOOST_TEST(calls.cpu_waits == blocked);  // the CPU never waits
  return static_cast<double>(calls.stream_waits - before) / 100;
}

void plain_step(field& a, field& next) {
  fr::parallel_for(fr::owned(next), relax{}, fr::in(a), fr::out(next));
  fr::exchange_halos(next);
}
void swept_step(field& a, field& next) { fr::parallel_for(fr::sweep(next), relax{}, fr::in(a), fr::out(next)); }

bool are_peers() { return fr::detail::peer_policy::from_environment().use; }

// The number of stream waits that staged copies of one step make, if halos cannot be stored directly. Each copy forks
// two streams, which wait for a chunk each, and joins them.
double staged_waits(std::size_t devices, bool periodic) {
  const double copies = devices == 1 ? 0 : 2 * (static_cast<double>(devices) - (periodic ? 0 : 1));
  return are_peers() ? 0 : 6 * copies;
}

}  // namespace
}  // namespace sharded_arrays

BOOST_AUTO_TEST_SUITE(sharded_arrays)

// The minimum: each device waits for each neighbour once.
BOOST_AUTO_TEST_CASE(a_step_waits_once_for_each_neighbour) {
  for (const std::size_t devices : {1u, 2u, 3u, 4u, 8u}) {
    const double d = static_cast<double>(devices);
    BOOST_TEST(waits_of(devices, false, plain_step) == 2 * (d - 1) + staged_waits(devices, false));
    BOOST_TEST(waits_of(devices, true, plain_step) == (devices == 1   ? 0
                                                       : devices == 2 ? 2
                                                                      : 2 * d) +
                                                          staged_waits(devices, true));
  }
}

// An earlier step's result is read before later steps are complete: under late schedules some of their work is still
// pending.
BOOST_AUTO_TEST_CASE(results_are_read_while_later_steps_go_on) {
  int with_work_to_come = 0;
  for (int seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=3;schedule=random:" + std::to_string(seed));
    auto& inspector = dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend());
    const fr::team t = fr::team::all();
    const fr::shard_options o{.axis = 0, .halo = 1, .periodic = true};
    field a(t, {12, 8}, o, 2.0f), next(t, {12, 8}, o, 1.0f);
    const auto first = fr::parallel_reduce(fr::owned(a), height{}, fr::plus{}, fr::in(a));
    for (int i = 0; i < 20; ++i) {
      swept_step(a, next);
      swap(a, next);
    }
    BOOST_TEST(first.value() == 2.0f * 12 * 8);
    with_work_to_come += inspector.pending_operations() > 0;
    t.synchronize();
    BOOST_TEST(inspector.pending_operations() == 0u);
  }
  BOOST_TEST(with_work_to_come > 0);
}

// Boundary, exchange and interior overlap. Besides its neighbours, each device's side stream waits for its own
// boundary. The boundary waits for transfers from the same rows two steps before. There are occasional extra waits,
// because a vector clock merges only what was known when an event was recorded.
BOOST_AUTO_TEST_CASE(a_sweep_waits_for_its_neighbours_and_within_its_device) {
  for (const std::size_t devices : {2u, 3u, 4u, 8u}) {
    const double d = static_cast<double>(devices);
    const double staged = staged_waits(devices, true);
    BOOST_TEST(waits_of(devices, true, swept_step) <= (are_peers() ? 4.5 : 5) * d + staged);
    BOOST_TEST(waits_of(devices, true, swept_step) >= (devices == 2 ? 2 : 2 * d) + d + staged);
  }
}

BOOST_AUTO_TEST_CASE(arrays_that_cannot_be) {
  fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  const auto refused = [&](const fr::extents<2>& e, const fr::shard_options& o,
                           std::initializer_list<std::string_view> parts) {
    check_error<fr::invalid_argument>([&] { field(t, e, o); }, parts);
  };
  refused({7, 5}, {.halo = 2}, {"width 2", "axis 0", "shard of member 3", "1 cell along", "fewer devices"});
  refused({9, 5}, {.halo = {1, 6}}, {"width 6", "axis 1", "the array", "5 cells"});
  refused({9, 5}, {.axis = 2}, {"rank 2", "axis 2", "counted from 0"});
  refused({9, 5}, {.halo = -1},
          {"a sharded array of rank 2 cannot have a halo of width -1 along axis 0: pass the number of cells in .halo"});
  refused({9, 5}, {.halo = {0, -2}}, {"a halo of width -2 along axis 1", "0 for no halo"});
  refused({9, 5}, {.halo = {1, 1, 1}},
          {"a sharded array of rank 2 cannot have 3 halo widths: pass one number for each axis in .halo",
           "or one without braces for the axes of distribution"});
  refused({9, 5}, {.periodic = {true}},
          {"a sharded array of rank 2 cannot have 1 value in .periodic: pass true or false for each axis",
           "or one of them without braces for all axes"});
  refused({9, 5}, {.periodic = {true, false, true}}, {"cannot have 3 values in .periodic"});
  field none;
  check_error<fr::invalid_argument>([&] { (void)none.extents(); }, {"default-constructed"});
  const field empty(t, {0, 5}, {.halo = 1});
  BOOST_TEST(empty.size() == 0u);
  field thin(t, {2, 5}, {.halo = 1}, 0.f);  // members 2 and 3 own nothing
  BOOST_TEST(thin.shard(3).empty());
  BOOST_TEST(!thin.shard(1).empty());
  fr::exchange_halos(thin);
}

BOOST_AUTO_TEST_CASE(work_that_cannot_be) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all(), other = fr::team::all();
  fr::sharded_array<int, 2> a(t, {6, 4}, {.halo = 1}, 0), b(t, {6, 4}, {}, 0), c(t, {6, 4}, {.axis = 1}, 0),
      e(other, {6, 4}, {}, 0), wide(t, {6, 4}, {.halo = 2}, 0);
  a.name("a"), c.name("columns");
  const auto together = [&](fr::sharded_array<int, 2>& x) {
    check_error<fr::invalid_argument>([&] { fr::parallel_for(fr::owned(b), reads_too_far{}, fr::in(x), fr::out(b)); },
                                      {"6 x 4", "ferry::reshard"});
  };
  together(c), together(e);
  check_error<fr::invalid_argument>([&] { fr::exchange_halos(a, e); }, {"two different teams"});
  check_error<fr::invalid_argument>([&] { (void)a.cells(0, {{0, 5}, {0, 4}}); }, {"[0, 5)", "member 0", "[-1, 4)"});
  check_error<fr::invalid_argument>([&] { fr::copy(std::vector<int>(7), a); }, {"7 elements", "6 x 4"});
  check_error<fr::invalid_argument>([&] { fr::parallel_for(fr::sweep(b), reads_too_far{}, fr::in(wide), fr::out(b)); },
                                    {"widest halo"});
  check_error<fr::invalid_argument>(
      [&] { fr::parallel_for(fr::sweep(fr::interior(a)), writes_beside{}, fr::inout(a)); }, {"all cells"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::parallel_for(fr::shard_tiles{fr::owned(a), 0, 1}, writes_tile{}, fr::inout(a));
      },
      {"is empty"});
}

BOOST_AUTO_TEST_CASE(cells_beyond_those_declared_are_refused) {
  for (const char* how : {"devices=2", "devices=2;schedule=random:3"}) {
    fr::simulation sim(how);
    const fr::team t = fr::team::all();
    fr::sharded_array<int, 2> a(t, {6, 4}, {.halo = 1}, 0), b(t, {6, 4}, {.halo = 1}, 0);
    a.name("height");
    const auto fails = [&](auto work, std::initializer_list<std::string_view> parts) {
      check_error<fr::device_error>([&] { work(), t.synchronize(); }, parts);
    };
    fails([&] { fr::parallel_for(fr::owned(b), reads_too_far{}, fr::in(a), fr::out(b)); },
          {"height", "dimension 0", "[-1, 4)"});
  }
}

BOOST_AUTO_TEST_CASE(elements_of_unified_arrays) {
  for (std::size_t axis : {0u, 1u}) {
    fr::simulation sim("devices=3;schedule=random:1");
    const fr::team t = fr::team::all();
    fr::unified_sharded_array<int, 2> a(t, {7, 5}, {.axis = axis, .halo = 1}, 0);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 5; ++j) a(i, j) = static_cast<int>(100 * i + j);
    fr::parallel_for(fr::owned(a), add_row{}, a);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 5; ++j) BOOST_TEST(std::as_const(a)(i, j) == static_cast<int>(110 * i + 2 * j));
    check_error<fr::invalid_argument>([&] { a(7, 0) = 1; }, {"index 7", "extent 7"});
  }
}

// One allocation, in which no page contains cells of two shards.
BOOST_AUTO_TEST_CASE(shards_of_unified_arrays_have_pages_of_their_own) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  const auto page = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) / (2u << 20); };
  for (int made = 0; made < 4; ++made) {
    const fr::unified_sharded_array<float, 2> a(t, {12, 131070}, {.halo = 1},
                                                0.f);  // 2 MiB of cells; 3 MiB with halos
    for (std::size_t m = 0; m < 3; ++m) {
      const fr::detail::byte_range own = a.shard_with_halo(m).bytes();
      BOOST_TEST(a.shard_owner(m).unchecked() == a.shard_owner(0).unchecked());
      BOOST_TEST((own.begin >= a.shard_owner(m).get().begin && own.end <= a.shard_owner(m).get().range().end));
      if (m > 0) BOOST_TEST(page(a.shard_with_halo(m - 1).bytes().end - 1) < page(own.begin));
    }
  }
}

// A device that accesses another one's shard, by plain kernels without migration, leaves the pages in place.
BOOST_AUTO_TEST_CASE(shards_of_unified_arrays_prefer_their_devices) {
  fr::simulation sim("devices=3");
  auto& inspector = dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend());
  const fr::migration_scope by_faults(fr::migration::explicitly);
  const fr::team t = fr::team::all();
  fr::unified_sharded_array<float, 2> a(t, {12, 131070}, {.halo = 1}, 0.f);
  const auto places = [&](std::size_t m) {
    const fr::detail::byte_range own = a.shard_with_halo(m).bytes();
    return inspector.residency(own.begin, own.size());
  };
  for (std::size_t m = 0; m < t.size(); ++m) fr::prefetch(t[m], a.shard_with_halo(m), t.device(m));
  t.synchronize();
  for (std::size_t m = 0; m < t.size(); ++m) {
    const std::map<int, std::size_t> before = places(m);
    BOOST_TEST(before.at(t.device(m).index()) == a.shard_with_halo(m).bytes().size());
    auto shard = a.shard_with_halo(m);
    const fr::stream_ref other = t[(m + 1) % t.size()];
    fr::parallel_for(other, fr::extents<2>{shard.extent(0), shard.extent(1)}, add_to_all{}, fr::inout(shard));
    other.synchronize();
    BOOST_TEST((places(m) == before), "shard " << m);
  }
}

BOOST_AUTO_TEST_CASE(regions_are_parts_of_all_cells) {
  for (std::size_t seed = 0; seed < 60; ++seed) {
    shards::dice d(seed);
    fr::simulation sim("devices=" + std::to_string(1 + seed % 4));
    const fr::team t = fr::team::all();
    const auto layout = shards::any_layout<3>(d, t);  // clang++ 14: lambdas cannot capture structured bindings
    const auto& e = layout.first;
    const auto& o = layout.second;
    fr::sharded_array<int, 3> a(t, e, o, 0);
    const fr::box<3> all = a.layout().whole();
    const fr::box<3> some = all.with(1, 0, (all.end[1] + 1) / 2);
    for (std::size_t m = 0; m < t.size(); ++m) {
      std::vector<int> seen(e.count(), 0);
      const auto count = [&](const fr::shard_region<3>& r) {
        for (const auto& p : r.parts(m))
          for (std::size_t i = 0; i < p.slabs(); ++i)
            shards::for_each_index(p.slab(i), [&](auto at) { ++seen[shards::offset(e, at)]; });
      };
      const std::size_t half = (e[1] + 1) / 2;
      count(fr::interior(a).within({fr::all_of, {0, half}})), count(fr::boundary(a).within({fr::all_of, {0, half}}));
      std::size_t wrong = 0;
      shards::for_each_index(all, [&](auto at) {
        const auto one = fr::box<3>::of_corners(at, {at[0] + 1, at[1] + 1, at[2] + 1});
        wrong += seen[shards::offset(e, at)] != (some.contains(one) && a.layout().own(m).contains(one) ? 1 : 0);
      });
      BOOST_TEST(wrong == 0u);
    }
  }
}

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

BOOST_AUTO_TEST_CASE(anything_else_shard_by_shard) {
  const fr::team t = fr::team::all();
  fr::sharded_array<int, 2> a(t, {6, 4}, {.halo = 1}, 0), b(t, {6, 4}, {}, 5);
  fr::for_each_shard(
      [&](std::size_t m, fr::stream_ref s, auto mine, auto other) {
        BOOST_TEST((s == t.stream(m)));
        fr::copy(s, std::as_const(other), mine);
      },
      a, b);
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(24, 5));
}

BOOST_AUTO_TEST_CASE(copies_to_and_from_arrays_of_one_device) {
  for (std::size_t axis : {0u, 1u}) {
    const fr::team t = fr::team::all();
    fr::sharded_array<int, 2> a(t, {9, 11}, {.axis = axis, .halo = 1});
    const auto from = counted<int, 2, memory_kind::device>(fr::extents<2>(9, 11));
    fr::copy(from, a);
    CHECK_EQUAL(fr::to_vector(a), counting<int>(99));
    fr::unified_array<int, 2> back({9, 11}, 0);
    fr::copy(a, back);
    CHECK_EQUAL(back, counting<int>(99));
  }
}

BOOST_AUTO_TEST_SUITE_END()
