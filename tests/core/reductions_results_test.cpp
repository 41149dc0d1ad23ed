// Destinations of reductions: scalars, arrays, views, expressions, streams, graphs; and refused calls.
#include <cmath>

#include "counted_runtime.hpp"
#include "expressions_fixture.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/core/reduce.hpp"

namespace reductions_results {
namespace {

namespace fr = ferry;
using expressions_test::array_of;
using expressions_test::check_error;
using expressions_test::counted;

struct on_two_devices {
  fr::simulation sim{"devices=2;check=races;schedule=random:5"};
};

using matrix = fr::device_array<double, 2>;

// Elements 0, 1, ... of 3 x 4.
matrix three_by_four() { return counted<double>(fr::extents<2>{3, 4}); }

}  // namespace
}  // namespace reductions_results

BOOST_FIXTURE_TEST_SUITE(reductions_results, on_two_devices)

BOOST_AUTO_TEST_CASE(axes_are_named_from_both_ends) {
  const matrix a = three_by_four();
  CHECK_ELEMENTS(matrix(fr::sum(a, fr::axes{0}, fr::keep_dims)), {12, 15, 18, 21});
  CHECK_ELEMENTS((fr::device_array<double, 1>(fr::sum(a, fr::axes{0}))), {12, 15, 18, 21});
  CHECK_ELEMENTS((fr::device_array<double, 1>(fr::sum(a, fr::axes{-2}))), {12, 15, 18, 21});
  CHECK_ELEMENTS((fr::device_array<double, 1>(fr::sum(a, fr::axes{1}))), {6, 22, 38});
  CHECK_ELEMENTS((fr::device_array<double, 1>(fr::sum(a, fr::axes{-1}))), {6, 22, 38});
  BOOST_TEST(double(fr::sum(a, fr::axes{1, 0})) == 66.);
  CHECK_ELEMENTS(matrix(fr::sum(a, fr::keep_dims)), {66});
  CHECK_ELEMENTS((fr::device_array<double, 1>(fr::mean(a, fr::axes{1}))), {1.5, 5.5, 9.5});
  const auto t = counted<int>(fr::extents<3>{2, 3, 4});
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 1>(fr::sum(t, fr::axes{0, 2}))), {60, 92, 124});
  CHECK_ELEMENTS((fr::device_array<int, 2>(fr::max(t, fr::axes{1}))), {8, 9, 10, 11, 20, 21, 22, 23});
}

