// Types and special values of reductions, and what they return for no elements.
#include <cmath>
#include <limits>

#include "expressions_fixture.hpp"
#include "ferry/core/reduce.hpp"

namespace reductions_types {
namespace {

namespace fr = ferry;
using expressions_test::array_of;
using expressions_test::check_error;
using expressions_test::mask_of;

struct on_simulated_devices {
  fr::simulation sim{"devices=2"};
};

template <class T>
using ones = fr::device_array<T, 2>;
template <class E>
using element_of_result = typename std::remove_cvref_t<E>::value_type;

#define CHECK_RESULT(type, ...) static_assert(std::is_same_v<element_of_result<decltype(__VA_ARGS__)>, type>)

// The table of docs/reductions.md.
template <class T, class Sum, class Mean>
constexpr bool has_types(ones<T>& a) {
  CHECK_RESULT(Sum, fr::sum(a));
  CHECK_RESULT(Sum, fr::prod(a, fr::axes{0}));
  CHECK_RESULT(Sum, fr::cumsum(a, 0));
  CHECK_RESULT(T, fr::min(a));
  CHECK_RESULT(T, fr::max(a, fr::axes{1}));
  CHECK_RESULT(Mean, fr::mean(a));
  CHECK_RESULT(Mean, fr::var(a));
  CHECK_RESULT(Mean, fr::std(a, fr::axes{0}, fr::ddof{1}));
  CHECK_RESULT(Mean, fr::norm(a));
  CHECK_RESULT(std::int64_t, fr::argmin(a));
  CHECK_RESULT(std::int64_t, fr::argmax(a, fr::axes{0}));
  return true;
}
template <class T, class Sum, class Mean>
inline constexpr bool is_in_table = sizeof(decltype(has_types<T, Sum, Mean>(std::declval<ones<T>&>()))) == 1;
static_assert(is_in_table<bool, std::uint64_t, double>);
static_assert(is_in_table<std::int8_t, std::int64_t, double>);
static_assert(is_in_table<std::uint16_t, std::uint64_t, double>);
static_assert(is_in_table<int, std::int64_t, double>);
static_assert(is_in_table<std::int64_t, std::int64_t, double>);
static_assert(is_in_table<std::uint64_t, std::uint64_t, double>);
static_assert(is_in_table<fr::half, float, float>);
static_assert(is_in_table<fr::bfloat16, float, float>);
static_assert(is_in_table<float, float, float>);
static_assert(is_in_table<double, double, double>);
[[maybe_unused]] void check_others(fr::device_array<std::complex<float>, 1>& z, ones<bool>& mask) {
  CHECK_RESULT(std::complex<float>, fr::sum(z));
  CHECK_RESULT(std::complex<float>, fr::mean(z));
  CHECK_RESULT(float, fr::norm(z));
  CHECK_RESULT(float, fr::var(z));
  CHECK_RESULT(double, fr::std(fr::cast<std::complex<double>>(z), fr::axes{0}));
  CHECK_RESULT(bool, fr::any(mask));
  CHECK_RESULT(bool, fr::all(mask, fr::axes{0}));
  CHECK_RESULT(std::uint64_t, fr::count(mask));
  static_assert(decltype(fr::sum(mask))::rank == 0);
  static_assert(decltype(fr::sum(mask, fr::axes{0}))::rank == 1);
  static_assert(decltype(fr::sum(mask, fr::axes{0, 1}))::rank == 0);
  static_assert(decltype(fr::sum(mask, fr::axes{0}, fr::keep_dims))::rank == 2);
  static_assert(decltype(fr::sum(mask, fr::keep_dims))::rank == 2);
}

const float nan_value = std::numeric_limits<float>::quiet_NaN();

}  // namespace
}  // namespace reductions_types

BOOST_FIXTURE_TEST_SUITE(reductions_types, on_simulated_devices)

BOOST_AUTO_TEST_CASE(integers_are_summed_in_64_bits) {
  const auto a = array_of<std::int8_t>(std::vector<std::int8_t>(1000, 100));
  BOOST_TEST(std::int64_t(fr::sum(a)) == 100000);
  const auto b = array_of<int>({2000000000, 2000000000, 2000000000});
  BOOST_TEST(std::int64_t(fr::sum(b)) == 6000000000);
  BOOST_TEST(std::int64_t(fr::prod(array_of<int>({2000000000, 2, -3}))) == -12000000000);
  const auto u = array_of<std::uint64_t>({~std::uint64_t(0), 3});  // wraps
  BOOST_TEST(std::uint64_t(fr::sum(u)) == 2u);
  BOOST_TEST(std::uint64_t(fr::max(u)) == ~std::uint64_t(0));
  BOOST_TEST(std::uint64_t(fr::sum(mask_of({true, false, true}))) == 2u);
  BOOST_TEST(std::uint64_t(fr::count(b > 5)) == 3u);
  BOOST_TEST(double(fr::mean(array_of<int>({1, 2}))) == 1.5);
}

