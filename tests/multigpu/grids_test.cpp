// Arrays that are cut along several axes over a grid of members: which cells members own, the choice of a grid, copies,
// expressions, and what is refused.
#include "multigpu/counted_devices.hpp"
#include "support/check_error.hpp"

using namespace shards;

namespace grids {
namespace {

using support::check_error;

std::string grid_of(const fr::shard_layout<2>& l) {
  return std::to_string(l.members_along(0)) + "x" + std::to_string(l.members_along(1));
}
std::string chosen(std::size_t devices, const fr::extents<2>& e, const fr::cut_axes& axes = {0, 1}) {
  const fr::simulation sim("devices=" + std::to_string(devices));
  return grid_of(fr::shard_layout<2>(fr::team::all(), e, {.axis = axes}));
}

const fr::shard_options two_by_two{.axis = {0, 1}, .grid = {2, 2}, .halo = {1, 1}};

}  // namespace
}  // namespace grids

BOOST_AUTO_TEST_SUITE(grids)

BOOST_AUTO_TEST_CASE(members_are_in_row_major_order) {
  const fr::simulation sim("devices=6");
  const fr::team t = fr::team::all();
  const fr::shard_layout<2> l(t, {7, 5}, {.axis = {0, 1}, .grid = {3, 2}, .halo = {1, 2}});
  BOOST_TEST(l.own(0).text() == "[0, 3) x [0, 3)");
  BOOST_TEST(l.own(1).text() == "[0, 3) x [3, 5)");
  BOOST_TEST(l.own(2).text() == "[3, 5) x [0, 3)");
  BOOST_TEST(l.own(5).text() == "[5, 7) x [3, 5)");
  BOOST_TEST(l.local(3).text() == "[2, 6) x [1, 7)");
  BOOST_TEST(l.text() == "7 x 5 along axes 0 and 1 of a team of 3 x 2");
  BOOST_TEST((l.is_cut(0) && l.is_cut(1) && l.axis() == 0));
  for_each_index(l.whole(), [&](const auto& at) {
    const auto own = l.own(l.member_of(at));
    BOOST_TEST(own.contains(fr::box<2>::of_corners(at, {at[0] + 1, at[1] + 1})));
  });
  const fr::shard_layout<3> some(t, {4, 9, 6}, {.axis = {2, 0}, .grid = {3, 2}, .halo = 1});  // axes in any order
  BOOST_TEST(some.own(4).text() == "[2, 4) x [0, 9) x [2, 4)");
  BOOST_TEST((some.halo(0) == 1 && some.halo(1) == 0 && some.halo(2) == 1));
  BOOST_TEST((!some.is_cut(1) && some.members_along(1) == 1));
  BOOST_TEST(some.text() == "4 x 9 x 6 along axes 0 and 2 of a team of 2 x 3");
  const fr::shard_layout<1> line(t, {12}, {.axis = {0}});
  BOOST_TEST(line.is_dealt_like(fr::shard_layout<1>(t, {12}, {.axis = 0})));
  BOOST_TEST(!some.is_dealt_like(fr::shard_layout<3>(t, {4, 9, 6}, {.axis = {0, 2}, .grid = {3, 2}})));
}

// The grid with the fewest cells beside cuts.
BOOST_AUTO_TEST_CASE(is_chosen_by_the_cells_beside_cuts) {
  BOOST_TEST(chosen(4, {100, 100}) == "2x2");
  BOOST_TEST(chosen(6, {100, 100}) == "3x2");  // of equal ones that with more contiguous halos
  BOOST_TEST(chosen(6, {100, 100}, {1, 0}) == "3x2");
  BOOST_TEST(chosen(8, {100, 100}) == "4x2");
  BOOST_TEST(chosen(8, {50, 200}) == "2x4");
  BOOST_TEST(chosen(5, {100, 100}) == "5x1");
  BOOST_TEST(chosen(4, {1000, 10}) == "4x1");
  BOOST_TEST(chosen(4, {10, 1000}) == "1x4");
  BOOST_TEST(chosen(6, {2, 3}) == "2x3");
  BOOST_TEST(chosen(4, {3, 3}) == "2x2");
  BOOST_TEST(chosen(4, {3, 1}) == "4x1");
  BOOST_TEST(chosen(1, {3, 3}) == "1x1");
  BOOST_TEST(chosen(4, {0, 5}) == "1x4");
}