BOOST_AUTO_TEST_CASE(the_expression_is_part_of_the_reduction) {
  const matrix a = three_by_four();
  const auto row = array_of<double>({1, 0, 0, 1});
  BOOST_TEST(double(fr::sum(a * row + 1.)) == 45.);
  BOOST_TEST(double(fr::dot(row, row)) == 2.);
  BOOST_TEST(std::uint64_t(fr::count(a > 3. && a < 7.)) == 3u);
  BOOST_TEST(std::int64_t(fr::sum(fr::index(0) * 0 + fr::lazy_arange<int>(0, 101))) == 5050);
  BOOST_TEST(fr::sum(a * row, fr::axes{0}).text().find("axes{0}") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_assigned_reduction_is_one_submission) {
  expressions_test::counted_runtime r;
  const auto alone = [](const expressions_test::submission_counts& c) {
    return c.reductions == 1 && c.evaluations == 0;
  };
  const matrix a = three_by_four();
  matrix y(a.extents());
  fr::device_array<double, 1> line({3});
  fr::stream s(fr::device(0));
  BOOST_TEST(alone(r.during([&] { y = fr::cumsum(a, 1); })));
  BOOST_TEST(alone(r.during([&] { fr::assign(y, fr::cumsum(a, 1)); })));
  BOOST_TEST(alone(r.during([&] { fr::assign(s, y, fr::cumsum(a, 1)); })));
  const auto sums = fr::sum(a, fr::axes{1});
  BOOST_TEST(alone(r.during([&] { fr::assign(s, line, sums); })));
  BOOST_TEST(alone(r.during([&] { fr::device_array<double, 1> made(fr::sum(a, fr::axes{1})); })));
  BOOST_TEST(alone(r.during([&] { (void)fr::reduce_all(fr::sum(a), fr::max(a)); })));
  CHECK_ELEMENTS(y, {0, 1, 3, 6, 4, 9, 15, 22, 8, 17, 27, 38});
  CHECK_ELEMENTS(line, {6, 22, 38});
}

BOOST_AUTO_TEST_CASE(kernels_of_reductions_are_prepared_and_explained) {
  const matrix a = three_by_four();
  BOOST_TEST(!fr::precompile(fr::sum(a)));  // simulated devices compile nothing
  expressions_test::counted_runtime r;
  BOOST_TEST(r.during([&] { BOOST_TEST(fr::precompile(fr::sum(a * a, fr::axes{0}))); }).results == 1u);
  BOOST_TEST(r.during([&] { BOOST_TEST(fr::precompile(fr::sum(a), fr::max(a), fr::norm(a))); }).results == 3u);
  BOOST_TEST(r.during([&] { BOOST_TEST(fr::precompile(fr::cumsum(a, 0))); }).prepared == 1);
  BOOST_TEST(r.during([&] { BOOST_TEST(fr::precompile(fr::bincount(fr::cast<int>(a), 5))); }).prepared == 1);
  const matrix none({0, 4});
  BOOST_TEST(r.during([&] { BOOST_TEST(fr::precompile(fr::sum(none))); }).prepared == 0);
  const std::string text = fr::explain(fr::sum(a * a, fr::axes{0}));
  BOOST_TEST(text.find("in one pass\n  the text of the backend\n") != std::string::npos, text);
  check_error<fr::invalid_argument>([&] { (void)fr::precompile(fr::sum(a), fr::sum(a, fr::axes{0})); },
                                    {"reduce different axes"});
}

BOOST_AUTO_TEST_CASE(scalars_are_operands_without_waiting) {
  fr::stream s(fr::device(1));
  fr::device_array<float, 1> a({1000}, fr::device(1)), b({1000}, fr::device(1));
  fr::assign(s, a, fr::cast<float>(fr::index(0)) + 1.f);
  const fr::scalar<float> most = fr::max(a);
  b = a / most;
  BOOST_TEST(float(fr::max(b)) == 1.f);
  BOOST_TEST(float(most) == 1000.f);
  // The reduction itself is an operand as well.
  b = a / fr::max(a);
  BOOST_TEST(float(fr::min(b)) == 1.f / 1000.f);
  matrix m = three_by_four();
  m = m - fr::mean(m, fr::axes{1}, fr::keep_dims);
  CHECK_ELEMENTS(m, {-1.5, -.5, .5, 1.5, -1.5, -.5, .5, 1.5, -1.5, -.5, .5, 1.5});
}

BOOST_AUTO_TEST_CASE(a_scalar_keeps_its_value_when_the_array_changes) {
  matrix a = three_by_four();
  const fr::scalar<double> before = fr::sum(a);
  a = a * 2;
  BOOST_TEST(double(before) == 66.);
  BOOST_TEST(double(fr::sum(a)) == 132.);
  const auto later = fr::sum(a);  // computed when it is assigned
  a = a * 0;
  const fr::scalar<double> now = later;
  BOOST_TEST(double(now) == 0.);
}

BOOST_AUTO_TEST_CASE(results_go_to_arrays_and_views_of_any_type) {
  const matrix a = three_by_four();
  matrix out({3, 4});
  out = 0. * fr::index(0);
  fr::array_view<double, 1, fr::memory_kind::device> column(out.owner(), out.unsynchronized_data() + 2, {3}, {4});
  column = fr::sum(a, fr::axes{1});
  CHECK_ELEMENTS(out, {0, 0, 6, 0, 0, 0, 22, 0, 0, 0, 38, 0});
  fr::device_array<float, 1> narrow({4});
  narrow = fr::sum(a, fr::axes{0});
  CHECK_ELEMENTS(narrow, {12, 15, 18, 21});
  fr::device_array<fr::half, 0> half_sum{fr::extents<0>()};
  half_sum = fr::sum(a);
  fr::host_array<double, 1> here({4});
  here = fr::max(a, fr::axes{0});
  CHECK_ELEMENTS(here, {8, 9, 10, 11});
  fr::unified_array<std::int64_t, 1> where({3});
  where = fr::argmax(a, fr::axes{1});
  CHECK_ELEMENTS(where, {3, 3, 3});
}

BOOST_AUTO_TEST_CASE(a_result_may_replace_what_is_read) {
  matrix a = three_by_four();
  fr::array_view<double, 1, fr::memory_kind::device> row(a.owner(), a.unsynchronized_data() + 4, {4}, {1});
  row = fr::sum(a, fr::axes{0});
  CHECK_ELEMENTS(a, {0, 1, 2, 3, 12, 15, 18, 21, 8, 9, 10, 11});
  a = fr::cumsum(a, 1);
  CHECK_ELEMENTS(a, {0, 1, 3, 6, 12, 27, 45, 66, 8, 17, 27, 38});
  // The sums of the first rows are stored where the last row is read later.
  fr::device_array<double, 2> b({1000, 1000});
  b = 1. + 0. * fr::index(0);
  fr::array_view<double, 1, fr::memory_kind::device> last(b.owner(), b.unsynchronized_data() + 999 * 1000, {1000}, {1});
  last = fr::sum(b, fr::axes{1});
  BOOST_TEST(double(fr::min(last)) == 1000.);
  BOOST_TEST(double(fr::max(last)) == 1000.);
}

BOOST_AUTO_TEST_CASE(several_in_one_pass) {
  const matrix a = three_by_four();
  const auto [total, most, where] = fr::reduce_all(fr::sum(a), fr::max(fr::abs(a - 8.)), fr::argmin(a * -1.));
  BOOST_TEST(double(total) == 66.);
  BOOST_TEST(double(most) == 8.);
  BOOST_TEST(std::int64_t(where) == 11);
  const auto [low, mean] = fr::reduce_all(fr::min(a, fr::axes{0}), fr::mean(a, fr::axes{0}, fr::keep_dims));
  CHECK_ELEMENTS(low, {0, 1, 2, 3});
  CHECK_ELEMENTS(mean, {4, 5, 6, 7});
}

BOOST_AUTO_TEST_CASE(on_a_stream_and_in_a_graph) {
  fr::stream s(fr::device(0));
  matrix a = three_by_four();
  fr::device_array<double, 1> rows({3});
  fr::assign(s, rows, fr::sum(a, fr::axes{1}));
  CHECK_ELEMENTS(rows, {6, 22, 38});
  fr::device_array<double, 0> total{fr::extents<0>()};
  fr::graph g = fr::capture(s, [&] {
    fr::assign(s, rows, fr::max(a, fr::axes{1}));
    fr::assign(s, total, fr::sum(rows));
    fr::assign(s, a, a + 1.);
  });
  for (int k = 0; k != 3; ++k) g.launch(s);
  CHECK_ELEMENTS(rows, {5, 9, 13});
  CHECK_ELEMENTS(total, {27});
}

BOOST_AUTO_TEST_CASE(one_submission) {
  fr::device_array<float, 1> a({100000}), b({100000});
  a = 1.f * fr::index(0), b = 2.f * fr::index(0);
  fr::synchronize();
  const std::string text = fr::explain(fr::sum(a + b));
  BOOST_TEST(text.find("800000 bytes, in one pass") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(errors_name_arrays_and_shapes) {
  matrix a = three_by_four();
  a.name("heights");
  fr::device_array<double, 1> four({4}), three({3});
  four.name("sums");
  check_error<fr::invalid_argument>([&] { four = fr::sum(a, fr::axes{1}); },
                                    {"sum(heights, axes{1})", "of 3", "array 'sums' of 4 doubles"});
  check_error<fr::invalid_argument>([&] { four = fr::sum(a, fr::axes{2}); },
                                    {"sum('heights' of 3 x 4)", "no axis 2", "-1 to -2"});
  check_error<fr::invalid_argument>([&] { four = fr::sum(a, fr::axes{-3}); }, {"no axis -3"});
  check_error<fr::invalid_argument>([&] { (void)double(fr::sum(a, fr::axes{0, -2})); }, {"axis -2 is named twice"});
  check_error<fr::invalid_argument>([&] { (void)fr::evaluate(fr::cumsum(a, 2)); }, {"cumsum", "no axis 2"});
  check_error<fr::invalid_argument>([&] { (void)fr::reduce_all(fr::sum(a), fr::sum(four)); },
                                    {"sum(sums)", "sum(heights)", "one pass over memory needs equal shapes"});
  check_error<fr::invalid_argument>([&] { (void)fr::reduce_all(fr::sum(a, fr::axes{0}), fr::sum(a, fr::axes{1})); },
                                    {"reduce different axes"});
  check_error<fr::invalid_argument>([&] { (void)fr::dot(four, three); }, {"dot", "'sums' of 4", "of 3"});
  auto later = fr::sum(a);
  { const matrix gone = std::move(a); }
  BOOST_TEST(double(fr::scalar<double>(later)) == 66.);  // it keeps the memory
}

BOOST_AUTO_TEST_CASE(of_memory_of_another_device) {
  fr::device_array<float, 1> a({5000}, fr::device(1)), sum_here({1}, fr::device(0));
  a = 1.f + 0.f * fr::index(0);
  fr::device_array<float, 0> total(fr::extents<0>(), fr::device(0));
  total = fr::sum(a);
  CHECK_ELEMENTS(total, {5000});
}

BOOST_AUTO_TEST_SUITE_END()
