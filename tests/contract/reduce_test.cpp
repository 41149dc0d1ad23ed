// parallel_reduce, scalars, and atomic operations.
#include "contract/fixture.hpp"

#include <limits>

using namespace contract;

namespace contract_of_reductions {
namespace {

struct element {
  template <class T>
  FERRY_HOST_DEVICE T operator()(std::size_t i, fr::mdspan<const T, 1> x) const {
    return x[i];
  }
};
struct value_of {
  FERRY_HOST_DEVICE std::int64_t operator()(std::size_t i, const int* x) const { return x[i]; }
};
struct double_of {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const int* x) const { return x[i] / 2.0; }
};
struct square_index {
  FERRY_HOST_DEVICE std::int64_t operator()(std::size_t i) const { return static_cast<std::int64_t>(i * i); }
};
struct at_2d {
  FERRY_HOST_DEVICE std::int64_t operator()(std::size_t i, std::size_t j, fr::mdspan<const int, 2> m,
                                            int offset) const {
    return m(i, j) + offset;
  }
};
struct index_3d {
  FERRY_HOST_DEVICE std::int64_t operator()(std::size_t i, std::size_t j, std::size_t k) const {
    return static_cast<std::int64_t>(10000 * i + 100 * j + k);
  }
};
struct tile_size {
  FERRY_HOST_DEVICE std::int64_t operator()(fr::tile t) const { return static_cast<std::int64_t>(t.rows * t.columns); }
};

// The position of the largest element: the first one if several are equal.
struct place {
  int value;
  std::int64_t at;
  bool operator==(const place&) const = default;
};
struct place_of {
  FERRY_HOST_DEVICE place operator()(std::size_t i, const int* x) const { return {x[i], static_cast<std::int64_t>(i)}; }
};
struct larger {
  FERRY_HOST_DEVICE place operator()(const place& a, const place& b) const {
    return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;
  }
  template <class T>
  static T identity() {
    return {std::numeric_limits<int>::min(), std::numeric_limits<std::int64_t>::max()};
  }
};

struct add_scalar {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const std::int64_t* s, std::int64_t* y) const { y[i] += *s; }
};
struct add_rank_0 {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const std::int64_t, 0> s, std::int64_t* y) const {
    y[i] += s();
  }
};
struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* x) const { x[i] += 1; }
};

struct count_modulo {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* counts, float* sums, std::int64_t* extremes) const {
    fr::atomic_ref<int>(counts[i % 7]).fetch_add(1);
    fr::atomic_ref<float>(sums[i % 3]).fetch_add(1.f);
    fr::atomic_ref<std::int64_t>(extremes[0]).fetch_min(static_cast<std::int64_t>(i) - 5);
    fr::atomic_ref<std::int64_t>(extremes[1]).fetch_max(static_cast<std::int64_t>(i) - 5);
    fr::atomic_ref<std::int64_t>(extremes[2]).fetch_sub(2);
  }
};
struct lock_step {  // exactly one of all takes the 1 from a cell that holds it once
  FERRY_HOST_DEVICE void operator()(std::size_t, unsigned* cell, unsigned* winners, std::uint64_t* sum) const {
    unsigned expected = 1;
    if (fr::atomic_ref<unsigned>(*cell).compare_exchange(expected, 2u))
      fr::atomic_ref<unsigned>(*winners).fetch_add(1u);
    std::uint64_t now = fr::atomic_ref<std::uint64_t>(*sum).load();
    while (!fr::atomic_ref<std::uint64_t>(*sum).compare_exchange(now, now + 3)) {
    }
  }
};

}  // namespace
}  // namespace contract_of_reductions

