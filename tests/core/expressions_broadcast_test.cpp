// Shapes of expressions: NumPy's broadcasting, views of any strides, extents of 0 and 1, short rows.
#include <numeric>

#include "expressions_fixture.hpp"

namespace expressions_broadcast {
namespace {

using namespace expressions_test;

// One row of NumPy's rule: two shapes and the common one.
template <std::size_t A, std::size_t B>
void check_shape(const fr::extents<A>& a, const fr::extents<B>& b, const fr::extents<(A > B ? A : B)>& expected) {
  const fr::device_array<float, A> x(a);
  const fr::device_array<float, B> y(b);
  BOOST_TEST((x + y).extents().text() == expected.text());
  BOOST_TEST((y + x).extents().text() == expected.text());
}

}  // namespace
}  // namespace expressions_broadcast

BOOST_AUTO_TEST_SUITE(expressions_broadcast)
using namespace expressions_test;
using expressions_broadcast::check_shape;
using fr::extents;

BOOST_AUTO_TEST_CASE(shapes_align_at_the_last_dimension) {
  check_shape(extents<1>{3}, extents<1>{3}, {3});
  check_shape(extents<1>{1}, extents<1>{3}, {3});
  check_shape(extents<2>{2, 3}, extents<1>{3}, {2, 3});
  check_shape(extents<2>{2, 1}, extents<1>{3}, {2, 3});
  check_shape(extents<2>{2, 1}, extents<2>{1, 3}, {2, 3});
  check_shape(extents<3>{4, 1, 3}, extents<2>{5, 1}, {4, 5, 3});
  check_shape(extents<2>{2, 0}, extents<2>{1, 1}, {2, 0});
  check_shape(extents<1>{1}, extents<1>{0}, {0});
  check_shape(extents<0>{}, extents<2>{2, 3}, {2, 3});
  check_shape(extents<6>{1, 2, 1, 2, 1, 2}, extents<1>{2}, {1, 2, 1, 2, 1, 2});
}

BOOST_AUTO_TEST_CASE(rows_and_columns_are_stretched) {
  const auto m = counted<int>(extents<2>{2, 3});
  const auto row = array_of<int>({10, 20, 30});
  auto column = array_of<int>({100, 200});
  CHECK_ELEMENTS(m + row, {10, 21, 32, 13, 24, 35});
  CHECK_ELEMENTS(m + fr::new_axis(column, 1), {100, 101, 102, 203, 204, 205});
  CHECK_ELEMENTS(fr::new_axis(column, 1) + row, {110, 120, 130, 210, 220, 230});
  CHECK_ELEMENTS(fr::new_axis(column, 1) - fr::new_axis(column, 0), {0, -100, 100, 0});
  const fr::device_array<int, 0> one(extents<0>{}, 7);
  CHECK_ELEMENTS(m * one, {0, 7, 14, 21, 28, 35});
}

BOOST_AUTO_TEST_CASE(new_axis_refuses_a_position_beyond_the_rank) {
  auto row = array_of<int>({1, 2});
  BOOST_TEST((fr::new_axis(row, 0).extents() == extents<2>{1, 2}));
  check_error<fr::invalid_argument>([&] { (void)fr::new_axis(row, 2); }, {"new_axis(view, 2)", "1 dimensions"});
}

BOOST_AUTO_TEST_CASE(expressions_are_stretched_to_their_destination) {
  fr::device_array<int, 2> y({2, 3}, 5);
  const auto row = array_of<int>({1, 2, 3});
  y += row;
  CHECK_ELEMENTS(y, {6, 7, 8, 6, 7, 8});
  y = fr::lazy(row) * 2;
  CHECK_ELEMENTS(y, {2, 4, 6, 2, 4, 6});
  fr::assign(y, 9);
  CHECK_ELEMENTS(y, {9, 9, 9, 9, 9, 9});
}

