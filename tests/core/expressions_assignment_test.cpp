// Assignments: forms, kinds of memory, masks, several outputs, streams, scalars on devices, members of soa, new arrays,
// values that are used again.
#include "expressions_fixture.hpp"
#include "ferry/core/borrow.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/fast_math.hpp"
#include "ferry/core/fill.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/core/scalar.hpp"
#include "ferry/core/soa_array.hpp"
#include "support/busy_stream.hpp"

namespace expressions_assignment {
namespace {

using namespace expressions_test;

template <fr::memory_kind Kind>
void check_kind() {
  fr::basic_array<float, 1, Kind> a({4}, 3.f), y({4}, 0.f);
  y = a * 2 + 1;
  CHECK_ELEMENTS(y, {7, 7, 7, 7});
  const fr::basic_array<float, 1, Kind> z(a - y);
  CHECK_ELEMENTS(z, {-4, -4, -4, -4});
}

}  // namespace
}  // namespace expressions_assignment

BOOST_AUTO_TEST_SUITE(expressions_assignment)
using namespace expressions_assignment;
using fr::extents;

BOOST_AUTO_TEST_CASE(every_kind_of_memory_takes_part) {
  check_kind<fr::memory_kind::device>();
  check_kind<fr::memory_kind::unified>();
  check_kind<fr::memory_kind::host>();
  fr::device_array<float> a({3}, 1.f);
  fr::unified_array<float> b({3}, 2.f);
  fr::host_array<float> c({3}, 4.f);
  a = a + b + c;
  CHECK_ELEMENTS(a, {7, 7, 7});
  c = b - a;
  CHECK_ELEMENTS(c, {-5, -5, -5});
  std::vector<float> v{1, 2, 3};
  auto p = fr::pin(v);
  p = p * 2 + b;
  p.give_back();
  BOOST_TEST(v == (std::vector<float>{4, 6, 8}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(compound_assignments_change_the_destination) {
  fr::device_array<int> y({3}, 7);
  const auto x = array_of<int>({1, 2, 3});
  y += x;
  CHECK_ELEMENTS(y, {8, 9, 10});
  y -= 2;
  y *= x + 0;
  CHECK_ELEMENTS(y, {6, 14, 24});
  y /= 4;
  CHECK_ELEMENTS(y, {1, 3, 6});
  y %= 4;
  y <<= x;
  CHECK_ELEMENTS(y, {2, 12, 16});
  y >>= 1;
  y |= 1;
  y ^= 3;
  y &= 6;
  CHECK_ELEMENTS(y, {2, 4, 2});
  y.slice({0, 2}) += 10;
  CHECK_ELEMENTS(y, {12, 14, 2});
}

BOOST_AUTO_TEST_CASE(masks_leave_the_other_elements) {
  auto y = counted<double>(extents<2>{2, 3});
  const auto row = mask_of({true, false, true});
  y = fr::where(row, -y, y);
  CHECK_ELEMENTS(y, {0, 1, -2, -3, 4, -5});
  y = fr::where(y < -2, 9, y);
  CHECK_ELEMENTS(y, {0, 1, -2, 9, 4, 9});
  y.transpose() = fr::where(y.transpose() == 9, 0, y.transpose());
  CHECK_ELEMENTS(y, {0, 1, -2, 0, 4, 0});
  const fr::device_array<bool, 0> no(extents<0>{}, false);
  y = fr::where(no, 100, y);
  CHECK_ELEMENTS(y, {0, 1, -2, 0, 4, 0});
}

// Elements that the mask leaves need not be defined.
BOOST_AUTO_TEST_CASE(masked_elements_of_halves_keep_their_bits) {
  const std::vector<std::uint16_t> bits{0x7e01, 0x7d55, 0x3c00};  // two NaN, 1
  fr::device_array<fr::half> y({3});
  fr::host_array<fr::half> h({3});
  for (std::size_t i = 0; i != 3; ++i) h(i) = fr::half::from_bits(bits[i]);
  fr::copy(h, y);
  y = fr::where(mask_of({false, false, true}), y + 1, y);
  const auto got = elements(y);
  BOOST_TEST(got[0].bits() == bits[0]);
  BOOST_TEST(got[1].bits() == bits[1]);
  BOOST_TEST(static_cast<float>(got[2]) == 2);
}

BOOST_AUTO_TEST_CASE(several_outputs_are_computed_together) {
  const auto a = counted<float>(extents<1>{4}, 1), b = counted<float>(extents<1>{4}, 5);
  fr::device_array<float> sum({4}), product({4});
  fr::device_array<bool> is_large({4});
  fr::assign(sum, a + b, product, a * b, is_large, a + b > 9);
  CHECK_ELEMENTS(sum, {6, 8, 10, 12});
  CHECK_ELEMENTS(product, {5, 12, 21, 32});
  CHECK_ELEMENTS(is_large, {0, 0, 1, 1});
  fr::device_array<int> zero({4}), copy_of_a({4});
  fr::assign(zero, 0, copy_of_a, fr::cast<int>(a));
  CHECK_ELEMENTS(zero, {0, 0, 0, 0});
  CHECK_ELEMENTS(copy_of_a, {1, 2, 3, 4});
}

// Values of strided outputs are stored after the last of them is computed.
BOOST_AUTO_TEST_CASE(values_of_several_strided_outputs_stay) {
  const auto a = array_of<int>({1, 2, 3, 4}), b = array_of<int>({1, 1, 1, 1});
  auto x = array_of<int>({0, 0, 0, 0, 0, 0, 0, 0}), y = x.clone();
  auto even = x.slice({0, 8, 2}), odd = y.slice({1, 8, 2});
  fr::assign(even, a + b, odd, (a + b) * 3);
  CHECK_ELEMENTS(x, {2, 0, 3, 0, 4, 0, 5, 0});
  CHECK_ELEMENTS(y, {0, 6, 0, 9, 0, 12, 0, 15});
}

BOOST_AUTO_TEST_CASE(assignments_on_a_stream_are_ordered_with_other_work) {
  fr::stream s, t;
  auto a = counted<float>(extents<1>{4});
  fr::device_array<float> y({4}, 0.f), z({4});
  fr::assign(s, a, a + 1);
  fr::assign(t, y, a * 2, z, a * 3);
  fr::assign(s, a, 0);
  CHECK_ELEMENTS(y, {2, 4, 6, 8});
  CHECK_ELEMENTS(z, {3, 6, 9, 12});
  CHECK_ELEMENTS(a, {0, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(scalars_on_a_device_are_read_without_waiting) {
  const fr::simulation sim("devices=1;schedule=random:3");
  fr::scalar<float> factor;
  auto a = counted<float>(extents<1>{3});
  fr::device_array<float> y({3});
  const fr::stream s;
  {
    support::busy_stream busy(s);
    fr::fill(s, factor.as_array(), 3.f);
    fr::assign(y, a * factor + 1);  // on another stream: waits for the fill there
    BOOST_TEST(busy.is_busy());
    BOOST_TEST(!factor.is_ready());
  }
  CHECK_ELEMENTS(y, {1, 4, 7});
  fr::assign(y, factor);
  CHECK_ELEMENTS(y, {3, 3, 3});
  CHECK_ELEMENTS(fr::lazy(factor) + 1, {4});
}

BOOST_AUTO_TEST_CASE(members_of_structures_are_operands_and_destinations) {
  fr::device_soa<float, int> p(4);
  fr::fill(p.member<0>(), 1.5f);
  p.member<1>() = fr::cast<int>(fr::index(0));
  p.member<0>() += p.member<1>() * 2;
  CHECK_ELEMENTS(p.member<0>(), {1.5, 3.5, 5.5, 7.5});
  CHECK_ELEMENTS(p.member<1>(), {0, 1, 2, 3});
}

BOOST_AUTO_TEST_CASE(expressions_keep_their_memory_and_are_evaluated_again) {
  auto a = std::make_unique<fr::device_array<float>>(extents<1>{3}, 2.f);
  const auto e = *a * *a + 1;
  CHECK_ELEMENTS(e, {5, 5, 5});
  fr::fill(*a, 3.f);
  fr::device_array<float> y({3});
  y = e;
  CHECK_ELEMENTS(y, {10, 10, 10});
  const auto twice = e + e;
  CHECK_ELEMENTS(twice, {20, 20, 20});
  auto view = a->slice({0, 3});
  const auto of_view = view + 1;
  CHECK_ELEMENTS(of_view, {4, 4, 4});
}

BOOST_AUTO_TEST_CASE(new_arrays_have_the_shape_and_the_device_of_the_expression) {
  const fr::simulation sim("devices=2");
  const fr::device_array<float, 2> a({2, 3}, fr::device(1));
  const fr::device_array<float, 2> z(a * 2);
  BOOST_TEST((z.extents() == extents<2>{2, 3}));
  BOOST_TEST((z.device() == fr::device(1)));
  auto e = fr::evaluate(a > 0);
  static_assert(std::is_same_v<decltype(e), fr::array<bool, 2>>);
  BOOST_TEST((e.device() == fr::device(1)));
  const auto h = fr::evaluate_to<fr::memory_kind::host>(fr::lazy_arange(0, 4));
  BOOST_TEST(h(3) == 3);
  BOOST_TEST((fr::evaluate(fr::lazy_arange(0, 4)).device() == fr::default_device()));
}

BOOST_AUTO_TEST_CASE(arrays_of_two_devices_take_part) {
  for (const char* const peers : {"", ";peers=none"}) {
    const fr::simulation sim("devices=2;check=races;schedule=random:5" + std::string(peers));
    fr::runtime::current().peers().kernels(fr::detail::peer_kernels::stage);
    const fr::device_array<float> a({1000}, 2.f, fr::device(0));
    fr::device_array<float> y({1000}, 1.f, fr::device(1));
    y += a * 10;
    y.slice({0, 1000, 2}) = a.slice({0, 500}) - y.slice({1, 1000, 2});
    const auto v = elements(y);
    BOOST_TEST(v[0] == -19);
    BOOST_TEST(v[998] == -19);
    BOOST_TEST(v[999] == 21);
  }
}

BOOST_AUTO_TEST_CASE(memory_that_the_device_does_not_reach_is_an_error) {
  const fr::simulation sim("devices=2;peers=none");
  fr::runtime::current().peers().kernels(fr::detail::peer_kernels::error);
  fr::device_array<float> a({10}, 2.f, fr::device(0)), y({10}, 1.f, fr::device(1));
  a.name("far");
  check_error<fr::peer_access_error>([&] { y = a * 2; }, {"'far'", "does not reach"});
  CHECK_ELEMENTS(y, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
}

BOOST_AUTO_TEST_CASE(assignments_are_captured_into_graphs) {
  fr::stream s;
  auto a = counted<float>(extents<1>{3});
  fr::device_array<float> y({3}, 0.f);
  fr::graph g = fr::capture(s, [&] { fr::assign(s, y, y + a); });
  g.launch(s);
  g.launch(s);
  CHECK_ELEMENTS(y, {0, 2, 4});
}

BOOST_AUTO_TEST_CASE(fast_math_is_a_scope_of_a_thread) {
  BOOST_TEST(ferry::detail::fast_math_depth() == 0);
  const auto x = array_of<float>({1, 2});
  fr::device_array<float> y({2});
  {
    const fr::math::fast outer;
    const fr::math::fast inner;
    BOOST_TEST(ferry::detail::fast_math_depth() == 2);
    y = x * 2 + 1;
  }
  BOOST_TEST(ferry::detail::fast_math_depth() == 0);
  CHECK_ELEMENTS(y, {3, 5});
}

BOOST_AUTO_TEST_SUITE_END()