BOOST_FIXTURE_TEST_SUITE(contract_of_reductions, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(sums_of_every_size, K, kinds) {
  for (const fr::device d : fr::devices())
    for (const std::size_t n : {1u, 2u, 255u, 257u, 100003u}) {
      const fr::stream s{d};
      const auto x = counted<int, 1, K::value>(fr::extents<1>(n), d, -3);
      const auto sum =
          static_cast<std::int64_t>(n) * (static_cast<std::int64_t>(n) - 1) / 2 - 3 * static_cast<std::int64_t>(n);
      const fr::scalar<std::int64_t> total = fr::parallel_reduce(s, n, value_of{}, fr::plus{}, fr::in(x));
      BOOST_TEST(total.value() == sum);
      BOOST_TEST((total.as_array().device() == d));
      const double half = fr::parallel_reduce(n, double_of{}, fr::plus{}, x);  // multiples of 1/2: exact
      BOOST_TEST(half == static_cast<double>(sum) / 2);
      BOOST_TEST(fr::parallel_reduce(n, value_of{}, fr::minimum{}, x).value() == -3);
      BOOST_TEST(fr::parallel_reduce(n, value_of{}, fr::maximum{}, x).value() == static_cast<std::int64_t>(n) - 4);
    }
}

BOOST_AUTO_TEST_CASE(other_operations_and_types) {
  const auto x = fr::device_array<int>::from({3, 1, 4, 1, 5, 9, 2, 6, 9, 3});
  BOOST_TEST(fr::parallel_reduce(10, value_of{}, fr::multiplies{}, x).value() == 3 * 4 * 5 * 9 * 2 * 6 * 9 * 3);
  BOOST_TEST((fr::parallel_reduce(10, place_of{}, larger{}, x).value() == place{9, 5}));
  const auto many = counted<int, 1, memory_kind::device>(fr::extents<1>(70000));
  BOOST_TEST((fr::parallel_reduce(70000, place_of{}, larger{}, many).value() == place{69999, 69999}));
  const auto b = fr::device_array<std::int8_t>::from({-100, 100, 7});
  const fr::scalar<std::int8_t> low = fr::parallel_reduce(
      3, [] FERRY_HOST_DEVICE(std::size_t i, const std::int8_t* p) { return p[i]; }, fr::minimum{}, b);
  BOOST_TEST(+low.value() == -100);
  BOOST_TEST(fr::parallel_reduce(1001, square_index{}, fr::plus{}).value() == 333833500);
}

BOOST_AUTO_TEST_CASE(two_and_three_dimensions_and_tiles) {
  for (const fr::extents<2> e : {fr::extents<2>(1, 1), {7, 300}, {3000, 2}, {513, 257}}) {
    const auto m = counted<int, 2, memory_kind::device>(e);
    const auto n = static_cast<std::int64_t>(e.count());
    BOOST_TEST(fr::parallel_reduce(e, at_2d{}, fr::plus{}, m, 2).value() == n * (n - 1) / 2 + 2 * n);
    BOOST_TEST(fr::parallel_reduce(fr::extents<2>(e[1], e[0]), at_2d{}, fr::maximum{}, m.transpose(), 0).value() ==
               n - 1);
    BOOST_TEST(fr::parallel_reduce(fr::tiles{e, 5, 3}, tile_size{}, fr::plus{}).value() == n);
  }
  for (const fr::extents<3> e : {fr::extents<3>(1, 1, 1), {3, 5, 7}, {70001, 1, 2}}) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < e[0]; ++i)
      for (std::size_t j = 0; j < e[1]; ++j)
        for (std::size_t k = 0; k < e[2]; ++k) sum += static_cast<std::int64_t>(10000 * i + 100 * j + k);
    BOOST_TEST(fr::parallel_reduce(e, index_3d{}, fr::plus{}).value() == sum);
  }
}

