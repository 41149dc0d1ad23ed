// Elements at computed indices: take and gather, by plain loops.
#include <complex>
#include <string>

#include "expressions_fixture.hpp"
#include "ferry/core/moving.hpp"
#include "ferry/core/reduce.hpp"

namespace moving_gather {
namespace {

using namespace expressions_test;

struct on_two_devices {
  fr::simulation sim{"devices=2;check=races;schedule=random:7"};
};

}  // namespace
}  // namespace moving_gather

BOOST_AUTO_TEST_SUITE(moving_gather)

BOOST_FIXTURE_TEST_CASE(take_is_fused, on_two_devices) {
  const auto a = array_of<float>({10, 11, 12, 13}), b = array_of<float>({1, 2, 3});
  const auto i = array_of<int>({3, 0, -1});
  fr::device_array<float> y({3});
  y = 2 * fr::take(a, i) + b;
  CHECK_ELEMENTS(y, {27, 22, 29});
  y = fr::take(a, i + 0 * i) - fr::take(a, i - 1);
  CHECK_ELEMENTS(y, {1, -3, 1});
  const float total = fr::sum(fr::take(a, i));
  BOOST_TEST(total == 36.f);
}

BOOST_FIXTURE_TEST_CASE(take_along_each_axis, on_two_devices) {
  const auto a = counted<int>(fr::extents<3>{2, 3, 4});
  const auto i = counted<std::int64_t>(fr::extents<2>{1, 2});
  CHECK_ELEMENTS(fr::take(a, i, 2), {0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21});
  CHECK_ELEMENTS(fr::take(a, i, 1), {0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19});
  CHECK_ELEMENTS(fr::take(a, 1, 0), {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  CHECK_ELEMENTS(fr::take(a.transpose(), array_of<int>({1}), -1), {12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23});
  const auto j = array_of<int>({1, 0});
  CHECK_ELEMENTS(fr::gather(a, j, fr::new_axis(array_of<int>({2, 0, 1}), 1), 3), {23, 11, 15, 3, 19, 7});
}

BOOST_FIXTURE_TEST_CASE(moved_along_axes, on_two_devices) {
  const auto a = counted<int>(fr::extents<2>{2, 3});
  CHECK_ELEMENTS(fr::roll(a, 1), {2, 0, 1, 5, 3, 4});
  CHECK_ELEMENTS(fr::roll(a, -4), {1, 2, 0, 4, 5, 3});
  CHECK_ELEMENTS(fr::roll(a, 3, 0), {3, 4, 5, 0, 1, 2});
  CHECK_ELEMENTS(fr::repeat(a, 2), {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  CHECK_ELEMENTS(fr::tiled(a, {1, 2}), {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK_ELEMENTS(fr::pad(a, {{1, 0}, {0, 2}}, 9), {9, 9, 9, 9, 9, 0, 1, 2, 9, 9, 3, 4, 5, 9, 9});
  const auto b = array_of<int>({1, 2, 3});
  CHECK_ELEMENTS(fr::pad(b, {{4, 3}}, fr::pad_mode::edge), {1, 1, 1, 1, 1, 2, 3, 3, 3, 3});
  CHECK_ELEMENTS(fr::pad(b, {{4, 3}}, fr::pad_mode::wrap), {3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
  CHECK_ELEMENTS(fr::pad(b, {{4, 3}}, fr::pad_mode::reflect), {1, 2, 3, 2, 1, 2, 3, 2, 1, 2});
  CHECK_ELEMENTS(fr::pad(b, {{4, 3}}, fr::pad_mode::symmetric), {3, 3, 2, 1, 1, 2, 3, 3, 2, 1});
  CHECK_ELEMENTS(fr::concatenate(0, b, b.slice({0, 0}), b.slice({1, 3})), {1, 2, 3, 2, 3});
  CHECK_ELEMENTS(fr::concatenate(1, a, a.slice({{}, {1, 2}})), {0, 1, 2, 1, 3, 4, 5, 4});
  CHECK_ELEMENTS(fr::stack(0, b, b), {1, 2, 3, 1, 2, 3});
  CHECK_ELEMENTS(fr::stack(-1, b, b, array_of<float>({7, 8, 9})), {1, 1, 7, 2, 2, 8, 3, 3, 9});
  CHECK_ELEMENTS(fr::flip(a), {5, 4, 3, 2, 1, 0});
  CHECK_ELEMENTS(fr::flip(a, 1), {2, 1, 0, 5, 4, 3});
  CHECK_ELEMENTS(fr::rot90(a), {2, 5, 1, 4, 0, 3});
  CHECK_ELEMENTS(fr::rot90(a, 2), {5, 4, 3, 2, 1, 0});
  CHECK_ELEMENTS(fr::rot90(a, -1), {3, 0, 4, 1, 5, 2});
  const auto [x, y] = fr::meshgrid(b, array_of<int>({5, 6}));
  CHECK_ELEMENTS(x + 0, {1, 2, 3, 1, 2, 3});
  CHECK_ELEMENTS(y, {5, 5, 5, 6, 6, 6});
}

BOOST_AUTO_TEST_CASE(indices_outside) {
  fr::simulation sim("devices=1");
  auto a = counted<int>(fr::extents<1>{4});
  a.name("a");
  fr::device_array<int> y(fr::extents<1>{2});
  check_error<fr::device_error>(
      [&] {
        y = fr::take(a, array_of<int>({1, 4}));
        fr::to_vector(y);
      },
      {"kernel 'expression': array 'a': index 4 is outside of an axis of extent 4"});
}

BOOST_AUTO_TEST_SUITE_END()
