// Elements at computed indices: take and gather, by plain loops.
#include <complex>
#include <string>

#include "expressions_fixture.hpp"
#include "ferry/core/moving.hpp"
#include "ferry/core/reduce.hpp"
#include "ferry/core/sort.hpp"

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

BOOST_FIXTURE_TEST_CASE(indices_of_all_integers_and_expressions, on_two_devices) {
  const auto a = array_of<double>({10, 11, 12, 13});
  CHECK_ELEMENTS(fr::take(a, array_of<std::int8_t>({-1, 0})), {13, 10});
  CHECK_ELEMENTS(fr::take(a, array_of<std::uint8_t>({3, 0})), {13, 10});
  CHECK_ELEMENTS(fr::take(a, array_of<std::uint16_t>({3, 0})), {13, 10});
  CHECK_ELEMENTS(fr::take(a, array_of<std::uint32_t>({3, 0})), {13, 10});
  CHECK_ELEMENTS(fr::take(a, array_of<std::uint64_t>({3, 0})), {13, 10});
  CHECK_ELEMENTS(fr::take(a, fr::lazy_arange(0, 4) % 2), {10, 11, 10, 11});
  CHECK_ELEMENTS(fr::take(a, fr::take(array_of<int>({3, 2, 1}), array_of<int>({2, 0}))), {11, 13});  // nested
  CHECK_ELEMENTS(fr::take(a, fr::new_axis(array_of<int>({1, 2}), 1)) + array_of<double>({0, 100}), {11, 111, 12, 112});
  CHECK_ELEMENTS(fr::take(fr::new_axis(a, 0), array_of<int>({0}), 0) + counted<double>(fr::extents<2>{2, 4}),
                 {10, 12, 14, 16, 14, 16, 18, 20});  // a taken axis of extent 1 is stretched
  const auto m = counted<int>(fr::extents<2>{4, 3});
  CHECK_ELEMENTS(fr::take(m, fr::take(array_of<int>({3, 1}), array_of<int>({1})), 0), {3, 4, 5});
}

BOOST_FIXTURE_TEST_CASE(one_element_for_each_index, on_two_devices) {
  const fr::device_array<int, 2> a(counted<int>(fr::extents<2>{2, 3}) * 10);
  const auto i = fr::new_axis(array_of<int>({2, 0, -1, 1}), 0);  // of shape 1 x 4
  CHECK_ELEMENTS(fr::take_along_axis(a, i), {20, 0, 20, 10, 50, 30, 50, 40});
  CHECK_ELEMENTS(fr::take_along_axis(a, fr::new_axis(array_of<int>({1, 0, 1}), 0), 0), {30, 10, 50});
  CHECK_ELEMENTS(fr::take_along_axis(a, fr::new_axis(array_of<int>({1, 0}), 1), 1), {10, 30});
  CHECK_ELEMENTS(fr::take_along_axis(a.slice({0, 1}), counted<int>(fr::extents<2>{3, 1}) - 1, -1), {20, 0, 10});
  const auto b = array_of<float>({3, 1, 2});
  CHECK_ELEMENTS(fr::take_along_axis(b, fr::argsort(b)) + 1, {2, 3, 4});
  const fr::device_array<float, 2> m(fr::sin(counted<float>(fr::extents<2>{5, 7})));
  for (const int axis : {0, 1}) {
    CHECK_ELEMENTS(fr::take_along_axis(m, fr::argsort(m, axis), axis), {elements(fr::sort(m, axis))});
    CHECK_ELEMENTS(fr::take_along_axis(m, fr::argmax(m, fr::axes{axis}, fr::keep_dims), axis),
                   {elements(fr::device_array<float, 2>(fr::max(m, fr::axes{axis}, fr::keep_dims)))});
  }
}

BOOST_FIXTURE_TEST_CASE(destinations_that_are_gathered, on_two_devices) {
  auto y = array_of<int>({0, 1, 2, 3});
  y = fr::take(y, array_of<int>({3, 2, 1, 0})) + y;
  CHECK_ELEMENTS(y, {3, 3, 3, 3});
  y = fr::lazy_arange(0, 4);
  y = fr::roll(y, 1);
  CHECK_ELEMENTS(y, {3, 0, 1, 2});
  y = fr::where(y > 0, fr::take(y, y), y);
  CHECK_ELEMENTS(y, {2, 0, 0, 1});
  auto x = array_of<int>({1, 0, 3, 2}), z = array_of<int>({7, 8, 9, 10});
  fr::assign(x, fr::take(z, x), z, fr::take(x, x));
  CHECK_ELEMENTS(x, {8, 7, 10, 9});
  CHECK_ELEMENTS(z, {0, 1, 2, 3});
}