// Arrays with other halos and periods are used together.
BOOST_AUTO_TEST_CASE(of_one_shape_are_equal) {
  const fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  const fr::shard_layout<2> plain(t, {60, 100}, {.axis = {0, 1}});
  BOOST_TEST(
      plain.is_dealt_like(fr::shard_layout<2>(t, {60, 100}, {.axis = {1, 0}, .halo = {9, 0}, .periodic = true})));
  const fr::shard_layout<3> parts(t, {9, 60, 100}, {.axis = {1, 2}});
  for (std::size_t d = 0; d < 2; ++d) BOOST_TEST(parts.members_along(d + 1) == plain.members_along(d));
}

BOOST_AUTO_TEST_CASE(errors_state_the_remedy) {
  const fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  const auto refused = [&](const fr::shard_options& o, const std::string& text, const fr::extents<2>& e = {8, 8}) {
    check_error<fr::invalid_argument>([&] { fr::sharded_array<int, 2>(t, e, o); }, {text});
  };
  refused({.axis = {0, 1}, .grid = {2, 3}},
          "a grid of 2 x 3 members on a team of 4: the product of the numbers must be "
          "the size of the team");
  refused({.axis = {0, 1}, .grid = {-2, -2}}, "a grid of -2 x -2 members on a team of 4");
  refused({.axis = {0, 1}, .grid = {0, 4}}, "a grid of 0 x 4 members");
  refused({.axis = {0, 1}, .grid = {4}},
          "a grid of 4 members for a sharded array that is cut along 2 axes: give one "
          "number for each axis in .axis");
  refused({.axis = 1, .grid = {2, 2}}, "cut along 1 axis: give one number");
  refused({.axis = {0, 0}}, "is to be cut along axis 0 twice: name each axis once");
  refused({.axis = {0, 2}, .grid = {2, 2}}, "of rank 2 is to be cut along axis 2: axes are counted from 0");
  refused({.axis = {-1, 0}}, "is to be cut along axis -1");
  refused({.axis = {}}, "is cut along no axis: name at least one");
  refused({.axis = {0, 1}, .grid = {2, 2}, .halo = {1, 4}},
          "a halo of width 4 along axis 1 is wider than the shard of member 1, which has 3 cells along it", {8, 7});
  refused({.axis = {0, 1}, .grid = {2, 2}, .halo = 4},
          "a halo of width 4 along axis 0 is wider than the shard of member 2, which has 3 cells along it", {7, 8});
  refused({.axis = {0, 1}, .grid = {2, 2}, .halo = {1, 1, 1}}, "3 halo widths");
}

