// Destinations that are operands: the same elements in place, other overlaps through a temporary, exchanges.
#include <random>
#include <set>

#include "counted_runtime.hpp"
#include "expressions/bound_program.hpp"
#include "expressions_fixture.hpp"
#include "support/seeds.hpp"

namespace expressions_aliasing {
namespace {

using namespace expressions_test;

using expressions_test::counted_runtime;

// Any part of an array that begins at `data`: some elements of each of three axes, in steps, forwards or backwards.
fr::detail::program_operand any_part(std::mt19937_64& random, const std::byte* data, const std::array<int, 3>& extents,
                                     int most_step, fr::detail::scalar_type type) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  fr::detail::program_operand o;
  o.data = data, o.type = type, o.shape.rank = 3;
  auto stride = static_cast<std::ptrdiff_t>(fr::detail::size_of(type));
  for (std::size_t d = 0; d != 3; ++d) {  // the last axis first
    const int first = below(extents[d]), step = 1 + below(most_step),
              n = 1 + below((extents[d] - 1 - first) / step + 1);
    const bool back = below(3) == 0;
    o.data += stride * (back ? first + (n - 1) * step : first);
    o.shape.extent[d] = static_cast<std::size_t>(n);
    o.stride_bytes[d] = n == 1 ? 0 : back ? -step * stride : step * stride;
    stride *= extents[d];
  }
  return o;
}
std::set<const std::byte*> bytes_of(const fr::detail::program_operand& o) {
  std::set<const std::byte*> all;
  const auto& e = o.shape.extent;
  for (std::size_t i = 0; i != e[0] * e[1] * e[2]; ++i) {
    const std::size_t at[] = {i % e[0], i / e[0] % e[1], i / e[0] / e[1]};
    const std::byte* p = o.data;
    for (std::size_t d = 0; d != 3; ++d) p += static_cast<std::ptrdiff_t>(at[d]) * o.stride_bytes[d];
    for (std::size_t b = 0; b != fr::detail::size_of(o.type); ++b) all.insert(p + b);
  }
  return all;
}
bool have_common_bytes(const fr::detail::program_operand& a, const fr::detail::program_operand& b) {
  const auto in_a = bytes_of(a), in_b = bytes_of(b);
  return std::any_of(in_a.begin(), in_a.end(), [&](const std::byte* p) { return in_b.count(p) != 0; });
}

}  // namespace
}  // namespace expressions_aliasing

BOOST_AUTO_TEST_SUITE(expressions_aliasing)
using namespace expressions_aliasing;
using fr::extents;

BOOST_AUTO_TEST_CASE(the_same_elements_are_replaced_in_place_by_one_submission) {
  counted_runtime r;
  auto y = counted<float>(extents<1>{5});
  BOOST_TEST(r.evaluations_during([&] { y = y * 2 + 1; }) == 1);
  CHECK_ELEMENTS(y, {1, 3, 5, 7, 9});
  BOOST_TEST(r.evaluations_during([&] { y += y; }) == 1);
  BOOST_TEST(r.evaluations_during([&] { y = fr::where(y > 6, -y, y); }) == 1);
  CHECK_ELEMENTS(y, {2, 6, -10, -14, -18});
  auto part = y.slice({1, 3});
  BOOST_TEST(r.evaluations_during([&] { part = part * 2 + y.slice({3, 5}); }) == 1);
  CHECK_ELEMENTS(y, {2, -2, -38, -14, -18});
}

