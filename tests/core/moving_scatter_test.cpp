// Values at indices of an array: scatter and scatter_add, by plain loops.
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "expressions_fixture.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/core/moving.hpp"
#include "ferry/core/scatter.hpp"
#include "support/seeds.hpp"

namespace moving_scatter {
namespace {

using namespace expressions_test;

struct on_two_devices {
  fr::simulation sim{"devices=2;check=races;schedule=random:7"};
};

std::size_t below(std::mt19937_64& random, std::size_t n) { return random() % n; }

// Random indices along each axis of a view of three dimensions; the destination may be transposed and reversed.
template <class T, class Index>
void check_random(std::mt19937_64& random) {
  const std::size_t n0 = 1 + below(random, 5), n1 = 1 + below(random, 6), n2 = 1 + below(random, 7);
  const int axis = static_cast<int>(below(random, 3));
  const bool is_sum = below(random, 2) != 0, is_turned = below(random, 2) != 0;
  fr::device_array<T, 3> a(is_turned ? fr::extents<3>{n2, n1, n0} : fr::extents<3>{n0, n1, n2}, T(1));
  fr::array_view<T, 3, fr::memory_kind::device> y = a;
  if (is_turned) {
    fr::array_view<T, 3, fr::memory_kind::device> t = y.transpose();
    y = fr::array_view<T, 3, fr::memory_kind::device>(fr::flip(t, 0));
  }
  const std::size_t extent = y.extent(static_cast<std::size_t>(axis));
  // Different indices, unless they are added.
  std::vector<Index> index(is_sum ? below(random, 9) : below(random, extent + 1));
  std::vector<std::size_t> order(extent);
  for (std::size_t k = 0; k != extent; ++k) order[k] = k;
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t k = 0; k != index.size(); ++k) {
    const auto i = static_cast<std::int64_t>(is_sum ? below(random, extent) : order[k]);
    index[k] = static_cast<Index>(std::is_signed_v<Index> && below(random, 2) != 0 ? i - std::int64_t(extent) : i);
  }
  fr::extents<3> shape = y.extents();
  shape[static_cast<std::size_t>(axis)] = index.size();
  const auto v = counted<T>(shape, 3);
  const auto before = elements(y);
  const auto values = elements(v);
  if (is_sum)
    fr::scatter_add(y, array_of<Index>(index), v, axis);
  else
    fr::scatter(y, array_of<Index>(index), v, axis - 3);
  auto want = before;
  for (std::size_t i = 0; i != shape[0]; ++i)
    for (std::size_t j = 0; j != shape[1]; ++j)
      for (std::size_t k = 0; k != shape[2]; ++k) {
        std::size_t at[] = {i, j, k};
        auto n = static_cast<std::int64_t>(index[at[axis]]);
        at[axis] = static_cast<std::size_t>(n < 0 ? n + static_cast<std::int64_t>(extent) : n);
        auto& to = want[(at[0] * y.extent(1) + at[1]) * y.extent(2) + at[2]];
        const auto from = values[(i * shape[1] + j) * shape[2] + k];
        to = is_sum ? static_cast<T>(to + from) : from;
      }
  BOOST_TEST((elements(y) == want));
}

}  // namespace
}  // namespace moving_scatter

BOOST_AUTO_TEST_SUITE(moving_scatter)

BOOST_AUTO_TEST_CASE(random_scatters) {
  for (std::size_t seed = 0; seed != support::seeds(60); ++seed) {
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    std::mt19937_64 random(seed);
    check_random<float, std::int32_t>(random), check_random<double, std::int64_t>(random);
    check_random<std::int8_t, std::uint8_t>(random), check_random<std::uint16_t, std::int16_t>(random);
    check_random<std::complex<float>, std::int32_t>(random);
    check_random<std::complex<double>, std::uint32_t>(random);
    check_random<std::int64_t, std::uint64_t>(random);
  }
}

