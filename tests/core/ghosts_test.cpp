// Ghost cells of arrays on one device: all conditions against cells that are set one by one.
#include <ferry/core.hpp>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "support/failures.hpp"
#include "support/ghost_oracle.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;
using support::failure_of;
using support::seeds;

namespace boundaries {
namespace {

using ghost_oracle::index;
using ghost_oracle::kind;

struct record {
  std::int32_t of[5];
};

template <class T>
T any_value(std::mt19937_64& random) {
  T x{};
  if constexpr (requires { x.of; })
    for (auto& one : x.of) one = static_cast<std::int32_t>(random() % 1000);
  else if constexpr (std::is_same_v<T, bool>)
    x = random() % 2 == 0;
  else
    x = static_cast<T>(static_cast<float>(random() % 100));
  return x;
}
template <class T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
  if constexpr (std::is_same_v<T, bool>)
    return a == b;
  else
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// Some conditions at some sides of one array, on the CPU and on a device, launched directly or by a graph.
template <class T, std::size_t Rank, fr::memory_kind Kind>
void compare(std::mt19937_64& random) {
  constexpr bool has_sign = !std::is_unsigned_v<T> && !std::is_same_v<T, record>;
  index<Rank> n, w;
  std::array<bool, Rank> allowed;
  fr::ghost_widths widths(0);
  widths.widths.clear(), widths.one = false;
  for (std::size_t d = 0; d != Rank; ++d) {
    w[d] = static_cast<std::ptrdiff_t>(random() % 4), n[d] = std::max<std::ptrdiff_t>(w[d], 1);
    n[d] += static_cast<std::ptrdiff_t>(random() % 4);
    allowed[d] = w[d] > 0, widths.widths.push_back(w[d]);
  }
  ghost_oracle::padded<T, Rank> expected(n, w, any_value<T>(random));
  expected.for_each([&](const index<Rank>& at) { expected.set(at, any_value<T>(random)); });
  fr::basic_array<T, Rank, Kind> a(expected.extents());
  fr::copy(expected.cells, a);
  std::vector<ghost_oracle::step<T>> steps;
  for (std::size_t i = 1 + random() % 4; i-- > 0;) {
    const auto what = static_cast<kind>(random() % 5);
    if (what == kind::odd && !has_sign) continue;
    steps.push_back(ghost_oracle::any_step<T, Rank>(random, what, allowed, w, any_value<T>(random)));
  }
  const auto run = [&] {
    for (const auto& s : steps) ghost_oracle::run(a, s, widths);
  };
  const bool by_graph = sizeof(T) <= 16 && random() % 4 == 0;  // records are filled by copies from the CPU
  if (by_graph)
    fr::capture(fr::default_stream(a.device()), run).launch(fr::default_stream(a.device()));
  else
    run();
  for (const auto& s : steps) ghost_oracle::apply(expected, s);
  BOOST_TEST(are_same(fr::to_vector(a), expected.cells), "cells of shape " << a.extents().text() << " are wrong");
}

template <class T>
void compare_all(std::mt19937_64& random) {
  compare<T, 1, fr::memory_kind::device>(random);
  compare<T, 2, fr::memory_kind::unified>(random);
  compare<T, 2, fr::memory_kind::device>(random);
  compare<T, 3, fr::memory_kind::device>(random);
}

}  // namespace
}  // namespace boundaries

BOOST_AUTO_TEST_SUITE(boundaries)

BOOST_AUTO_TEST_CASE(agree_with_cells_that_are_set_one_by_one) {
  for (std::size_t seed = 0; seed < seeds(60); ++seed) {
    std::mt19937_64 random(seed);
    const fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    compare_all<double>(random);
    compare_all<float>(random);
    compare_all<int>(random);
    compare_all<std::int8_t>(random);
    compare_all<std::uint16_t>(random);
    compare_all<bool>(random);
    compare_all<std::complex<double>>(random);
    compare_all<record>(random);
    compare<float, 5, fr::memory_kind::device>(random);
  }
}