// The halos of a shard and its corners, by hand: the cells of all members are 0 to 15 in rows of 4.
BOOST_AUTO_TEST_CASE(corners_mirror_the_diagonal_neighbours) {
  for (const char* how : {"devices=4", "devices=4;peers=none", "devices=4;schedule=random:7"}) {
    const fr::simulation sim(how);
    std::vector<int> cells(16);
    for (int i = 0; i < 16; ++i) cells[static_cast<std::size_t>(i)] = i;
    fr::sharded_array<int, 2> open(fr::team::all(), {4, 4}, two_by_two, -1);
    fr::copy(cells, open);
    fr::exchange_halos(open);
    BOOST_TEST((fr::to_vector(std::as_const(open).shard_with_halo(0)) ==
                std::vector<int>{-1, -1, -1, -1, -1, 0, 1, 2, -1, 4, 5, 6, -1, 8, 9, 10}));
    BOOST_TEST((fr::to_vector(std::as_const(open).shard_with_halo(3)) ==
                std::vector<int>{5, 6, 7, -1, 9, 10, 11, -1, 13, 14, 15, -1, -1, -1, -1, -1}));
    fr::shard_options o = two_by_two;
    o.periodic = true;
    fr::sharded_array<int, 2> torus(fr::team::all(), {4, 4}, o, -1);
    fr::copy(cells, torus);
    fr::exchange_halos(torus);
    BOOST_TEST((fr::to_vector(std::as_const(torus).shard_with_halo(0)) ==
                std::vector<int>{15, 12, 13, 14, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10}));
    BOOST_TEST((fr::to_vector(std::as_const(torus).shard_with_halo(3)) ==
                std::vector<int>{5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0}));
  }
}

// Cells of three axes: each member has 26 neighbours, of which seven are other members.
BOOST_AUTO_TEST_CASE(three_axes_are_cut_in_the_same_way) {
  for (const char* how : {"devices=8", "devices=8;peers=none;schedule=random:2"}) {
    const fr::simulation sim(how);
    const fr::extents<3> e{5, 4, 6};
    fr::sharded_array<int, 3> a(fr::team::all(), e, {.axis = {0, 1, 2}, .grid = {2, 2, 2}, .halo = 1, .periodic = true},
                                -1);
    dice d(3);
    const auto values = random_values<int>(d, e.count());
    fr::copy(std::span<const int>(values), a);
    fr::exchange_halos(a);
    for (std::size_t m = 0; m < 8; ++m) {
      const auto found = fr::to_vector(std::as_const(a).shard_with_halo(m));
      std::size_t i = 0, wrong = 0;
      for_each_index(a.layout().local(m), [&](auto at) {
        (void)wrap(a.layout(), at);
        wrong += found[i++] != values[offset(e, at)];
      });
      BOOST_TEST(wrong == 0u, wrong << " cells of member " << m);
    }
    BOOST_TEST(fr::to_vector(a) == values);
  }
}

BOOST_AUTO_TEST_CASE(expressions_read_corners) {
  const fr::simulation sim("devices=4;schedule=random:4");
  const fr::team t = fr::team::all();
  auto u = numbered(t, {6, 6}, {.axis = {0, 1}, .halo = 1, .periodic = true});
  fr::sharded_array<float, 2> v(t, {6, 6}, {.axis = {0, 1}});
  v = fr::shift(u, {1, 1}) + 1000 * fr::shift(u, {-1, 1});
  const std::vector<float> found = fr::to_vector(v);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      BOOST_TEST(found[i * 6 + j] == static_cast<float>((i + 1) % 6 * 10 + (j + 1) % 6) +
                                         1000 * static_cast<float>((i + 5) % 6 * 10 + (j + 1) % 6));
  u = u + 0;  // its halos are out of date
  fr::assign(v, 1);
  v += fr::shift(u, {1, 0}) + fr::shift(u, {0, 1});  // adds to each cell once
  const std::vector<float> sums = fr::to_vector(v);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      BOOST_TEST(sums[i * 6 + j] == static_cast<float>(1 + (i + 1) % 6 * 10 + j + i * 10 + (j + 1) % 6));
  BOOST_TEST(fr::sum(u).value() == 36 * 27.5f);
  BOOST_TEST(fr::argmax(u).value() == 35);
  BOOST_TEST(fr::explain(v + 1).find("cells [0, 3) of axis 0 and [0, 3) of axis 1") != std::string::npos);
  BOOST_TEST(fr::to_text(u).find("[50. 51. 52. 53. 54. 55.]]") != std::string::npos, fr::to_text(u));
}

