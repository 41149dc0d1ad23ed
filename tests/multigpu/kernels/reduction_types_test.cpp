// Types and special values of reductions over teams, and their results in containers.
#include <cmath>
#include <limits>

#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "multigpu/shards.hpp"

using namespace contract;
using shards::dice;

namespace types_of_team_reductions {
namespace {

template <class T>
struct cell {
  FERRY_HOST_DEVICE T operator()(std::size_t i, std::size_t j, fr::shard_span<const T, 2> a) const { return a(i, j); }
};
template <class T>
struct set_to {
  T value;
  FERRY_HOST_DEVICE T operator()(std::size_t i, std::size_t j, fr::shard_span<T, 2> a) const { return a(i, j) = value; }
};
struct is_third {
  FERRY_HOST_DEVICE bool operator()(std::size_t i, std::size_t j, fr::shard_span<const float, 2>) const {
    return (i + j) % 3 == 0;
  }
};

template <class T, class Sum>
void check_integer(const fr::team& t, std::size_t axis) {
  constexpr T largest = std::numeric_limits<T>::max();
  fr::sharded_array<T, 2> a(t, {30, 40}, {.axis = axis, .halo = 1}, largest);
  const auto sum = fr::parallel_reduce(fr::owned(a), cell<T>{}, fr::plus{}, fr::in(a));
  static_assert(std::is_same_v<decltype(sum), const fr::team_scalar<Sum>>);
  BOOST_TEST(sum.value() == Sum(1200) * largest);
  const auto swept = fr::parallel_reduce(fr::sweep(a), set_to<T>{largest}, fr::plus{}, fr::out(a));
  static_assert(std::is_same_v<decltype(swept), const fr::team_scalar<Sum>>);
  BOOST_TEST(swept.value() == Sum(1200) * largest);
  const auto same = fr::parallel_reduce(fr::owned(a), cell<T>{}, fr::reproducible(fr::plus{}), fr::in(a));
  static_assert(std::is_same_v<decltype(same), const fr::reproducible_scalar<Sum>>);
  BOOST_TEST(same.value() == Sum(1200) * largest);
  const auto most = fr::parallel_reduce(fr::owned(a), cell<T>{}, fr::maximum{}, fr::in(a));
  static_assert(std::is_same_v<decltype(most), const fr::team_scalar<T>>);
  BOOST_TEST((most.value() == largest));
}

template <class T>
void check_same(T found, T expected, const char* what) {
  const bool same =
      std::isnan(expected) ? std::isnan(found) : found == expected && std::signbit(found) == std::signbit(expected);
  BOOST_TEST(same, what << ": " << found << " instead of " << expected);
}

// One cell per member, and the expected result over all.
template <class T, class Op>
void check_extreme(const fr::sharded_array<T, 2>& a, const Op& op, T expected, const char* what) {
  check_same(fr::parallel_reduce(fr::owned(a), cell<T>{}, op, fr::in(a)).value(), expected, what);
  check_same(fr::parallel_reduce(fr::owned(a), cell<T>{}, fr::reproducible(op), fr::in(a)).value(), expected, what);
  check_same(fr::parallel_reduce(fr::sweep(a), cell<T>{}, op, fr::in(a)).value(), expected, what);
}

template <class T>
void check_extremes(dice& d, const fr::team& t, std::size_t axis) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const std::size_t n = 12 * 9;
  std::vector<T> v(n, T(0));
  v[d.below(n)] = -T(0);
  fr::sharded_array<T, 2> a(t, {12, 9}, {.axis = axis, .halo = 1}, T(0));
  fr::copy(std::span<const T>(v), a);
  check_extreme(a, fr::minimum{}, -T(0), "minimum of zeros");
  check_extreme(a, fr::maximum{}, T(0), "maximum of zeros");
  const std::size_t low = d.below(n), bad = (low + 1 + d.below(n - 1)) % n;
  v[low] = T(-5), v[bad] = nan;
  fr::copy(std::span<const T>(v), a);
  check_extreme(a, fr::minimum{}, nan, "minimum");
  check_extreme(a, fr::maximum{}, nan, "maximum");
  check_extreme(a, fr::minimum_number{}, T(-5), "minimum_number");
  check_extreme(a, fr::maximum_number{}, T(0), "maximum_number");
  fr::fill(a, nan);
  check_extreme(a, fr::minimum_number{}, nan, "minimum_number of NaN");
  check_extreme(a, fr::maximum_number{}, nan, "maximum_number of NaN");
}

}  // namespace
}  // namespace types_of_team_reductions

