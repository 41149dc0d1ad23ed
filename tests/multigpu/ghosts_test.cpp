// Ghost cells of sharded arrays: all conditions against cells that are set one by one, and against one device.
#include "multigpu/shards.hpp"

#include <cstring>

#include "support/check_error.hpp"
#include "support/ghost_oracle.hpp"

using namespace shards;

namespace ghosts {
namespace {

using ghost_oracle::index;
using ghost_oracle::kind;
using support::check_error;

struct record {
  std::int32_t of[5];
};

template <class T>
T any_value(std::mt19937_64& random) {
  T x{};
  if constexpr (requires { x.of; })
    for (auto& one : x.of) one = static_cast<std::int32_t>(random() % 1000);
  else
    x = static_cast<T>(static_cast<float>(random() % 100));
  return x;
}

// All cells that members have, ghost cells and halos, equal those of the whole array.
template <class T, std::size_t Rank, fr::memory_kind Kind>
void check_cells(const fr::sharded_array<T, Rank, Kind>& a, const ghost_oracle::padded<T, Rank>& expected) {
  for (std::size_t m = 0; m < a.team().size(); ++m) {
    const std::vector<T> found = fr::to_vector(a.shard_with_halo(m));
    std::size_t i = 0, wrong = 0;
    for_each_index(a.layout().local(m), [&](const auto& at) {
      const T one = expected.get(at);
      wrong += std::memcmp(&found[i++], &one, sizeof(T)) != 0;
    });
    BOOST_TEST(wrong == 0u, wrong << " cells of member " << m << " are wrong: " << a.layout().text());
  }
}

template <class T, std::size_t Rank, fr::memory_kind Kind>
void compare(std::size_t seed, fr::team& t) {
  dice d(seed);
  std::mt19937_64 random(seed);
  constexpr bool has_sign = !std::is_unsigned_v<T> && !std::is_same_v<T, record>;
  if (d.below(10) == 0) t.submit(fr::submission::by_threads);
  auto [e, o] = any_layout<Rank>(d, t);
  if (d.flip()) o.periodic.axes.assign(Rank, false);
  const T untouched = any_value<T>(random);
  fr::sharded_array<T, Rank, Kind> a(t, e, o, untouched);
  index<Rank> n, w;
  std::array<bool, Rank> allowed, is_periodic;
  for (std::size_t k = 0; k != Rank; ++k) {
    n[k] = static_cast<std::ptrdiff_t>(e[k]), w[k] = o.halo.widths[k];
    is_periodic[k] = o.periodic.axes[k], allowed[k] = w[k] > 0 && !is_periodic[k];
  }
  fr::ghost_widths widths(0);
  widths.widths = o.halo.widths, widths.one = false;
  ghost_oracle::padded<T, Rank> expected(n, w, untouched);
  std::vector<T> inside;
  expected.for_each([&](const index<Rank>& at) {
    if (!expected.is_inside(at)) return;
    expected.set(at, any_value<T>(random));
    inside.push_back(expected.get(at));
  });
  ghost_oracle::wrap(expected, is_periodic);
  std::vector<ghost_oracle::step<T>> steps;
  for (std::size_t i = d.between(1, 4); i-- > 0;) {
    const auto what = static_cast<kind>(d.below(5));
    if (what == kind::odd && !has_sign) continue;
    steps.push_back(ghost_oracle::any_step<T, Rank>(random, what, allowed, w, any_value<T>(random)));
  }
  fr::copy(std::span<const T>(inside), a);
  const auto run = [&] {
    for (const auto& s : steps) ghost_oracle::run(a, s, widths);
  };
  if (sizeof(T) <= 16 && d.below(4) == 0) {
    fr::exchange_halos(a);  // the first time works out what goes where
    fr::copy(std::span<const T>(inside), a);
    fr::graph g = fr::capture(t.stream(0), run);
    g.launch(t.stream(0));
  } else {
    run();
  }
  for (const auto& s : steps) ghost_oracle::apply(expected, s, is_periodic);
  fr::exchange_halos(a);
  check_cells(a, expected);
}

void compare_all(std::size_t seed, fr::team t) {
  compare<double, 1, fr::memory_kind::device>(seed, t);
  compare<float, 2, fr::memory_kind::device>(seed, t);
  compare<int, 2, fr::memory_kind::unified>(seed, t);
  compare<std::uint8_t, 2, fr::memory_kind::device>(seed, t);
  compare<record, 2, fr::memory_kind::device>(seed, t);
  compare<float, 3, fr::memory_kind::device>(seed, t);
}

template <class A>
auto around(const A& u) {
  return fr::shift(u, {-1, 0}) + fr::shift(u, {1, 0}) + fr::shift(u, {0, -1}) + fr::shift(u, {0, 1});
}
constexpr std::size_t rows = 13, columns = 9;
std::vector<float> warm() {
  std::vector<float> all(rows * columns);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i * 37 % 101);
  return all;
}
// Both forms set the ghost cells by the same statement.
template <class A>
void insulate(A& u) {
  fr::fill(fr::ghosts(u, fr::all_sides, 1), fr::reflecting{});
}
std::vector<float> heat_on_one_device(int steps) {
  fr::device_array<float, 2> u(fr::extents<2>{rows + 2, columns + 2}, 0.f);
  fr::copy(warm(), u.slice({{1, rows + 1}, {1, columns + 1}}));
  const fr::device_array<float, 2>& all = u;
  for (int i = 0; i < steps; ++i) {
    insulate(u);
    const auto inside = all.slice({{1, rows + 1}, {1, columns + 1}});
    const auto up = all.slice({{0, rows}, {1, columns + 1}}), down = all.slice({{2, rows + 2}, {1, columns + 1}});
    const auto left = all.slice({{1, rows + 1}, {0, columns}}), right = all.slice({{1, rows + 1}, {2, columns + 2}});
    auto next = u.slice({{1, rows + 1}, {1, columns + 1}});
    next = inside + 0.2f * (up + down + left + right - 4 * inside);
  }
  return fr::to_vector(all.slice({{1, rows + 1}, {1, columns + 1}}));
}

}  // namespace
}  // namespace ghosts

