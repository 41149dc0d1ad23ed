// Types and special values of reductions: sums wider than their elements, NaN, zeros of both signs, and user-defined
// operations.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "contract/fixture.hpp"

using namespace contract;

namespace types_of_reductions {
namespace {

template <class T>
struct element {
  FERRY_HOST_DEVICE T operator()(std::size_t i, const T* x) const { return x[i]; }
};
struct is_odd {
  FERRY_HOST_DEVICE bool operator()(std::size_t i) const { return i % 2 == 1; }
};

template <class T>
using sum_type = decltype(fr::parallel_reduce(1, element<T>{}, fr::plus{}, fr::in(fr::device_array<T>())));
template <class T>
using product_type = decltype(fr::parallel_reduce(1, element<T>{}, fr::multiplies{}, fr::in(fr::device_array<T>())));
template <class T>
using least_type = decltype(fr::parallel_reduce(1, element<T>{}, fr::minimum{}, fr::in(fr::device_array<T>())));

// A user-defined operation keeps the functor's type.
struct larger {
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::lowest();
  }
};

// Sums of the largest value exceed the element type's range.
template <class T, class Sum>
void check_integer() {
  static_assert(std::is_same_v<sum_type<T>, fr::scalar<Sum>>);
  static_assert(std::is_same_v<product_type<T>, fr::scalar<Sum>>);
  static_assert(std::is_same_v<least_type<T>, fr::scalar<T>>);
  constexpr T largest = std::numeric_limits<T>::max(), smallest = std::numeric_limits<T>::lowest();
  for (const std::size_t n : {1u, 2u, 300u, 70001u}) {
    BOOST_TEST_CONTEXT(n << " elements of " << sizeof(T) << " bytes, signed: " << std::is_signed_v<T>) {
      fr::device_array<T> x({n}, largest);
      BOOST_TEST(fr::parallel_reduce(n, element<T>{}, fr::plus{}, fr::in(x)).value() ==
                 static_cast<Sum>(n) * static_cast<Sum>(largest));
      fr::fill(x, smallest);
      BOOST_TEST(fr::parallel_reduce(n, element<T>{}, fr::plus{}, fr::in(x)).value() ==
                 static_cast<Sum>(n) * static_cast<Sum>(smallest));
      fr::fill(x.slice({n - 1, n}), largest);
      const T most = fr::parallel_reduce(n, element<T>{}, fr::maximum{}, fr::in(x));
      BOOST_TEST((most == largest));
    }
  }
  fr::device_array<T> few({4}, largest);
  const Sum wide = largest, square = sizeof(T) < 4 ? wide * wide : wide;
  BOOST_TEST(fr::parallel_reduce(sizeof(T) < 4 ? 2 : 1, element<T>{}, fr::multiplies{}, fr::in(few)).value() == square);
  static_assert(std::is_same_v<decltype(fr::parallel_reduce(4, element<T>{}, larger{}, fr::in(few))), fr::scalar<T>>);
}

template <class T>
void check_kept() {
  static_assert(std::is_same_v<sum_type<T>, fr::scalar<T>>);
  static_assert(std::is_same_v<product_type<T>, fr::scalar<T>>);
  static_assert(std::is_same_v<least_type<T>, fr::scalar<T>>);
}
static_assert(fr::is_number<std::complex<float>> && fr::is_number<std::complex<double>>);

template <class T, class Op>
T joined(const std::vector<T>& values, const Op& op) {
  return fr::parallel_reduce(values.size(), element<T>{}, op, fr::in(fr::device_array<T>::from(values)));
}
// Equal values; zeros must have the same sign.
template <class T>
void check_same(T found, T expected) {
  const bool same =
      std::isnan(expected) ? std::isnan(found) : found == expected && std::signbit(found) == std::signbit(expected);
  BOOST_TEST(same, found << " instead of " << expected);
}
template <class T>
void check_least_and_greatest(const std::vector<T>& values, T least, T greatest, T least_number, T greatest_number) {
  check_same<T>(joined(values, fr::minimum{}), least);
  check_same<T>(joined(values, fr::maximum{}), greatest);
  check_same<T>(joined(values, fr::minimum_number{}), least_number);
  check_same<T>(joined(values, fr::maximum_number{}), greatest_number);
}

// As in docs/reductions.md: the first of the smallest numbers.
struct number_at {
  double value;
  std::int64_t at;
  bool operator==(const number_at&) const = default;
};
struct at_index {
  FERRY_HOST_DEVICE number_at operator()(std::size_t i, const double* x) const {
    return {x[i], static_cast<std::int64_t>(i)};
  }
};
struct first_least {
  FERRY_HOST_DEVICE number_at operator()(const number_at& a, const number_at& b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan ? b : a;
    if (!a_is_nan && a.value != b.value) return a.value < b.value ? a : b;
    return a.at < b.at ? a : b;
  }
  template <class T>
  static T identity() {
    return {0, -1};
  }
};

}  // namespace
}  // namespace types_of_reductions

BOOST_FIXTURE_TEST_SUITE(types_of_reductions, clean)

BOOST_AUTO_TEST_CASE(sums_of_small_integers_have_64_bits) {
  using signed_char_sum = std::conditional_t<std::is_signed_v<char>, std::int64_t, std::uint64_t>;
  check_integer<bool, std::uint64_t>();
  check_integer<char, signed_char_sum>();
  check_integer<std::int8_t, std::int64_t>();
  check_integer<std::uint8_t, std::uint64_t>();
  check_integer<short, std::int64_t>();
  check_integer<unsigned short, std::uint64_t>();
  check_integer<int, std::int64_t>();
  check_integer<unsigned, std::uint64_t>();
  check_kept<std::int64_t>();
  check_kept<std::uint64_t>();
  check_kept<float>();
  check_kept<double>();
}

