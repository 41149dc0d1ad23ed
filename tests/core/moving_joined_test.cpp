// Assignments of concatenate and stack: array by array where that is faster, else in one submission.
#include <complex>
#include <random>
#include <string>

#include "expressions_fixture.hpp"
#include "ferry/core/moving.hpp"
#include "support/seeds.hpp"

namespace moving_joined {
namespace {

using namespace expressions_test;

struct on_two_devices {
  fr::simulation sim{"devices=2;check=races;schedule=random:7"};
};

template <class E>
bool is_copied(const E& e) {
  return fr::explain(e).find("array by array") != std::string::npos;
}
// 0, 1, ... of one array, then those of the next.
template <class T>
std::vector<T> in_a_row(std::initializer_list<std::size_t> counts) {
  std::vector<T> v;
  for (const std::size_t n : counts)
    for (std::size_t i = 0; i != n; ++i) v.push_back(static_cast<T>(i));
  return v;
}

}  // namespace
}  // namespace moving_joined

BOOST_AUTO_TEST_SUITE(moving_joined)

BOOST_FIXTURE_TEST_CASE(long_arrays_are_copied_one_by_one, on_two_devices) {
  const auto a = counted<int>(fr::extents<1>{100}), b = counted<int>(fr::extents<1>{700});
  BOOST_TEST(is_copied(fr::concatenate(0, a, b, a)));
  BOOST_TEST((fr::explain(fr::concatenate(0, a, b, a)).find("in 3 submissions") != std::string::npos));
  const auto want = in_a_row<int>({100, 700, 100});
  fr::device_array<int> y({900});
  y = fr::concatenate(0, a, b, a);
  BOOST_TEST((elements(y) == want));
  BOOST_TEST((elements(fr::concatenate(0, a, b, a)) == want));
  BOOST_TEST((elements(fr::evaluate(fr::concatenate(0, a, b, a))) == want));
  fr::assign(y, 0);
  fr::stream s(fr::device(0));
  fr::assign(s, y, fr::concatenate(0, a, b, a));
  BOOST_TEST((elements(y) == want));
  fr::device_array<int, 2> rows({2, 900});
  rows = fr::concatenate(0, a, b, a);  // stretched
  BOOST_TEST((elements(rows) == in_a_row<int>({100, 700, 100, 100, 700, 100})));
  fr::device_array<double> other({900});
  other = fr::concatenate(0, a, b, a);
  BOOST_TEST((elements(other) == in_a_row<double>({100, 700, 100})));
  fr::device_array<int> backwards({900});
  auto turned = fr::flip(backwards);
  turned = fr::concatenate(0, a, b, a);
  BOOST_TEST((elements(turned) == want));
}

BOOST_FIXTURE_TEST_CASE(parts_of_larger_expressions_are_selected, on_two_devices) {
  const auto a = counted<int>(fr::extents<1>{100}), b = counted<int>(fr::extents<1>{300});
  const auto e = fr::concatenate(0, a, b);
  BOOST_TEST(!is_copied(e + 0));
  BOOST_TEST(!is_copied(fr::cast<float>(e)));
  BOOST_TEST(!is_copied(fr::where(e > 5, e, 0)));
  BOOST_TEST((elements(e + e) == elements((e * 2))));
  BOOST_TEST((elements(e + 1 - 1) == in_a_row<int>({100, 300})));
  fr::device_array<int> y({400}, 1);
  y += e;
  BOOST_TEST((elements(y - 1) == in_a_row<int>({100, 300})));
  BOOST_TEST((elements(fr::take(y, fr::concatenate(0, a, b)) * 1).size() == 400u));
  fr::device_array<int> x({400}), z({400});
  fr::assign(x, e, z, e);
  BOOST_TEST((elements(x) == elements(e)));
  BOOST_TEST((elements(z) == elements(e)));
}

