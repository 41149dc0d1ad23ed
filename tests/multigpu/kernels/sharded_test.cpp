// Sharded arrays: invalid shapes and calls, regions, and conversions from and to other arrays.
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "multigpu/shards.hpp"

using namespace contract;

namespace sharded_arrays {
namespace {

using field = fr::sharded_array<float, 2>;

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

}  // namespace
}  // namespace sharded_arrays

BOOST_AUTO_TEST_SUITE(sharded_arrays)

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
