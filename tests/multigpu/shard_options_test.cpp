// Options of sharded arrays and ghost cells by variables of any integer type, alone and mixed, in braces and vectors.
#include <cstdint>
#include <limits>

#include "ferry/core/ghosts.hpp"
#include "multigpu/counted_devices.hpp"
#include "support/check_error.hpp"

using namespace shards;

namespace shard_option_lists {
namespace {

using support::check_error;

// A team of six, cut 3 x 2 along the axes 0 and 2, with halos 1, 0 and 2.
class six_members {
 public:
  bool are_cut_by(const fr::shard_options& o) const {
    const fr::shard_layout<3> expected(t_, e_, {.axis = {0, 2}, .grid = {3, 2}, .halo = {1, 0, 2}});
    const fr::shard_layout<3> found(t_, e_, o);
    return found.is_dealt_like(expected) && found.text() == "9 x 4 x 8 along axes 0 and 2 of a team of 3 x 2" &&
           found.halo(0) == 1 && found.halo(1) == 0 && found.halo(2) == 2;
  }
  template <class Int>
  bool are_cut_by_variables() const {
    const Int a = 0, b = 2, m = 3, n = 2, narrow = 1, none = 0, wide = 2;
    const std::vector<Int> axes{a, b}, grid{m, n};
    return are_cut_by({.axis = {a, b}, .grid = {m, n}, .halo = {narrow, none, wide}}) &&
           are_cut_by({.axis = axes, .grid = grid, .halo = {narrow, none, wide}});
  }

 private:
  fr::simulation sim_{"devices=6"};
  fr::team t_ = fr::team::all();
  fr::extents<3> e_{9, 4, 8};
};

template <class List, class... T>
concept list_of = requires(T... x) {
  List{x...};
};
template <class... T>
constexpr bool all_take = list_of<fr::cut_axes, T...>&& list_of<fr::grid_shape, T...>&& list_of<fr::halo_widths, T...>&&
    list_of<fr::ghost_widths, T...>;
template <class... T>
constexpr bool none_takes = !list_of<fr::cut_axes, T...> && !list_of<fr::grid_shape, T...> &&
                            !list_of<fr::halo_widths, T...> && !list_of<fr::ghost_widths, T...>;

static_assert(all_take<std::size_t, std::size_t> && all_take<int, int> && all_take<std::uint8_t, std::uint8_t>);
static_assert(all_take<std::size_t, int> && all_take<std::ptrdiff_t, std::uint32_t, std::int16_t>);
static_assert(all_take<std::size_t> && all_take<int>);
static_assert(none_takes<double, double> && none_takes<std::size_t, float> && none_takes<const char*, int>);

}  // namespace
}  // namespace shard_option_lists

BOOST_AUTO_TEST_SUITE(shard_option_lists)

BOOST_AUTO_TEST_CASE(take_variables_of_one_type) {
  const six_members six;
  BOOST_TEST(six.are_cut_by_variables<std::size_t>());
  BOOST_TEST(six.are_cut_by_variables<std::ptrdiff_t>());
  BOOST_TEST(six.are_cut_by_variables<int>());
  BOOST_TEST(six.are_cut_by_variables<unsigned>());
  BOOST_TEST(six.are_cut_by_variables<std::int8_t>());
  BOOST_TEST(six.are_cut_by_variables<std::uint16_t>());
  BOOST_TEST(six.are_cut_by_variables<unsigned long long>());
}

BOOST_AUTO_TEST_CASE(take_variables_of_several_types_and_constants) {
  const six_members six;
  const std::size_t last = 2, three = 3;
  const int first = 0;
  const std::uint8_t one = 1;
  BOOST_TEST(six.are_cut_by({.axis = {first, last}, .grid = {three, 2}, .halo = {one, 0, last}}));
  BOOST_TEST(six.are_cut_by({.axis = {0, last}, .grid = {three, one + 1}, .halo = {1, first, 2u}}));
}