BOOST_AUTO_TEST_CASE(no_elements_give_the_identity) {
  const fr::device_array<int> x;
  BOOST_TEST(fr::parallel_reduce(0, value_of{}, fr::plus{}, x).value() == 0);
  BOOST_TEST(fr::parallel_reduce(0, value_of{}, fr::multiplies{}, x).value() == 1);
  BOOST_TEST(fr::parallel_reduce(0, value_of{}, fr::minimum{}, x).value() == std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(fr::parallel_reduce(0, value_of{}, fr::maximum{}, x).value() == std::numeric_limits<std::int64_t>::min());
  BOOST_TEST(fr::parallel_reduce(0, double_of{}, fr::maximum{}, x).value() == -std::numeric_limits<double>::infinity());
  BOOST_TEST(fr::parallel_reduce(fr::extents<3>(5, 0, 5), index_3d{}, fr::plus{}).value() == 0);
}

BOOST_AUTO_TEST_CASE(reductions_of_generic_functors) {
  const auto x = counted<float, 1, memory_kind::unified>(fr::extents<1>(1000));
  const fr::scalar<float> sum = fr::parallel_reduce(1000, element{}, fr::plus{}, x);
  BOOST_TEST(sum.value() == 499500.f);
}

BOOST_AUTO_TEST_CASE(scalars_in_later_work_and_late_reads) {
  const fr::stream a{fr::devices().front()}, b{fr::devices().back()};
  const auto ones = fr::full<int, 1, memory_kind::unified>({1000}, 1);
  fr::unified_array<std::int64_t> y({100}, 0, b.where());
  const auto first = fr::parallel_reduce(a, 1000, value_of{}, fr::plus{}, ones);
  fr::parallel_for(b, 100, add_scalar{}, fr::in(first), y);  // no wait between the two
  fr::parallel_for(b, 100, add_rank_0{}, first, y);
  const auto second = fr::parallel_reduce(
      b, 100, [] FERRY_HOST_DEVICE(std::size_t i, const std::int64_t* p) { return p[i]; }, fr::plus{}, fr::in(y));
  BOOST_TEST(second.value() == 200000);
  BOOST_TEST(first.value() == 1000);
  BOOST_TEST(first.is_ready());
  std::vector<fr::scalar<std::int64_t>> all;
  for (int i = 1; i <= 20; ++i) all.push_back(fr::parallel_reduce(a, i, value_of{}, fr::plus{}, ones));
  for (int i = 1; i <= 20; ++i) BOOST_TEST(all[static_cast<std::size_t>(i) - 1] == i);
}

BOOST_AUTO_TEST_CASE(a_reduction_sees_what_was_there_when_it_was_submitted) {
  const fr::stream a, b;
  fr::device_array<int> x({1000}, 1);
  std::vector<fr::scalar<std::int64_t>> sums;
  for (int i = 0; i < 10; ++i) {
    sums.push_back(fr::parallel_reduce(a, 1000, value_of{}, fr::plus{}, fr::in(x)));
    fr::parallel_for(b, 1000, add_one{}, x);
  }
  for (int i = 9; i >= 0; --i) BOOST_TEST(sums[static_cast<std::size_t>(i)].value() == 1000 * (i + 1));
}

// Not pinned memory: GPUs have no native atomics there.
using kinds_with_atomics = std::tuple<kind<memory_kind::device>, kind<memory_kind::unified>>;
BOOST_AUTO_TEST_CASE_TEMPLATE(atomic_operations, K, kinds_with_atomics) {
  constexpr memory_kind k = K::value;
  fr::basic_array<int, 1, k> counts({7}, 0);
  fr::basic_array<float, 1, k> sums({3}, 0.f);
  auto extremes = fr::basic_array<std::int64_t, 1, k>::from({0, 0, 0});
  fr::parallel_for(70000, count_modulo{}, counts, sums, extremes);
  CHECK_EQUAL(fr::to_vector(counts), std::vector<int>(7, 10000));
  CHECK_EQUAL(fr::to_vector(sums), (std::vector<float>{23334, 23333, 23333}));
  CHECK_EQUAL(fr::to_vector(extremes), (std::vector<std::int64_t>{-5, 69994, -140000}));
  fr::basic_array<unsigned, 0, k> cell(fr::extents<0>(), 1u), winners(fr::extents<0>(), 0u);
  fr::basic_array<std::uint64_t, 0, k> sum(fr::extents<0>(), 0u);
  fr::parallel_for(5000, lock_step{}, cell, winners, sum);
  BOOST_TEST((fr::to_vector(cell).at(0) == 2 && fr::to_vector(winners).at(0) == 1));
  BOOST_TEST(fr::to_vector(sum).at(0) == 15000u);
}

BOOST_AUTO_TEST_CASE(atomic_operations_on_the_cpu) {
  int i = 5;
  const fr::atomic_ref<int> r(i);
  BOOST_TEST(
      (r.exchange(7) == 5 && r.fetch_add(2) == 7 && r.fetch_max(3) == 9 && r.fetch_min(4) == 9 && r.load() == 4));
  r.store(1);
  int expected = 3;
  BOOST_TEST((!r.compare_exchange(expected, 10) && expected == 1 && r.compare_exchange(expected, 10) && i == 10));
}

BOOST_AUTO_TEST_SUITE_END()