BOOST_AUTO_TEST_SUITE(types_of_team_reductions)

BOOST_AUTO_TEST_CASE(sums_of_small_integers_have_64_bits) {
  for (const char* how : {"devices=1", "devices=3", "devices=4;schedule=random:3", "devices=2;peers=none"})
    for (const std::size_t axis : {0u, 1u}) {
      const fr::simulation sim(how);
      const fr::team t = fr::team::all();
      check_integer<bool, std::uint64_t>(t, axis);
      check_integer<std::int8_t, std::int64_t>(t, axis);
      check_integer<std::uint8_t, std::uint64_t>(t, axis);
      check_integer<short, std::int64_t>(t, axis);
      check_integer<int, std::int64_t>(t, axis);
      check_integer<unsigned, std::uint64_t>(t, axis);
      const fr::sharded_array<float, 2> a(t, {30, 40}, {.axis = axis}, 0.f);
      BOOST_TEST(fr::parallel_reduce(fr::owned(a), is_third{}, fr::plus{}, a).value() == 400u);
      BOOST_TEST(fr::parallel_reduce(fr::owned(a), is_third{}, fr::reproducible(fr::plus{}), a).value() == 400u);
    }
}

BOOST_AUTO_TEST_CASE(nan_of_any_member_is_propagated_or_ignored) {
  for (std::size_t seed = 0; seed < shards::seeds(30); ++seed) {
    dice d(seed);
    const fr::simulation sim(shards::simulated_machine(seed, d.between(1, 5)));
    const fr::team t = fr::team::all();
    BOOST_TEST_CONTEXT("seed " << seed) {
      check_extremes<float>(d, t, d.below(2));
      check_extremes<double>(d, t, d.below(2));
    }
  }
}

// Containers move both kinds of results, without trying to copy them.
BOOST_AUTO_TEST_CASE(results_in_containers) {
  for (const char* how : {"devices=3", "devices=3;schedule=random:7"}) {
    const fr::simulation sim(how);
    const fr::team t = fr::team::all();
    fr::sharded_array<double, 2> a(t, {9, 5}, {}, 1.0);
    const auto parts = [&] { return fr::parallel_reduce(fr::owned(a), cell<double>{}, fr::plus{}, fr::in(a)); };
    const auto same = [&] {
      return fr::parallel_reduce(fr::owned(a), cell<double>{}, fr::reproducible(fr::plus{}), fr::in(a));
    };
    const auto check = [&](auto make) {
      using result = decltype(make());
      static_assert(std::is_nothrow_move_constructible_v<result> && std::is_nothrow_move_assignable_v<result>);
      static_assert(!std::is_copy_constructible_v<result> && !std::is_copy_assignable_v<result>);
      std::vector<result> all;
      for (int i = 0; i < 20; ++i) {
        fr::fill(a, i);
        all.push_back(make());
      }
      all.erase(all.begin() + 3, all.begin() + 13);
      BOOST_TEST(all[2].value() == 2 * 45.0);
      BOOST_TEST(all[3].value() == 13 * 45.0);
      all[0] = std::move(all[9]);
      BOOST_TEST(all[0].value() == 19 * 45.0);
      all[9] = make();
      BOOST_TEST(all[9].value() == 19 * 45.0);
      result taken(std::move(all[1]));
      BOOST_TEST(taken.value() == 45.0);
    };
    check(parts);
    check(same);
  }
}

BOOST_AUTO_TEST_CASE(sharded_arrays_of_bool) {
  for (const std::size_t axis : {0u, 1u}) {
    const fr::simulation sim("devices=3");
    const fr::team t = fr::team::all();
    std::vector<bool> v(7 * 8);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = i % 3 == 1;
    fr::sharded_array<bool, 2> a(t, {7, 8}, {.axis = axis}, false);
    fr::copy(fr::device_array<bool, 2>::from(v, {7, 8}), a);
    BOOST_TEST((fr::to_vector(a) == v));
    BOOST_TEST((fr::gather(a) == v));
    fr::replicated_array<bool> r(t, {4}, true);
    BOOST_TEST((fr::to_vector(r) == std::vector<bool>(4, true)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