BOOST_AUTO_TEST_CASE(half_is_summed_in_float) {
  std::vector<fr::half> v(3000, fr::half(40.f));
  const auto a = array_of(v);
  BOOST_TEST(float(fr::sum(a)) == 120000.f);  // above all values of half
  BOOST_TEST(float(fr::mean(a)) == 40.f);
  BOOST_TEST(float(fr::half(fr::max(a))) == 40.f);
  const auto b = array_of(std::vector<fr::bfloat16>(512, fr::bfloat16(1.f)));
  BOOST_TEST(float(fr::sum(b)) == 512.f);  // one by one in bfloat16 it would end at 256
}

BOOST_AUTO_TEST_CASE(nan_is_the_least_and_the_greatest) {
  const auto a = array_of<float>({1, nan_value, -3, nan_value});
  BOOST_TEST(std::isnan(float(fr::min(a))));
  BOOST_TEST(std::isnan(float(fr::max(a))));
  BOOST_TEST(std::isnan(float(fr::sum(a))));
  BOOST_TEST(std::isnan(float(fr::mean(a))));
  BOOST_TEST(std::isnan(float(fr::var(a))));
  BOOST_TEST(std::int64_t(fr::argmin(a)) == 1);
  BOOST_TEST(std::int64_t(fr::argmax(a)) == 1);
  // One NaN at any place of a long array, and in any column.
  for (const int at : {0, 1, 31, 32, 700, 2047, 2048, 4999}) {
    fr::device_array<float, 1> long_one({5000});
    long_one = fr::where(fr::index(0) == at, nan_value, 1.f * fr::index(0));
    BOOST_TEST(std::isnan(float(fr::max(long_one))), "NaN at " << at);
    BOOST_TEST(std::int64_t(fr::argmax(long_one)) == at);
    fr::device_array<float, 2> wide({5, 5000});
    wide = fr::where(fr::index(1) == at && fr::index(0) == 3, nan_value, 1.f * fr::index(1));
    fr::host_array<float, 1> column(fr::min(wide, fr::axes{0}));
    fr::host_array<std::int64_t, 1> row(fr::argmin(wide, fr::axes{0}));
    BOOST_TEST(std::isnan(column(static_cast<std::size_t>(at))));
    BOOST_TEST(column(static_cast<std::size_t>(at == 0)) == float(at == 0));
    BOOST_TEST(row(static_cast<std::size_t>(at)) == 3);
  }
}

BOOST_AUTO_TEST_CASE(zeros_have_an_order_and_ties_do_not) {
  BOOST_TEST(std::signbit(float(fr::min(array_of<float>({0.f, -0.f, 0.f})))));
  BOOST_TEST(!std::signbit(float(fr::max(array_of<float>({-0.f, 0.f, -0.f})))));
  BOOST_TEST(std::int64_t(fr::argmin(array_of<float>({0.f, -0.f, 0.f}))) == 0);
  BOOST_TEST(std::int64_t(fr::argmax(array_of<int>({1, 7, 7, 7}))) == 1);
  fr::device_array<int, 2> a({100, 100});
  a = 5 - (fr::index(0) % 10 == 3 && fr::index(1) % 10 == 4);
  BOOST_TEST(std::int64_t(fr::argmin(a)) == 304);
  fr::host_array<std::int64_t, 1> first(fr::argmin(a, fr::axes{0}));
  BOOST_TEST(first(14) == 3);
  BOOST_TEST(first(15) == 0);
}

BOOST_AUTO_TEST_CASE(positions_are_those_of_the_indices_and_not_of_memory) {
  fr::device_array<int, 2> a({300, 700});
  a = -((fr::index(0) == 7 && fr::index(1) == 20) || (fr::index(0) == 5 && fr::index(1) == 650));
  BOOST_TEST(std::int64_t(fr::argmin(a)) == 5 * 700 + 650);
  fr::array_view<int, 2, fr::memory_kind::device> turned(a.owner(), a.unsynchronized_data(), {700, 300}, {1, 700});
  BOOST_TEST(std::int64_t(fr::argmin(turned)) == 20 * 300 + 7);
  fr::array_view<int, 1, fr::memory_kind::device> backwards(a.owner(), a.unsynchronized_data() + 300 * 700 - 1,
                                                            {300 * 700}, {-1});
  BOOST_TEST(std::int64_t(fr::argmin(backwards)) == 300 * 700 - 1 - (7 * 700 + 20));
}

BOOST_AUTO_TEST_CASE(infinities_stay) {
  const float inf = std::numeric_limits<float>::infinity();
  BOOST_TEST(float(fr::sum(array_of<float>({1, inf}))) == inf);
  BOOST_TEST(std::isnan(float(fr::sum(array_of<float>({-inf, inf})))));
  BOOST_TEST(float(fr::min(array_of<float>({inf, inf}))) == inf);
  BOOST_TEST(float(fr::max(array_of<float>({-inf, -inf}))) == -inf);
  BOOST_TEST(float(fr::norm(array_of<float>({3, 4}))) == 5.f);
  BOOST_TEST(float(fr::norm(array_of<float>({1e30f, 1}))) == inf);
}