BOOST_FIXTURE_TEST_CASE(nothing_to_move, on_two_devices) {
  const auto a = counted<int>(fr::extents<2>{2, 3});
  const fr::device_array<int, 2> none({0, 3});
  const fr::device_array<int> no_index(fr::extents<1>{0});
  BOOST_TEST(elements(fr::take(a, no_index, 1)).empty());
  BOOST_TEST(elements(fr::take(none, no_index, 0)).empty());
  BOOST_TEST(elements(fr::roll(none, 1, 0)).empty());
  BOOST_TEST(elements(fr::repeat(a, 0)).empty());
  BOOST_TEST(elements(fr::tiled(none, {3, 2})).empty());
  BOOST_TEST(elements(fr::flip(none) + 0).empty());
  BOOST_TEST(elements(fr::rot90(none) + 0).empty());
  CHECK_ELEMENTS(fr::pad(none, {{1, 0}, {0, 0}}, 4), {4, 4, 4});
  CHECK_ELEMENTS(fr::concatenate(0, none, a, none), {0, 1, 2, 3, 4, 5});
  BOOST_TEST(elements(fr::concatenate(0, none, none)).empty());
  BOOST_TEST(elements(fr::stack(0, none, none)).empty());
  const auto one = array_of<int>({5});
  CHECK_ELEMENTS(fr::roll(one, 7), {5});
  CHECK_ELEMENTS(fr::pad(one, {{2, 1}}, fr::pad_mode::reflect), {5, 5, 5, 5});
  CHECK_ELEMENTS(fr::roll(one, 1) + array_of<int>({1, 2}), {6, 7});
  CHECK_ELEMENTS(fr::take(fr::new_axis(one, 0), 0, 1), {5});
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
  for (const int wrong : {4, -5})
    for (const bool is_reduced : {false, true}) {
      const fr::simulation sim("devices=1");
      auto b = counted<int>(fr::extents<1>{9}), a = counted<int>(fr::extents<1>{4});
      a.name("a"), b.name("b");
      check_error<fr::device_error>(
          [&] {
            const auto e = fr::take(b, 0) + fr::take(a, array_of<int>({1, wrong, 0}));
            is_reduced ? static_cast<void>(std::int64_t(fr::sum(e))) : static_cast<void>(elements(e));
          },
          {"array 'a': index " + std::to_string(wrong) + " is outside of an axis of extent 4"});
    }
}

BOOST_AUTO_TEST_CASE(large_gathers_run_on_several_threads) {
  const fr::simulation sim("devices=1");
  constexpr std::size_t n = 3000001;
  const auto a = counted<int>(fr::extents<1>{n});
  fr::unified_array<int> y({n});
  y = fr::take(a, n - 1 - fr::lazy_arange<std::int64_t>(0, n)) + fr::roll(a, -1);
  bool are_equal = true;
  for (std::size_t i = 0; i != n; ++i)
    are_equal = are_equal && y(i) == static_cast<int>(static_cast<float>(n - 1 - i)) +
                                         static_cast<int>(static_cast<float>((i + 1) % n));
  BOOST_TEST(are_equal);
  fr::device_array<std::int64_t> i({n}, 0);
  i.slice({n - 1, n}) = fr::lazy_arange<std::int64_t>(n, n + 1);
  check_error<fr::device_error>([&] { elements(fr::take(a, i) + 0); }, {"index 3000001 is outside"});
}

BOOST_FIXTURE_TEST_CASE(bad_input, on_two_devices) {
  auto a = counted<float>(fr::extents<2>{3, 4});
  a.name("a");
  const auto i = array_of<int>({0, 1});
  check_error<fr::invalid_argument>([&] { fr::take(a, i, 2); }, {"fr::take", "no axis 2", "2 dimensions"});
  const auto j = counted<int>(fr::extents<2>{2, 2});
  check_error<fr::invalid_argument>([&] { fr::take_along_axis(a, j, 2); }, {"fr::take_along_axis", "no axis 2"});
  check_error<fr::invalid_argument>([&] { fr::take_along_axis(a, j, 1); },
                                    {"fr::take_along_axis of array 'a'", "3 x 4", "2 x 2", "dimension 0"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::take_along_axis(a.slice({1, 1}), j, 0);
      },
      {"fr::take_along_axis of array 'a'", "dimension 1"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::take_along_axis(a.slice({1, 1}), j.slice({0, 1}).slice({{}, {0, 1}}), 0);
      },
      {"fr::take_along_axis of array 'a'", "0 x 4", "no elements along axis 0"});
  check_error<fr::invalid_argument>([&] { fr::roll(a, 1, -3); }, {"fr::roll", "no axis -3"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::take(a.slice({1, 1}), i, 0);
      },
      {"fr::take from array 'a'", "0 x 4", "no elements along axis 0"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::gather(a, i, array_of<int>({0, 1, 2}));
      },
      {"2", "3", "do not broadcast"});
  check_error<fr::invalid_argument>([&] { fr::gather(a.slice({1, 1}), i, i); }, {"fr::gather", "no elements"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::concatenate(0, a, a.slice({{}, {0, 3}}));
      },
      {"fr::concatenate", "array 'a'", "3 x 4", "3 x 3", "dimension 1"});
  check_error<fr::invalid_argument>([&] { fr::stack(0, a, a.slice({0, 2})); }, {"fr::stack", "2 x 4", "dimension 0"});
  check_error<fr::invalid_argument>([&] { fr::tiled(a, {2}); }, {"fr::tiled", "1 numbers for 2 dimensions"});
  check_error<fr::invalid_argument>([&] { fr::pad(a, {{1, 1}, {1, 1}, {1, 1}}, 0); }, {"fr::pad", "3 numbers for 2"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::pad(a.slice({0, 0}), {{1, 1}}, fr::pad_mode::edge);
      },
      {"fr::pad", "0 x 4", "2 x 6", "no element to copy"});
  check_error<fr::invalid_argument>([&] { fr::flip(a, 2); }, {"fr::flip", "no axis 2"});
  check_error<fr::invalid_argument>([&] { fr::rot90(a, 1, 0, -2); }, {"fr::rot90", "both axes are axis 0"});
}

BOOST_FIXTURE_TEST_CASE(texts, on_two_devices) {
  auto a = counted<float>(fr::extents<2>{3, 4});
  auto i = array_of<int>({0, 1});
  a.name("a"), i.name("i");
  BOOST_TEST((fr::take(a, i + 1, 1) * 2).text() == "a[cast<int64_t>(i + 1)] * 2");
  BOOST_TEST((fr::explain(fr::take(a, i)).find("array 'a'") != std::string::npos));
}

BOOST_AUTO_TEST_SUITE_END()