// A member computes its interior while the halos travel, then the edges along both axes.
BOOST_AUTO_TEST_CASE(expressions_are_computed_in_five_parts) {
  counted_devices on("devices=9");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 2> u(t, {18, 18}, {.axis = {0, 1}, .grid = {3, 3}, .halo = 1}, 1.f),
      v(t, {18, 18}, {.axis = {0, 1}});
  v = fr::shift(u, {1, 1});  // makes the plan
  const auto step = [&] { v = fr::shift(u, {1, 1}) + fr::shift(u, {-1, -1}); };
  BOOST_TEST(on.count(step).first == 9);  // halos are up to date
  fr::assign(u, 2);
  // Members at corners have edges at 2 sides, those at sides have 3, the one in the middle 4.
  BOOST_TEST(on.count(step).first == 4 * 3 + 4 * 4 + 5);
}

// Each member has its part of a result, if all axes of distribution are kept. If some are reduced, members with the
// same part join.
BOOST_AUTO_TEST_CASE(reductions_keep_the_axes_that_are_cut_or_join_along_them) {
  for (const char* how : {"devices=4", "devices=4;peers=none;schedule=random:6"}) {
    const fr::simulation sim(how);
    const fr::team t = fr::team::all();
    const fr::shard_options cut{.axis = {1, 2}, .grid = {2, 2}};
    fr::sharded_array<float, 3> f(t, {3, 4, 5}, cut), means(t, {3, 4, 1}, cut);
    f = fr::cast<float>(100 * fr::index(0) + 10 * fr::index(1) + fr::index(2));
    fr::sharded_array<float, 2> density(t, {4, 5}, {.axis = {0, 1}, .grid = {2, 2}}), rows(t, {4, 5}, {.axis = 0}),
        columns(t, {3, 5}, {.axis = 1});
    f.name("f"), rows.name("rows"), columns.name("columns");
    density = fr::sum(f, fr::axes{0});
    const std::vector<float> found = fr::to_vector(density);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 5; ++j) BOOST_TEST(found[i * 5 + j] == static_cast<float>(300 + 30 * i + 3 * j));
    means = fr::mean(f, fr::axes{2}, fr::keep_dims);
    const std::vector<float> mean = fr::to_vector(means);
    for (std::size_t k = 0; k < 12; ++k) BOOST_TEST(mean[k] == static_cast<float>(100 * (k / 4) + 10 * (k % 4) + 2));
    f = f - fr::min(f, fr::axes{1}, fr::keep_dims);
    const std::vector<float> above = fr::to_vector(f);
    for (std::size_t k = 0; k < 60; ++k) BOOST_TEST(above[k] == static_cast<float>(10 * (k / 5 % 4)));
    const fr::replicated_array<float, 1> all(fr::sum(f, fr::axes{1, 2}));
    BOOST_TEST((fr::to_vector(all.copies()[3]) == std::vector<float>{300, 300, 300}));
    check_error<fr::invalid_argument>([&] { rows = fr::sum(f, fr::axes{0}); },
                                      {"'f'", "'rows'", "cut along axes 0 and 1 of a team of 2 x 2, and reshard that"});
    check_error<fr::invalid_argument>([&] { columns = fr::sum(f, fr::axes{1}); },
                                      {"'f'", "'columns'", "with keep_dims to an array that is cut as the elements"});
    check_error<fr::invalid_argument>([&] { (fr::replicated_array<float, 2>(fr::max(f, fr::axes{1}))); },
                                      {"max(f, axes{1})", "keeps the axes along which", "'f'"});
    BOOST_TEST(fr::explain(fr::sum(f, fr::axes{1})).find("joins the results of the members that have the same one") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(scans_and_sorts_run_along_axes_that_are_whole) {
  const fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  const fr::shard_options how{.axis = {1, 2}, .grid = {2, 2}};
  fr::sharded_array<int, 3> u(t, {3, 2, 2}, how), v(t, {3, 2, 2}, how);
  u = fr::cast<int>(7 - 2 * fr::index(0) + fr::index(1) + fr::index(2));
  u.name("u");
  v = fr::cumsum(u, 0);
  BOOST_TEST((fr::to_vector(v) == std::vector<int>{7, 8, 8, 9, 12, 14, 14, 16, 15, 18, 18, 21}));
  BOOST_TEST((fr::to_vector(fr::sort(u, 0)) == std::vector<int>{3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9}));
  check_error<fr::invalid_argument>([&] { v = fr::cumsum(u, 1); },
                                    {"cumsum(u", "'u'", "along one of several axes", "reshard the array"});
  check_error<fr::invalid_argument>([&] { (void)fr::sort(u, 2); }, {"sort", "'u'", "reshard it"});
  const auto lines = fr::reshard(u, t, {.axis = 0});  // the remedy
  fr::sharded_array<int, 3> w(t, {3, 2, 2}, {.axis = 0});
  w = fr::cumsum(lines, 1);
  BOOST_TEST((fr::to_vector(w) == std::vector<int>{7, 8, 15, 17, 5, 6, 11, 13, 3, 4, 7, 9}));
}

// Ghost cells beside halos along both axes, and periodic ones from the member at the opposite end.
BOOST_AUTO_TEST_CASE(ghost_cells_belong_to_the_members_at_their_side) {
  const fr::simulation sim("devices=4");
  auto u = numbered(fr::team::all(), {8, 8}, two_by_two);  // its halos are out of date
  fr::fill(fr::ghosts(u, fr::side::low(0)), fr::zero_gradient{});
  BOOST_TEST((fr::to_vector(std::as_const(u).cells(0, {{-1, 0}, {2, 5}})) == std::vector<float>{2, 3, 4}));
  BOOST_TEST((fr::to_vector(std::as_const(u).cells(1, {{-1, 0}, {3, 6}})) == std::vector<float>{3, 4, 5}));
  fr::fill(fr::ghosts(u, {fr::side::low(0), fr::side::high(1)}), fr::periodic{});
  BOOST_TEST((fr::to_vector(std::as_const(u).cells(1, {{-1, 0}, {3, 6}})) == std::vector<float>{73, 74, 75}));
  BOOST_TEST((fr::to_vector(std::as_const(u).cells(3, {{3, 6}, {8, 9}})) == std::vector<float>{30, 40, 50}));
}

BOOST_AUTO_TEST_CASE(arrays_of_other_cuts_are_refused) {
  const fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 2> u(t, {8, 8}, two_by_two, 0.f), v(t, {8, 8}, {.axis = 0}, 1.f),
      w(t, {8, 8}, {.axis = {0, 1}, .grid = {4, 1}}, 1.f);
  u.name("u"), v.name("v"), w.name("w");
  for (const auto* other : {&v, &w})
    check_error<fr::invalid_argument>([&] { u = *other + 1; }, {"'u'", "'" + other->name() + "'", "reshard"});
  fr::reshard(v, u);
  BOOST_TEST(fr::to_vector(u) == std::vector<float>(64, 1.f));
}

BOOST_AUTO_TEST_CASE(unified_shards_are_elements_for_the_cpu) {
  const fr::simulation sim("devices=4;schedule=random:1");
  fr::unified_sharded_array<int, 2> a(fr::team::all(), {5, 7}, two_by_two, 3);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 7; ++j) a(i, j) = static_cast<int>(10 * i + j);
  fr::exchange_halos(a);
  const std::vector<int> all = fr::to_vector(a);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 7; ++j) BOOST_TEST(all[i * 7 + j] == static_cast<int>(10 * i + j));
  BOOST_TEST((fr::to_vector(std::as_const(a).cells(0, {{3, 4}, {4, 5}})) == std::vector<int>{34}));  // a corner
}

BOOST_AUTO_TEST_SUITE_END()