BOOST_AUTO_TEST_CASE(agree_on_this_machine) {
  for (std::size_t seed = 0; seed < 5; ++seed) {
    std::mt19937_64 random(seed);
    compare_all<float>(random);
    compare_all<record>(random);
  }
}

// All numbers by hand. Corners: the columns' sides copy rows that are set already.
BOOST_AUTO_TEST_CASE(corners_are_those_of_the_last_axis) {
  const fr::simulation sim("devices=1");
  fr::device_array<float, 2> u({4, 4});
  fr::copy(std::vector<float>{0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0}, u);
  fr::fill(fr::ghosts(u, {fr::side::low(0), fr::side::high(0)}, 1), fr::reflecting{fr::parity::odd});
  fr::fill(fr::ghosts(u, {fr::side::low(1), fr::side::high(1)}, 1), fr::zero_gradient{});
  BOOST_TEST((fr::to_vector(u) == std::vector<float>{-1, -1, -2, -2, 1, 1, 2, 2, 3, 3, 4, 4, -3, -3, -4, -4}));
}

BOOST_AUTO_TEST_CASE(one_side_is_one_submission) {
  const fr::simulation sim("devices=1");
  fr::device_array<double, 2> u(fr::extents<2>{8, 9}, 1.0);
  const fr::stream_ref s = fr::default_stream(u.device());
  const auto submissions = [&](const auto& condition) {
    const auto before = s.timeline().last();
    fr::fill(fr::ghosts(u, fr::side::high(1), 2), condition);
    return s.timeline().last() - before;
  };
  BOOST_TEST(submissions(fr::fixed_value{2}) == 1u);
  BOOST_TEST(submissions(fr::zero_gradient{}) == 1u);
  BOOST_TEST(submissions(fr::reflecting{}) == 1u);
  BOOST_TEST(submissions(fr::reflecting{fr::parity::odd}) == 1u);
  BOOST_TEST(submissions(fr::periodic{}) == 1u);
}

BOOST_AUTO_TEST_CASE(errors_name_the_array_and_the_side) {
  const fr::simulation sim("devices=1");
  fr::device_array<unsigned, 2> u({5, 9});
  u.name("height");
  const auto refused = [&](const fr::side_list& sides, const fr::ghost_widths& w, const std::string& text) {
    const std::string found =
        failure_of<fr::invalid_argument>([&] { fr::fill(fr::ghosts(u, sides, w), fr::reflecting{}); });
    BOOST_TEST(found.find(text) != std::string::npos, found);
    BOOST_TEST(found.find("height") != std::string::npos, found);
  };
  refused(fr::side::low(2), 1, "there is no axis 2");
  refused(fr::side::high(-1), 1, "there is no axis -1");
  refused(fr::side::high(1), {1, 0}, "side::high(1): their width along axis 1 is 0");
  refused(fr::side::low(0), {1, 2, 3}, "3 widths for 2 axes");
  refused(fr::side::low(0), -1, "is negative");
  refused(fr::all_sides, 0, "the width is 0 along all axes");
  refused(fr::side::low(1), {3, 1}, "axis 0 has 5 cells, and 3 ghost cells");  // rows of the columns' sides
  refused(fr::all_sides, 3, "axis 0 has 5 cells, and 3 ghost cells at each end leave none inside");
  refused(fr::side::low(0), 2, "are 2 cells wide, and 1 cells are inside along axis 0");
  const std::string found = failure_of<fr::invalid_argument>(
      [&] { fr::fill(fr::ghosts(u, fr::all_sides, 1), fr::reflecting{fr::parity::odd}); });
  BOOST_TEST(found.find("'height'") != std::string::npos, found);
  BOOST_TEST(found.find("have no sign") != std::string::npos, found);
}

BOOST_AUTO_TEST_SUITE_END()