BOOST_AUTO_TEST_CASE(disjoint_parts_of_an_array_need_no_temporary) {
  counted_runtime r;
  auto y = counted<float>(extents<1>{6});
  BOOST_TEST(r.evaluations_during([&] { y.slice({0, 3}) = y.slice({3, 6}) + 0; }) == 1);
  CHECK_ELEMENTS(y, {3, 4, 5, 3, 4, 5});
  BOOST_TEST(r.evaluations_during([&] {
    y.slice({0, 6, 2}) = y.slice({1, 6, 2}) * 10;
  }) == 1);  // even and odd elements
  CHECK_ELEMENTS(y, {40, 4, 30, 3, 50, 5});
  auto m = counted<float>(extents<2>{3, 3});
  BOOST_TEST(r.evaluations_during([&] { m.slice({fr::all_of, {0, 1}}) = m.slice({fr::all_of, {2, 3}}) + 0; }) == 1);
  CHECK_ELEMENTS(m, {2, 1, 2, 5, 4, 5, 8, 7, 8});
  // Several columns, and a mirrored plane in the middle of three dimensions.
  auto c = counted<float>(extents<2>{3, 4});
  BOOST_TEST(r.evaluations_during([&] { c.slice({fr::all_of, {0, 2}}) = c.slice({fr::all_of, {2, 4}}) + 0; }) == 1);
  CHECK_ELEMENTS(c, {2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11});
  BOOST_TEST(r.evaluations_during([&] { c.slice({fr::all_of, {0, 2}}) = c.slice({fr::all_of, {1, 3}}) + 0; }) == 2);
  CHECK_ELEMENTS(c, {3, 2, 2, 3, 7, 6, 6, 7, 11, 10, 10, 11});
  auto p = counted<int>(extents<3>{2, 4, 1});
  BOOST_TEST(r.evaluations_during([&] { p.slice({fr::all_of, {0, 2}}) = p.slice({fr::all_of, {2, 4, -1}}) + 0; }) == 1);
  CHECK_ELEMENTS(p, {3, 2, 2, 3, 7, 6, 6, 7});
}

// Exact for boxes of one array. Never false for parts that overlap: of other steps, shapes of the array, and types.
BOOST_AUTO_TEST_CASE(parts_that_overlap_are_found) {
  static std::byte memory[4096];
  std::size_t overlaps = 0;
  for (std::size_t seed = 0; seed < support::seeds(4000); ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const std::array<int, 3> e{1 + below(6), 1 + below(6), 1 + below(6)},
        other{1 + below(9), 1 + below(9), 1 + below(4)};
    const auto box = any_part(random, memory, e, 1, fr::detail::scalar_type::float32);
    const auto same = any_part(random, memory, e, 1, fr::detail::scalar_type::float32);
    BOOST_TEST(fr::detail::may_overlap(box, same) == have_common_bytes(box, same), "boxes of seed " << seed);
    const auto steps = any_part(random, memory, e, 3, fr::detail::scalar_type::float32);
    const auto shape = any_part(random, memory + below(9), other, 3, fr::detail::scalar_type::int16);
    for (const auto* one : {&box, &steps})
      for (const auto* two : {&steps, &shape})
        if (have_common_bytes(*one, *two)) {
          ++overlaps;
          BOOST_TEST(fr::detail::may_overlap(*one, *two), "parts of seed " << seed);
          BOOST_TEST(fr::detail::may_overlap(*two, *one), "parts of seed " << seed);
        }
  }
  BOOST_TEST(overlaps > 0u);
}

BOOST_AUTO_TEST_CASE(overlaps_read_what_was_there_before) {
  counted_runtime r;
  auto y = counted<int>(extents<1>{5});
  BOOST_TEST(r.evaluations_during([&] { y.slice({1, 5}) = y.slice({0, 4}) + 0; }) == 2);
  CHECK_ELEMENTS(y, {0, 0, 1, 2, 3});
  BOOST_TEST(r.evaluations_during([&] { y.slice({0, 4}) = y.slice({1, 5}) + 0; }) == 2);
  CHECK_ELEMENTS(y, {0, 1, 2, 3, 3});
  y.slice({1, 5}) += y.slice({0, 4});
  CHECK_ELEMENTS(y, {0, 1, 3, 5, 6});
  fr::array_view<int, 1, fr::memory_kind::device> back(y.owner(), y.unsynchronized_data() + 4, extents<1>{5}, {-1});
  y = back * 1;
  CHECK_ELEMENTS(y, {6, 5, 3, 1, 0});
  y = y - y.slice({0, 1});  // one element is stretched
  CHECK_ELEMENTS(y, {0, -1, -3, -5, -6});
}

BOOST_AUTO_TEST_CASE(transposed_operands_of_their_own_array_go_through_a_temporary) {
  auto m = counted<int>(extents<2>{3, 3});
  m = m.transpose() + m;
  CHECK_ELEMENTS(m, {0, 4, 8, 4, 8, 12, 8, 12, 16});
  auto large = counted<float>(extents<2>{70, 70});
  large = large.transpose() * 1;
  bool good = true;
  const auto v = elements(large);
  for (std::size_t i = 0; i != 70; ++i)
    for (std::size_t j = 0; j != 70; ++j) good = good && v[i * 70 + j] == static_cast<float>(j * 70 + i);
  BOOST_TEST(good);
}