BOOST_AUTO_TEST_SUITE(ghosts)

BOOST_AUTO_TEST_CASE(agree_with_cells_that_are_set_one_by_one) {
  for (std::size_t seed = 0; seed < seeds(100); ++seed) {
    fr::simulation sim(simulated_machine(seed, 1 + seed % 4));
    compare_all(seed, fr::team::all());
  }
}

BOOST_AUTO_TEST_CASE(agree_on_this_machine) {
  for (std::size_t seed = 0; seed < 10; ++seed) compare_all(seed, fr::team::all());
}

BOOST_AUTO_TEST_CASE(one_device_and_many_compute_the_same_bits) {
  for (std::size_t devices = 1; devices <= 4; ++devices)
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const fr::simulation sim(simulated_machine(devices, devices));
      const std::vector<float> expected = heat_on_one_device(12);
      fr::sharded_array<float, 2> u(fr::team::all(), {rows, columns}, {.axis = axis, .halo = {1, 1}});
      fr::copy(warm(), u);
      for (int i = 0; i < 12; ++i) {
        insulate(u);
        u = u + 0.2f * (around(u) - 4 * u);
      }
      BOOST_TEST(std::memcmp(fr::to_vector(u).data(), expected.data(), expected.size() * sizeof(float)) == 0);
    }
}

// The ghost cells are the program's: setting them makes no halo out of date, and the next step exchanges nothing.
BOOST_AUTO_TEST_CASE(leave_halos_valid) {
  const fr::simulation sim("devices=3");
  fr::sharded_array<float, 2> u(fr::team::all(), {9, 5}, {.halo = {1, 1}}, 1.f), v(fr::team::all(), {9, 5});
  u = fr::cast<float>(fr::index(0));
  BOOST_TEST(!u.team_operand()->halos_are_filled());
  fr::fill(fr::ghosts(u, fr::side::low(0)), fr::zero_gradient{});  // reads no halo
  fr::fill(fr::ghosts(u, fr::all_sides), fr::fixed_value{0});
  BOOST_TEST(!u.team_operand()->halos_are_filled());
  fr::fill(fr::ghosts(u, fr::all_sides), fr::reflecting{});
  BOOST_TEST(u.team_operand()->halos_are_filled());
}

BOOST_AUTO_TEST_CASE(errors_name_the_array_and_the_side) {
  const fr::simulation sim("devices=2");
  fr::sharded_array<unsigned, 2> u(fr::team::all(), {8, 9}, {.halo = 2, .periodic = {true, false}});
  fr::sharded_array<unsigned, 2> v(fr::team::all(), {8, 9}, {.halo = {1, 2}});
  u.name("height"), v.name("depth");
  const auto refused = [](auto& a, const fr::side_list& sides, const auto& condition, const std::string& text) {
    check_error<fr::invalid_argument>([&] { fr::fill(fr::ghosts(a, sides), condition); }, {text, a.name()});
  };
  refused(u, fr::side::low(2), fr::zero_gradient{}, "there is no axis 2");
  refused(u, fr::side::high(1), fr::zero_gradient{}, "a sharded array a halo along it");
  refused(u, fr::side::low(0), fr::zero_gradient{}, "is periodic along axis 0");
  refused(v, fr::all_sides, fr::reflecting{fr::parity::odd}, "have no sign");
  check_error<fr::invalid_argument>([&] { fr::fill(fr::ghosts(v, fr::all_sides, 1), fr::zero_gradient{}); },
                                    {"the width 1 is not that of the halo along axis 1, which is 2", "depth"});
  BOOST_CHECK_NO_THROW(fr::fill(fr::ghosts(v, fr::all_sides, {1, 2}), fr::zero_gradient{}));
  fr::sharded_array<float, 1> bare(fr::team::all(), {4});
  bare.name("bare");
  refused(bare, fr::all_sides, fr::reflecting{}, "the width is 0 along all axes");
  fr::sharded_array<float, 1> none(fr::team::all(), {0}, {.halo = 1});
  BOOST_CHECK_NO_THROW(fr::fill(fr::ghosts(none, fr::all_sides), fr::reflecting{}));
}

BOOST_AUTO_TEST_SUITE_END()
