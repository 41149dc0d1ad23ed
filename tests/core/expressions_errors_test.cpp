// Errors of expressions: each names the arrays, the shapes and the remedy, and leaves everything as it was.
#include "expressions_fixture.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/core/submit.hpp"

BOOST_AUTO_TEST_SUITE(expressions_errors)
using namespace expressions_test;
using fr::extents;
using fr::invalid_argument;

BOOST_AUTO_TEST_CASE(shapes_that_do_not_broadcast_are_both_named) {
  fr::device_array<float, 2> a({3, 4});
  fr::device_array<float> b({3});
  a.name("a"), b.name("b");
  check_error<invalid_argument>([&] { (void)(a + b); },
                                {"'a'", "3 x 4", "'b'", "of 3 ", "do not broadcast", "new_axis"});
  check_error<invalid_argument>([&] { (void)(2 * a + b); }, {"'2 * a' of 3 x 4", "'b'"});
  check_error<invalid_argument>([&] { (void)fr::where(a > 0, a, b); }, {"do not broadcast"});
  check_error<invalid_argument>([&] { a += b; }, {"'a'", "'b'", "do not broadcast"});
}

BOOST_AUTO_TEST_CASE(destinations_are_not_stretched) {
  fr::device_array<float, 2> a({3, 4});
  fr::device_array<float, 2> row({1, 4}), y({3, 3});
  a.name("a"), row.name("row"), y.name("y");
  check_error<invalid_argument>([&] { row = a * 2; }, {"cannot assign 'a * 2' of 3 x 4", "'row'", "1 x 4"});
  check_error<invalid_argument>([&] { row += a; }, {"'row'", "1 x 4", "3 x 4"});
  check_error<invalid_argument>([&] { y = a + 1; }, {"'a + 1' of 3 x 4", "'y'", "3 x 3"});
  check_error<invalid_argument>([&] { fr::assign(y, row); }, {"1 x 4", "3 x 3"});
}

BOOST_AUTO_TEST_CASE(destinations_in_which_elements_repeat_are_refused) {
  auto a = counted<float>(extents<1>{3});
  fr::array_view<float, 2, fr::memory_kind::device> twice(a.owner(), a.unsynchronized_data(), extents<2>{2, 3}, {0, 1});
  check_error<invalid_argument>([&] { twice = a + 1; }, {"the same element"});
  CHECK_ELEMENTS(a, {0, 1, 2});
}

BOOST_AUTO_TEST_CASE(several_destinations_have_one_shape_and_do_not_overlap) {
  auto a = counted<float>(extents<1>{3}), b = counted<float>(extents<1>{4});
  a.name("a"), b.name("b");
  check_error<invalid_argument>([&] { fr::assign(a, a + 1, b, b + 1); }, {"'b'", "another shape"});
  auto low = b.slice({0, 3}), high = b.slice({1, 4});
  check_error<invalid_argument>([&] { fr::assign(low, a + 1, high, a + 2); }, {"'b'", "overlap"});
  check_error<invalid_argument>([&] { fr::assign(low, a + 1, low, a + 2); }, {"'b'", "overlap"});
  CHECK_ELEMENTS(b, {0, 1, 2, 3});
}

BOOST_AUTO_TEST_CASE(freed_arrays_are_named) {
  auto a = counted<float>(extents<1>{3});
  fr::device_array<float> y({3}, 5.f);
  a.name("gone");
  const auto e = a + 1;
  a.free();
  check_error<fr::use_after_free>([&] { y = e; }, {"gone", "freed"});
  check_error<fr::use_after_free>([&] { fr::device_array<float> z(e); }, {"gone", "freed"});
  CHECK_ELEMENTS(y, {5, 5, 5});
  auto to = y.slice({0, 3});
  y.free();
  check_error<fr::use_after_free>([&] { to = fr::lazy_arange(0.f, 3.f); }, {"freed"});
}

BOOST_AUTO_TEST_CASE(assignments_inside_of_a_submission_are_refused) {
  auto a = counted<float>(extents<1>{3});
  fr::stream s;
  bool was_refused = false;
  fr::submit(
      s,
      [&](fr::native_stream, const float*) {
        try {
          a = fr::lazy_arange(0.f, 3.f);
        } catch (const invalid_argument&) {
          was_refused = true;
        }
      },
      fr::in(a));
  BOOST_TEST(was_refused);
  CHECK_ELEMENTS(a, {0, 1, 2});
}

BOOST_AUTO_TEST_CASE(indices_along_missing_axes_are_refused) {
  fr::device_array<std::int64_t> y({3});
  check_error<invalid_argument>([&] { y = fr::index(1); }, {"index(1)", "1 dimensions"});
  check_error<invalid_argument>([&] { y = fr::index(-2); }, {"index(-2)", "1 dimensions"});
  check_error<invalid_argument>([] { (void)fr::index(6); }, {"index(6)", "0 to 5"});
  check_error<invalid_argument>([] { (void)fr::index(-7); }, {"index(-7)"});
}

BOOST_AUTO_TEST_CASE(generators_refuse_steps_that_never_end) {
  check_error<invalid_argument>([] { (void)fr::lazy_arange(0, 3, 0); }, {"step is 0"});
  check_error<invalid_argument>([] { (void)fr::lazy_arange(0., HUGE_VAL, 1.); }, {"no finite number"});
}

BOOST_AUTO_TEST_CASE(expressions_that_are_too_long_are_refused) {
  auto a = counted<float>(extents<1>{3});
  const auto grow = [&] {
    auto e = a + 1;
    for (int k = 2; k != 200; ++k) e = e * a + static_cast<float>(k);
  };
  check_error<invalid_argument>(grow, {"250 operations", "fr::evaluate"});
}

BOOST_AUTO_TEST_CASE(arrays_of_another_runtime_are_refused) {
  fr::simulation other("devices=1");
  auto theirs = std::make_unique<fr::device_array<float>>(extents<1>{3}, 1.f);
  theirs->name("theirs");
  const auto e = *theirs + 1;
  {
    fr::simulation ours("devices=1");
    fr::device_array<float> y({3}, 0.f);
    check_error<invalid_argument>([&] { y = e; }, {"'theirs'", "belongs to another runtime"});
    CHECK_ELEMENTS(y, {0, 0, 0});
  }
}

BOOST_AUTO_TEST_SUITE_END()