BOOST_AUTO_TEST_CASE(strided_views_are_operands_and_destinations) {
  auto m = counted<float>(extents<2>{3, 4});
  fr::device_array<float, 2> t({4, 3});
  t = m.transpose() * 1;
  CHECK_ELEMENTS(t, {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  t.transpose() = m + 100;
  CHECK_ELEMENTS(t, {100, 104, 108, 101, 105, 109, 102, 106, 110, 103, 107, 111});
  auto x = counted<float>(extents<1>{6});
  fr::device_array<float> y({6}, -1.f);
  y.slice({0, 6, 2}) = x.slice({1, 6, 2}) * 10;
  CHECK_ELEMENTS(y, {10, -1, 30, -1, 50, -1});
}

BOOST_AUTO_TEST_CASE(views_that_go_backwards_keep_their_order) {
  auto x = counted<int>(extents<1>{5});
  fr::array_view<int, 1, fr::memory_kind::device> back(x.owner(), x.unsynchronized_data() + 4, extents<1>{5}, {-1});
  fr::device_array<int> y({5});
  y = back + x * 10;
  CHECK_ELEMENTS(y, {4, 13, 22, 31, 40});
  back = fr::index(0) + 0 * back;
  CHECK_ELEMENTS(x, {4, 3, 2, 1, 0});
}

BOOST_AUTO_TEST_CASE(short_rows_give_the_same_elements) {
  for (const std::size_t columns : {1, 2, 3, 5}) {
    const std::size_t rows = 5000;
    const auto m = counted<double>(extents<2>{rows, columns});
    const auto row = counted<double>(extents<1>{columns}, 7);
    const auto got = elements(m * 2 + row);
    BOOST_TEST_REQUIRE(got.size() == rows * columns);
    bool good = true;
    for (std::size_t i = 0; i != got.size(); ++i) good = good && got[i] == 2. * double(i) + 7. + double(i % columns);
    BOOST_TEST(good, columns << " columns");
  }
}

BOOST_AUTO_TEST_CASE(empty_shapes_are_assigned_without_work) {
  fr::device_array<float, 2> y({0, 3});
  const auto row = array_of<float>({1, 2, 3});
  y = y + row;
  y += 1;
  fr::where(y > 0, y, y);
  BOOST_TEST(elements(y).empty());
  const fr::device_array<float, 2> z(y * 2);
  BOOST_TEST((z.extents() == extents<2>{0, 3}));
}

BOOST_AUTO_TEST_CASE(scalars_of_rank_0_are_destinations) {
  fr::device_array<float, 0> y(extents<0>{}, 2.f);
  y = y * 3 + 1;
  CHECK_ELEMENTS(y, {7});
  y += y;
  CHECK_ELEMENTS(y, {14});
}

BOOST_AUTO_TEST_CASE(indices_follow_the_destination) {
  fr::device_array<int, 2> y({2, 3});
  y = fr::cast<int>(fr::index(0) * 10 + fr::index(1));
  CHECK_ELEMENTS(y, {0, 1, 2, 10, 11, 12});
  y.transpose() = fr::cast<int>(fr::index(0) * 10 + fr::index(-1));
  CHECK_ELEMENTS(y, {0, 10, 20, 1, 11, 21});
  fr::device_array<std::int64_t, 6> z({1, 2, 1, 2, 1, 1});
  z = fr::index(0) + fr::index(1) * 100 + fr::index(3) + fr::index(-1);
  CHECK_ELEMENTS(z, {0, 1, 100, 101});
}

BOOST_AUTO_TEST_CASE(generators_take_no_memory) {
  CHECK_ELEMENTS(fr::lazy_arange(2, 9, 3), {2, 5, 8});
  CHECK_ELEMENTS(fr::lazy_arange(3., 0., -1.), {3, 2, 1});
  CHECK_ELEMENTS(fr::lazy_linspace(0., 1., 5), {0, 0.25, 0.5, 0.75, 1});
  CHECK_ELEMENTS(fr::lazy_linspace(3.f, 4.f, 1), {3});
  BOOST_TEST(elements(fr::lazy_arange(1, 1)).empty());
  // One value is stretched; its index is not that of the destination.
  fr::device_array<int> y({3});
  y = fr::lazy_arange(5, 6) + 0 * y;
  CHECK_ELEMENTS(y, {5, 5, 5});
  const auto x = fr::lazy_linspace(-1.f, 1.f, 1001);
  const auto v = elements(x);
  BOOST_TEST(v.back() == 1.f);
  BOOST_TEST(v[500] == 0.f);
}

BOOST_AUTO_TEST_SUITE_END()