// One number in braces is a list of one, and a list of one width fits arrays of rank 1 only.
BOOST_AUTO_TEST_CASE(of_one_variable_are_lists) {
  const fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  const std::size_t axis = 0, two = 2, width = 1;
  const fr::shard_layout<1> l(t, {8}, {.axis = {axis}, .grid = {two}, .halo = {width}});
  BOOST_TEST((l.members_along(0) == 2 && l.halo(0) == 1));
  const fr::shard_layout<2> all(t, {8, 8}, {.axis = axis, .halo = width});
  BOOST_TEST((all.halo(0) == 1 && all.halo(1) == 0));
  check_error<fr::invalid_argument>(
      [&] {
        fr::shard_layout<2>(t, {8, 8}, {.axis = axis, .halo = {width}});
      },
      {"a sharded array of rank 2 cannot have 1 halo width: pass one number for each axis"});
}

BOOST_AUTO_TEST_CASE(of_empty_braces_are_those_left_out) {
  const fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  const fr::sharded_array<int, 2> a(t, {8, 8}, {.grid = {}, .halo = {}, .periodic = {}}), b(t, {8, 8}, {});
  for (std::size_t d = 0; d != 2; ++d) {
    BOOST_TEST(a.layout().halo(d) == 0u);
    BOOST_TEST(!a.layout().periodic(d));
  }
  BOOST_TEST(a.layout().own(0).end[0] == b.layout().own(0).end[0]);
}

BOOST_AUTO_TEST_CASE(out_of_range_are_refused) {
  const fr::simulation sim("devices=4");
  const fr::team t = fr::team::all();
  const auto refused = [&](const fr::shard_options& o, const std::string& text) {
    check_error<fr::invalid_argument>([&] { fr::sharded_array<int, 2>(t, {8, 8}, o); }, {text});
  };
  const std::size_t none = 0, one = 1, two = 2, before = none - 1;
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const int negative = -1;
  refused({.axis = {none, two}}, "is to be cut along axis 2: axes are counted from 0");
  refused({.axis = {before, one}}, "is to be cut along axis -1: axes are counted from 0");
  refused({.axis = {negative, one}}, "is to be cut along axis -1: axes are counted from 0");
  refused({.axis = {one, one}}, "is to be cut along axis 1 twice: name each axis once");
  refused({.axis = {none, one}, .grid = {none, one}}, "a grid of 0 x 1 members on a team of 4");
  refused({.axis = {none, one}, .grid = {two, one}}, "a grid of 2 x 1 members on a team of 4");
  refused({.axis = {none, one}, .grid = {most, most - 3}}, "a grid of -1 x -4 members on a team of 4");
  refused({.axis = {none, one}, .grid = {std::size_t{1} << 62, std::size_t{8}}}, "members on a team of 4");
  refused({.axis = {none, one}, .halo = {one, before}}, "cannot have a halo of width -1 along axis 1");
}

// Ghost cells of an array of one device.
BOOST_AUTO_TEST_CASE(set_widths_of_ghost_cells) {
  const fr::simulation sim("devices=1");
  fr::unified_array<float, 2> u({6, 6}, 0.f), v({6, 6}, 0.f);
  const std::size_t one = 1;
  const int two = 2;
  fr::fill(fr::ghosts(u, fr::all_sides, {one, two}), fr::fixed_value{3.f});
  fr::fill(fr::ghosts(v, fr::all_sides, {1, 2}), fr::fixed_value{3.f});
  BOOST_TEST((fr::to_vector(u) == fr::to_vector(v)));
  BOOST_TEST((std::as_const(u)(0, 3) == 3.f && std::as_const(u)(3, 1) == 3.f && std::as_const(u)(3, 3) == 0.f));
  check_error<fr::invalid_argument>(
      [&] {
        (void)fr::ghosts(u, fr::all_sides, {one, one, one});
      },
      {"3 widths for 2 axes"});
}

BOOST_AUTO_TEST_SUITE_END()