BOOST_AUTO_TEST_CASE(no_elements) {
  fr::device_array<float, 2> a({0, 3});
  BOOST_TEST(float(fr::sum(a)) == 0.f);
  BOOST_TEST(float(fr::prod(a)) == 1.f);
  BOOST_TEST(float(fr::norm(a)) == 0.f);
  BOOST_TEST(std::isnan(float(fr::mean(a))));
  BOOST_TEST(std::isnan(float(fr::std(a))));
  BOOST_TEST(bool(fr::all(a > 0)));
  BOOST_TEST(!bool(fr::any(a > 0)));
  BOOST_TEST(std::uint64_t(fr::count(a > 0)) == 0u);
  CHECK_ELEMENTS((fr::device_array<float, 1>(fr::prod(a, fr::axes{0}))), {1, 1, 1});
  BOOST_TEST((fr::device_array<float, 1>(fr::min(a, fr::axes{1}))).size() == 0u);
  check_error<fr::invalid_argument>([&] { (void)float(fr::min(a)); }, {"min(", "0 x 3", "over no elements"});
  check_error<fr::invalid_argument>([&] { (void)fr::evaluate(fr::argmax(a + 1, fr::axes{0})); },
                                    {"argmax(", " + 1, axes{0})"});
  BOOST_TEST(float(fr::sum(a)) == 0.f);  // the program continues
}

BOOST_AUTO_TEST_CASE(one_element) {
  fr::device_array<double, 3> a({1, 1, 1});
  a = -2.5 + 0 * fr::index(0);
  BOOST_TEST(double(fr::sum(a)) == -2.5);
  BOOST_TEST(double(fr::min(a)) == -2.5);
  BOOST_TEST(double(fr::var(a)) == 0.);
  BOOST_TEST(std::isnan(double(fr::var(a, fr::ddof{1}))));
  BOOST_TEST(std::int64_t(fr::argmax(a)) == 0);
  CHECK_ELEMENTS((fr::device_array<double, 2>(fr::max(a, fr::axes{1}))), {-2.5});
  fr::device_array<int, 2> b({1, 3});
  b = fr::cast<int>(fr::index(1) * fr::index(1));
  CHECK_ELEMENTS((fr::device_array<std::int64_t, 1>(fr::sum(b, fr::axes{0}))), {0, 1, 4});
}

BOOST_AUTO_TEST_CASE(moments) {
  const auto a = array_of<double>({1, 2, 3, 4});
  BOOST_TEST(double(fr::mean(a)) == 2.5);
  BOOST_TEST(double(fr::var(a)) == 1.25);
  BOOST_TEST(double(fr::var(a, fr::ddof{1})) == 5. / 3, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(double(fr::std(a)) == std::sqrt(1.25), boost::test_tools::tolerance(1e-15));
  // A mean of 1e8 times the deviation, in double: sums of squares would have lost everything.
  fr::device_array<double, 1> far({100000});
  far = 1e8 + 1. * (fr::index(0) % 2);
  BOOST_TEST(double(fr::var(far)) == 0.25, boost::test_tools::tolerance(1e-7));
}

// NumPy's definition: the mean of |z - mean|^2, a real number.
BOOST_AUTO_TEST_CASE(moments_of_complex_numbers) {
  using z = std::complex<double>;
  const auto a = array_of<z>({{1, 1}, {3, -1}, {-2, 4}, {0, 2}});
  BOOST_TEST(double(fr::var(a)) == 6.5);  // 3.25 of the real parts, 3.25 of the imaginary ones
  BOOST_TEST(double(fr::var(a, fr::ddof{1})) == 26. / 3, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(double(fr::std(a)) == std::sqrt(6.5), boost::test_tools::tolerance(1e-15));
  BOOST_TEST(double(fr::var(array_of<z>({{5, -7}}))) == 0.);
  BOOST_TEST(std::isnan(double(fr::var(array_of<z>({{5, -7}}), fr::ddof{1}))));
  BOOST_TEST(std::isnan(double(fr::var(array_of<z>({{1, 2}, {0, std::nan("")}})))));
  BOOST_TEST(std::isnan(double(fr::std(fr::device_array<z, 1>({0})))));
  fr::device_array<std::complex<float>, 2> far({300, 7000});
  far = fr::make_complex(1e3f + fr::cast<float>(fr::index(0) % 2), -1e3f + 2 * fr::cast<float>(fr::index(1) % 2));
  BOOST_TEST(float(fr::var(far)) == 1.25f, boost::test_tools::tolerance(1e-3f));
  fr::host_array<float, 1> rows(fr::std(far, fr::axes{1})), columns(fr::var(far, fr::axes{0}));
  BOOST_TEST(rows(17) == 1.f, boost::test_tools::tolerance(1e-3f));
  BOOST_TEST(columns(4000) == 0.25f, boost::test_tools::tolerance(1e-3f));
  auto [spread, mean] = fr::reduce_all(fr::var(a), fr::mean(a));
  BOOST_TEST(double(spread) == 6.5);
  BOOST_TEST((z(mean) == z(0.5, 1.5)));
}

BOOST_AUTO_TEST_SUITE_END()
