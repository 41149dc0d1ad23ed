// Regions of loops over shards: how they are specified, and that loops write nothing outside of them.
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "multigpu/shards.hpp"

using namespace contract;

namespace regions {
namespace {

using field = fr::sharded_array<int, 2>;

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const { a(i, j) += 1; }
};
// Writes at a given distance from one cell.
struct writes_beside {
  std::size_t row, column, down, right;
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    a(i, j) += 1;
    if (i == row && j == column) a(i + down, j + right) += 77;
    return 1;
  }
};

struct adds_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<double, 1> a) const { a(i) += 1; }
};
struct adds_one_inside {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<double, 1> a) const { a(i) += 1; }
};
double* cell_of_others = nullptr;
struct others_write_meanwhile {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<double, 1> a) const {
    a(i) += 1;
#if !FERRY_IN_DEVICE_CODE
    *cell_of_others = 7;
#endif
  }
};

// Boxes cannot be written as braces, which mean ranges.
template <class Box>
concept made_of_corners = requires {
  Box{{0, 0}, {5, 4}};
};
static_assert(!made_of_corners<fr::box<2>>);

field made(const fr::team& t, std::size_t axis = 0) {
  field a(t, {9, 10}, {.axis = axis, .halo = {1, 1}, .periodic = true}, 0);
  a.name("height");
  return a;
}

}  // namespace
}  // namespace regions

BOOST_AUTO_TEST_SUITE(regions)

BOOST_AUTO_TEST_CASE(within_takes_ranges_of_integers_of_any_type) {
  const fr::simulation sim("devices=3");
  field a = made(fr::team::all());
  const auto cells = [&](const fr::shard_region<2>& r) {
    fr::fill(a, 0);
    fr::parallel_for(r, add_one{}, a);
    std::vector<int> found = fr::to_vector(a);
    return found;
  };
  const auto expected = [](std::size_t r0, std::size_t r1, std::size_t c0, std::size_t c1) {
    std::vector<int> v(90, 0);
    for (std::size_t i = r0; i < r1; ++i)
      for (std::size_t j = c0; j < c1; ++j) v[10 * i + j] = 1;
    return v;
  };
  const int one = 1;
  const long eight = 8;
  const std::size_t n = a.extent(0), m = a.extent(1);
  const unsigned two = 2;
  CHECK_EQUAL(cells(fr::owned(a).within({{one, n - 1}, {two, eight}})), expected(1, 8, 2, 8));
  CHECK_EQUAL(cells(fr::owned(a).within({{one, eight}})), expected(1, 8, 0, 10));
  CHECK_EQUAL(cells(fr::owned(a).within(fr::slice{one, n})), expected(1, 9, 0, 10));
  CHECK_EQUAL(cells(fr::owned(a).within({one, n})), expected(1, 9, 0, 10));
  CHECK_EQUAL(cells(fr::owned(a).within({fr::all_of, {0, m / 2}})), expected(0, 9, 0, 5));
  CHECK_EQUAL(cells(fr::owned(a).within({{2, fr::slice{}.end}})), expected(2, 9, 0, 10));
  CHECK_EQUAL(cells(fr::owned(a).within({{0, 5}}).within({{3, 9}, {1, 2}})), expected(3, 5, 1, 2));
  CHECK_EQUAL(cells(fr::owned(a).within({})), expected(0, 9, 0, 10));
  CHECK_EQUAL(cells(fr::owned(a).within({{4, 4}})), expected(0, 0, 0, 0));
}

BOOST_AUTO_TEST_CASE(ranges_that_cannot_be) {
  const fr::simulation sim("devices=3");
  field a = made(fr::team::all());
  const auto refused = [&](std::initializer_list<fr::slice> ranges, std::initializer_list<std::string_view> parts) {
    check_error<fr::invalid_argument>([&] { (void)fr::owned(a).within(ranges); }, parts);
  };
  refused({{1, 0}, {8, 10}}, {"[1, 0)", "dimension 0", "9 x 10"});  // corners
  refused({{-1, 3}}, {"[-1, 3)", "dimension 0", "9 x 10"});
  refused({fr::all_of, {0, 11}}, {"[0, 11)", "dimension 1", "9 x 10"});
  refused({{0, std::size_t{0} - 1}}, {"[0, -1)", "9 x 10"});
  refused({{0, 9, 2}}, {"step 2", "dimension 0"});
  refused({{0, 9}, {0, 10}, {0, 1}}, {"3 ranges", "rank 2"});
  check_error<fr::invalid_argument>([&] { (void)a.cells(0, {{-2, 3}}); }, {"[-2, 3)", "member 0", "[-1, 4)"});
  check_error<fr::invalid_argument>([&] { (void)a.cells(0, {{0, 3, -1}}); }, {"step -1"});
  check_error<fr::invalid_argument>([&] { (void)a.cells(0, {{3, 1}}); }, {"[3, 1)", "dimension 0", "height"});
  auto region = fr::owned(a);
  const auto moved = std::move(region);
  check_error<fr::invalid_argument>([&] { (void)region.within({{0, 1}}); }, {"moved from"});
}