BOOST_FIXTURE_TEST_CASE(short_pieces_are_written_together, on_two_devices) {
  const auto a = counted<float>(fr::extents<2>{40, 30}), b = counted<float>(fr::extents<2>{40, 70});
  BOOST_TEST(!is_copied(fr::concatenate(1, a, b)));  // pieces of 120 bytes
  BOOST_TEST(is_copied(fr::concatenate(1, b, b)));
  BOOST_TEST(is_copied(fr::concatenate(0, a, a)));
  BOOST_TEST(is_copied(fr::stack(0, a, a)));
  BOOST_TEST(is_copied(fr::stack(1, b, b)));
  BOOST_TEST(!is_copied(fr::stack(2, a, a)));
}

BOOST_FIXTURE_TEST_CASE(destinations_that_are_read_go_through_a_temporary, on_two_devices) {
  auto y = counted<int>(fr::extents<1>{400});
  const auto b = counted<int>(fr::extents<1>{100}, 1000);
  y = fr::concatenate(0, y.slice({100, 400}), b);
  std::vector<int> want;
  for (int i = 100; i != 400; ++i) want.push_back(i);
  for (int i = 1000; i != 1100; ++i) want.push_back(i);
  BOOST_TEST((elements(y) == want));
}

BOOST_FIXTURE_TEST_CASE(halves_are_exchanged_in_place, on_two_devices) {
  auto y = counted<int>(fr::extents<1>{600});
  y = fr::concatenate(0, y.slice({300, 600}), y.slice({0, 300}));
  std::vector<int> expected(600);
  for (int i = 0; i != 600; ++i) expected[static_cast<std::size_t>(i)] = (i + 300) % 600;
  BOOST_TEST((fr::to_vector(y) == expected));
}

BOOST_FIXTURE_TEST_CASE(elements_get_the_common_type_first, on_two_devices) {
  fr::device_array<int> large({200}, 16777217);
  const fr::device_array<float> one({200}, 1.f);
  const fr::device_array<std::int8_t> small({300}, std::int8_t(-1));
  fr::device_array<double> y({700});
  y = fr::concatenate(0, large, one, small);
  const fr::device_array<double> selected(fr::concatenate(0, large, one, small) + 0);
  BOOST_TEST((elements(y) == elements(selected)));
  fr::device_array<float> z({700});
  z = fr::concatenate(0, small, fr::device_array<fr::half>({200}, fr::half(0.1f)), one);
  const fr::device_array<float> also(fr::concatenate(0, small, fr::device_array<fr::half>({200}, fr::half(0.1f)), one) +
                                     0);
  BOOST_TEST((elements(z) == elements(also)));
}

BOOST_AUTO_TEST_CASE(random_arrays) {
  for (std::size_t seed = 0; seed != support::seeds(30); ++seed) {
    const fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t n) { return random() % n; };
    const std::size_t axis = below(3);
    fr::extents<3> e[3];
    for (auto& one : e) one = {3, 4, 70};
    for (auto& one : e) one[axis] = below(200);
    const auto a = counted<double>(e[0]), c = counted<double>(e[2], 7);
    const auto b = counted<std::int16_t>(e[1]);
    const auto both = fr::concatenate(static_cast<int>(axis), a, b, c);
    fr::device_array<double, 3> y(both.extents()), z(both.extents());
    y = both;
    z = both + 0;
    BOOST_TEST((elements(y) == elements(z)), "seed " << seed);
  }
}

BOOST_FIXTURE_TEST_CASE(nothing_is_written_if_an_array_was_freed, on_two_devices) {
  const auto a = counted<int>(fr::extents<1>{100});
  auto b = counted<int>(fr::extents<1>{100});
  b.name("b");
  fr::device_array<int> y({200}, 5);
  const auto e = fr::concatenate(0, a, b);
  b.free();
  check_error<fr::use_after_free>([&] { y = e; }, {"array 'b'"});
  BOOST_TEST((elements(y) == std::vector<int>(200, 5)));
}

BOOST_AUTO_TEST_SUITE_END()