BOOST_FIXTURE_TEST_CASE(values_broadcast_and_convert, on_two_devices) {
  auto y = counted<float>(fr::extents<2>{3, 4});
  fr::scatter(y, array_of<int>({2, 0}), 7);
  CHECK_ELEMENTS(y, {7, 7, 7, 7, 4, 5, 6, 7, 7, 7, 7, 7});
  fr::scatter(y, array_of<int>({-1}), array_of<int>({1, 2, 3, 4}));
  CHECK_ELEMENTS(y, {7, 7, 7, 7, 4, 5, 6, 7, 1, 2, 3, 4});
  fr::scatter_add(y, array_of<int>({1, 1, 1}), 1.5, 1);
  CHECK_ELEMENTS(y, {7, 11.5, 7, 7, 4, 9.5, 6, 7, 1, 6.5, 3, 4});
  fr::scatter(y, 0, -1);
  CHECK_ELEMENTS(y, {-1, -1, -1, -1, 4, 9.5, 6, 7, 1, 6.5, 3, 4});
  fr::scatter_add(y.slice({{}, {0, 2}}), array_of<std::int64_t>({2, 2}) - 1, 2 * y.slice({{0, 2}, {2, 4}}));
  CHECK_ELEMENTS(y, {-1, -1, -1, -1, 14, 21.5, 6, 7, 1, 6.5, 3, 4});
}

BOOST_FIXTURE_TEST_CASE(numbers_at_the_edges, on_two_devices) {
  auto y = array_of<std::int32_t>({std::numeric_limits<std::int32_t>::max(), 0});
  fr::scatter_add(y, array_of<int>({0, 0}), 1);
  CHECK_ELEMENTS(y, {std::numeric_limits<std::int32_t>::min() + 1, 0});
  auto h = array_of<fr::half>({fr::half(2048.f)});
  fr::scatter_add(h, array_of<int>({0, 0}), 1.f);  // each sum is rounded to even
  BOOST_TEST(static_cast<float>(elements(h)[0]) == 2048.f);
  auto b = mask_of({false, false});
  fr::scatter(b, array_of<int>({1}), true);
  CHECK_ELEMENTS(b, {0, 1});
}

BOOST_FIXTURE_TEST_CASE(sources_that_are_the_destination, on_two_devices) {
  auto y = array_of<std::int64_t>({3, 2, 1, 0});
  fr::scatter(y, y, y.slice({0, 4}));
  CHECK_ELEMENTS(y, {0, 1, 2, 3});
  fr::scatter(y, fr::flip(y), y);
  CHECK_ELEMENTS(y, {3, 2, 1, 0});
}

BOOST_FIXTURE_TEST_CASE(nothing_to_scatter, on_two_devices) {
  auto y = array_of<int>({1, 2});
  fr::device_array<int> none(fr::extents<1>{0});
  fr::scatter(y, none, 7);
  fr::scatter_add(none, none, 7);
  CHECK_ELEMENTS(y, {1, 2});
}

BOOST_FIXTURE_TEST_CASE(on_a_stream_and_in_a_graph, on_two_devices) {
  auto y = array_of<int>({0, 0, 0});
  const auto i = array_of<int>({2, 2});
  const auto v = array_of<int>({1, 4});
  const fr::stream s;
  fr::graph g = fr::capture(s, [&] { fr::scatter_add(s, y, i, v); });
  g.launch(s), g.launch(s);
  CHECK_ELEMENTS(y, {0, 0, 10});
}

BOOST_FIXTURE_TEST_CASE(bad_shapes, on_two_devices) {
  auto y = counted<float>(fr::extents<2>{3, 4});
  y.name("y");
  const auto i = array_of<int>({0, 1});
  check_error<fr::invalid_argument>(
      [&] {
        fr::scatter(y, i, array_of<float>({1, 2}));
      },
      {"fr::scatter to", "'y'", "3 x 4", "of 2 do not broadcast to 2 x 4"});
  check_error<fr::invalid_argument>([&] { fr::scatter(y, i, 1, 2); }, {"fr::scatter", "no axis 2", "2 dimensions"});
  fr::device_array<float, 2> none({0, 4});
  check_error<fr::invalid_argument>([&] { fr::scatter(none, i, 1.f); }, {"no elements along dimension 0"});
}

BOOST_AUTO_TEST_CASE(bad_indices_write_nothing) {
  constexpr std::pair<int, std::string_view> cases[] = {{4, "index 4 is outside of an axis of extent 4"},
                                                        {-5, "index -5 is outside of an axis of extent 4"},
                                                        {-4, "index 0 occurs twice"}};
  for (const auto& [index, text] : cases) {
    const fr::simulation sim("devices=1;check=on");
    fr::unified_array<int> y({4}, 0);
    y.name("y");
    check_error<fr::device_error>(
        [&, index = index] {
          fr::scatter(y, array_of<int>({0, index}), 1);
          fr::default_stream(fr::device(0)).synchronize();
        },
        {"array 'y'", text});
  }
}

BOOST_AUTO_TEST_SUITE_END()