BOOST_AUTO_TEST_CASE(cells_of_a_member_by_ranges) {
  const fr::simulation sim("devices=3");
  field a = made(fr::team::all());
  for (std::size_t m = 0; m < 3; ++m) {
    const auto own = a.layout().own(m);
    const auto at = own.begin[0];
    BOOST_TEST((a.cells(m, {}).extents() == fr::extents<2>{5, 12}));
    BOOST_TEST((a.cells(m, {{at - 1, at}}).extents() == fr::extents<2>{1, 12}));
    BOOST_TEST((a.cells(m, {at - 1, at}).extents() == fr::extents<2>{1, 12}));
    BOOST_TEST((a.cells(m, {{at + 1, fr::slice{}.end}, {-1, 4}}).extents() == fr::extents<2>{3, 5}));
    BOOST_TEST(a.cells(m, {{at, own.end[0]}, {0, 10}}).unsynchronized_data() == a.shard(m).unsynchronized_data());
  }
}

// With simulated kernels in place or on copies.
BOOST_AUTO_TEST_CASE(writes_outside_of_the_region_are_errors) {
  for (const char* how : {"devices=3", "devices=3;schedule=random:1", "devices=3;schedule=random:8"})
    for (const std::size_t axis : {0u, 1u})
      for (int which = 0; which < 6; ++which) BOOST_TEST_CONTEXT(how << ", axis " << axis << ", loop " << which) {
          const fr::simulation sim(how);
          const fr::team t = fr::team::all();
          field a = made(t, axis);
          const std::size_t r = axis == 0, c = axis == 1;
          const auto run = [&](const writes_beside& f) {
            switch (which) {
              case 0: return fr::parallel_for(fr::owned(a).within({{0, 5}, {0, 5}}), f, a);
              case 1: return fr::parallel_for(fr::boundary(a), f, fr::inout(a));
              case 2: return fr::parallel_for(fr::interior(a), f, fr::inout(a));
              case 3: return fr::parallel_for(fr::sweep(a), f, fr::inout(a));
              case 4: return void(fr::parallel_reduce(fr::owned(a), f, fr::plus{}, fr::inout(a)));
              default: return void(fr::parallel_reduce(fr::owned(a), f, fr::reproducible(fr::plus{}), fr::inout(a)));
            }
          };
          run({0, 0, 0, 0}), run({4, 4, 0, 0});  // these write inside the region
          t.synchronize();
          // Member 0's last cell in this loop, and the next one.
          const std::size_t last = which == 1 ? 0 : (which == 2 ? 1 : 2) + axis;
          const std::size_t row = axis == 0 ? last : 4, column = axis == 1 ? last : 4;
          const std::string cell = "(" + std::to_string(row + r) + ", " + std::to_string(column + c) + ")";
          check_error<fr::device_error>(
              [&] {
                run({row, column, r, c});
                t.synchronize();
              },
              {"cell " + cell, "sharded array 'height'", "was written", "outside"});
        }
}

// A loop over the boundary leaves interior cells to other work, which is not ordered against it.
BOOST_AUTO_TEST_CASE(others_may_use_what_lies_between_the_slabs) {
  for (const char* how : {"devices=1;check=on", "devices=1;check=races", "devices=1;check=races;schedule=random:2"})
    BOOST_TEST_CONTEXT(how) {
      const fr::simulation sim(how);
      const fr::team t = fr::team::all();
      fr::sharded_array<double, 1> a(t, {64}, {.halo = 1, .periodic = true}, 0.0);
      auto inside = a.cells(0, {10, 50});
      const fr::stream other;
      t.synchronize();
      for (int i = 0; i < 5; ++i) {
        fr::parallel_for(fr::boundary(a), adds_one{}, fr::inout(a));
        fr::parallel_for(other, inside.size(), adds_one_inside{}, fr::inout(inside));
      }
      t.synchronize(), other.synchronize();
      BOOST_TEST(fr::to_vector(a)[0] == 5);
      BOOST_TEST(fr::to_vector(a)[20] == 5);
    }
}
// In place, by another thread.
BOOST_AUTO_TEST_CASE(others_may_write_what_lies_between_the_slabs_meanwhile) {
  const fr::simulation sim("devices=1");
  const fr::team t = fr::team::all();
  fr::sharded_array<double, 1> a(t, {64}, {.halo = 1, .periodic = true}, 0.0);
  t.synchronize();
  cell_of_others = a.cells(0, {20, 21}).unsynchronized_data();
  fr::parallel_for(fr::boundary(a), others_write_meanwhile{}, fr::inout(a));
  t.synchronize();
  BOOST_TEST(fr::to_vector(a)[20] == 7);
}

BOOST_AUTO_TEST_CASE(shapes_with_too_many_bytes) {
  const fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  const std::size_t large = std::size_t{1} << 31;
  const auto refused = [&](const fr::extents<2>& e, std::string_view shape) {
    check_error<fr::invalid_argument>([&] { (void)fr::unified_sharded_array<double, 2>(t, e); }, {shape, "2^63 bytes"});
    check_error<fr::invalid_argument>([&] { (void)fr::sharded_array<double, 2>(t, e); }, {shape, "2^63 bytes"});
  };
  refused({large, large}, "2147483648 x 2147483648");      // 2^65 bytes
  refused({3, large * large}, "3 x 4611686018427387904");  // each shard 2^65 bytes
  refused({large * large * 2 + 1, 1}, "9223372036854775809 x 1");
}

BOOST_AUTO_TEST_SUITE_END()