BOOST_AUTO_TEST_CASE(functors_that_return_bool_are_counted) {
  for (const std::size_t n : {0u, 1u, 2u, 1001u, 100000u}) {
    const auto count = fr::parallel_reduce(n, is_odd{}, fr::plus{});
    static_assert(std::is_same_v<decltype(count), const fr::scalar<std::uint64_t>>);
    BOOST_TEST(count.value() == n / 2);
  }
  BOOST_TEST(fr::parallel_reduce(1000, is_odd{}, fr::maximum{}).value());
  BOOST_TEST(!fr::parallel_reduce(1000, is_odd{}, fr::minimum{}).value());
  BOOST_TEST(fr::parallel_reduce(0, is_odd{}, fr::minimum{}).value());
}

using floats = std::tuple<float, double>;
BOOST_AUTO_TEST_CASE_TEMPLATE(nan_is_propagated_or_ignored, T, floats) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const std::size_t n : {2u, 3u, 257u, 70001u})
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<T> v(n, T(1));
      v[(at + 1) % n] = T(-3), v[at] = nan;
      BOOST_TEST_CONTEXT(n << " elements, NaN at " << at)
      check_least_and_greatest(v, nan, nan, T(-3), n == 2 ? T(-3) : T(1));
      v[at] = inf;
      check_least_and_greatest(v, T(-3), inf, T(-3), inf);
    }
  check_least_and_greatest<T>({nan}, nan, nan, nan, nan);
  check_least_and_greatest<T>({nan, nan, nan}, nan, nan, nan, nan);
  check_least_and_greatest<T>(std::vector<T>(5000, inf), inf, inf, inf, inf);
  check_least_and_greatest<T>(std::vector<T>(5000, -inf), -inf, -inf, -inf, -inf);
  check_least_and_greatest<T>({}, inf, -inf, nan, nan);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(negative_zero_is_less_than_positive_zero, T, floats) {
  const T zero = 0, nan = std::numeric_limits<T>::quiet_NaN();
  check_least_and_greatest<T>({zero, -zero}, -zero, zero, -zero, zero);
  check_least_and_greatest<T>({-zero, zero}, -zero, zero, -zero, zero);
  check_least_and_greatest<T>({-zero, -zero}, -zero, -zero, -zero, -zero);
  check_least_and_greatest<T>({zero, zero}, zero, zero, zero, zero);
  check_least_and_greatest<T>({zero, nan, -zero}, nan, nan, -zero, zero);
  std::vector<T> v(70001, zero);
  v[40000] = -zero;
  check_least_and_greatest(v, -zero, zero, -zero, zero);
}

BOOST_AUTO_TEST_CASE(the_place_of_the_least_number) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto place = [](const std::vector<double>& v) {
    return fr::parallel_reduce(v.size(), at_index{}, first_least{}, fr::in(fr::device_array<double>::from(v))).value();
  };
  BOOST_TEST((place({3, 1, 2, 1}) == number_at{1, 1}));
  BOOST_TEST((place({nan, 5, nan, 4, 4, nan}) == number_at{4, 3}));
  BOOST_TEST(place({nan, nan}).at == 0);
  BOOST_TEST(place({}).at == -1);
  std::vector<double> v(70001, nan);
  v[69999] = v[33] = v[50000] = -2;
  BOOST_TEST((place(v) == number_at{-2, 33}));
}

// std::vector<bool> has no elements in memory.
BOOST_AUTO_TEST_CASE_TEMPLATE(vectors_of_bool, K, kinds) {
  std::vector<bool> v(1001);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = i % 3 == 1;
  const auto a = fr::basic_array<bool, 1, K::value>::from(v);
  BOOST_TEST((fr::to_vector(a) == v));
  BOOST_TEST(fr::parallel_reduce(v.size(), element<bool>{}, fr::plus{}, fr::in(a)).value() == 334u);
  const auto m = fr::basic_array<bool, 2, K::value>::from(v, {7, 143});
  BOOST_TEST((fr::to_vector(m.transpose())[1] == v[143]));
  fr::basic_array<bool, 1, K::value> b({1001}, false);
  fr::copy(v, b);
  std::vector<bool> back(1001);
  fr::copy(std::as_const(b), back);
  BOOST_TEST((back == v));
  v.flip();
  const fr::stream s;
  fr::copy(s, v, b);
  fr::copy(s, std::as_const(b), back);
  BOOST_TEST((back == v));
  check_error<fr::invalid_argument>([&] { fr::copy(std::vector<bool>(5), b); }, {"5 elements"});
  BOOST_TEST(fr::to_vector(fr::basic_array<bool, 1, K::value>()).empty());
}

BOOST_AUTO_TEST_CASE(results_are_moved_and_assigned) {
  const auto three = [] { return fr::parallel_reduce(6, is_odd{}, fr::plus{}); };
  std::vector<fr::scalar<std::uint64_t>> all;
  for (int i = 0; i < 20; ++i) all.push_back(three());
  all.erase(all.begin(), all.begin() + 5);
  all.resize(10);
  all[0] = std::move(all[9]);
  BOOST_TEST(all[0].value() == 3u);
  all[9] = three();
  BOOST_TEST(all[9].value() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