BOOST_AUTO_TEST_CASE(memory_seen_as_another_type_goes_through_a_temporary) {
  counted_runtime r;
  auto y = counted<int>(extents<1>{4});
  fr::array_view<float, 1, fr::memory_kind::device> other(y.owner(), reinterpret_cast<float*>(y.unsynchronized_data()),
                                                          extents<1>{4}, {1});
  BOOST_TEST(r.evaluations_during([&] { y = fr::cast<int>(other * 0) + 5; }) == 2);
  CHECK_ELEMENTS(y, {5, 5, 5, 5});
}

BOOST_AUTO_TEST_CASE(parts_of_complex_numbers_overlap_the_numbers) {
  using z = std::complex<float>;
  counted_runtime r;
  auto y = array_of<z>({{1, 2}, {3, 4}, {5, 6}});
  fr::array_view<float, 1, fr::memory_kind::device> imaginary(
      y.owner(), reinterpret_cast<float*>(y.unsynchronized_data()) + 1, extents<1>{3}, {2});
  BOOST_TEST(r.evaluations_during([&] { y.slice({1, 3}) = fr::make_complex(imaginary.slice({0, 2}), 7); }) == 2);
  CHECK_ELEMENTS(y, {z(1, 2), z(2, 7), z(4, 7)});
  fr::array_view<float, 1, fr::memory_kind::device> real(y.owner(), reinterpret_cast<float*>(y.unsynchronized_data()),
                                                         extents<1>{3}, {2});
  BOOST_TEST(r.evaluations_during([&] { real = imaginary * 1; }) == 1);  // no bytes in common
  CHECK_ELEMENTS(y, {z(2, 2), z(7, 7), z(7, 7)});
  BOOST_TEST(r.evaluations_during([&] { imaginary.slice({0, 2}) = fr::real(y.slice({1, 3})) + 1; }) == 2);
  CHECK_ELEMENTS(y, {z(2, 8), z(7, 8), z(7, 7)});
}

BOOST_AUTO_TEST_CASE(masked_overlaps_keep_the_other_elements) {
  auto y = counted<int>(extents<1>{5});
  const auto mask = mask_of({true, false, true, false});
  auto to = y.slice({1, 5});
  to = fr::where(mask, y.slice({0, 4}) + 10, to);
  CHECK_ELEMENTS(y, {0, 10, 2, 12, 4});
}

BOOST_AUTO_TEST_CASE(arrays_are_exchanged_in_one_submission) {
  counted_runtime r;
  auto x = counted<float>(extents<1>{4}), y = counted<float>(extents<1>{4}, 10);
  BOOST_TEST(r.evaluations_during([&] { fr::assign(x, y, y, x); }) == 1);
  CHECK_ELEMENTS(x, {10, 11, 12, 13});
  CHECK_ELEMENTS(y, {0, 1, 2, 3});
  fr::assign(x, x + y, y, x - y);
  CHECK_ELEMENTS(x, {10, 12, 14, 16});
  CHECK_ELEMENTS(y, {10, 10, 10, 10});
  fr::assign(x, fr::where(x > 12, x, y), y, fr::where(x > 12, y, x));
  CHECK_ELEMENTS(x, {10, 10, 14, 16});
  CHECK_ELEMENTS(y, {10, 12, 10, 10});
}

BOOST_AUTO_TEST_CASE(outputs_that_overlap_operands_of_others_go_through_temporaries) {
  auto y = counted<int>(extents<1>{6});
  fr::device_array<int> z({3});
  auto low = y.slice({0, 3});
  fr::assign(low, y.slice({1, 4}) * 10, z, low + y.slice({3, 6}));
  CHECK_ELEMENTS(y, {10, 20, 30, 3, 4, 5});
  CHECK_ELEMENTS(z, {3, 5, 7});
  fr::assign(z, low + 0, low, y.slice({2, 5}) + z);
  CHECK_ELEMENTS(z, {10, 20, 30});
  CHECK_ELEMENTS(y, {33, 8, 11, 3, 4, 5});
}

BOOST_AUTO_TEST_SUITE_END()
