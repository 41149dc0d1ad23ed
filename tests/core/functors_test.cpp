// Functors with a text, in loops and reductions of a source that nvcc does not compile: on CUDA devices by NVRTC, and
// on simulated ones.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/atomic_ref.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/functor.hpp"
#include "ferry/core/ghosts.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/core/parallel_for.hpp"
#include "ferry/core/parallel_reduce.hpp"
#include "ferry/core/precompile.hpp"
#include "ferry/core/soa.hpp"
#include "ferry/core/transform.hpp"
#include "support/check_error.hpp"
#include "support/seeds.hpp"

namespace functors {
namespace {

namespace fr = ferry;

FERRY_FUNCTOR(axpy, {
  float a;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const { y[i] += a * x[i]; }
});

// Members, constants, functions, loops and the standard library.
FERRY_FUNCTOR(polynomial, {
  static constexpr int degree = 3;
  double c[degree + 1];
  FERRY_HOST_DEVICE static double clamped(double x) { return x < -1 ? -1 : x > 1 ? 1 : x; }
  FERRY_HOST_DEVICE double at(double x) const {
    double sum = 0;
    for (int k = degree; k >= 0; --k) sum = sum * x + c[k];
    return sum;
  }
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const double, 1> x, fr::mdspan<double, 1> y) const {
    y(i) = at(clamped(x(i))) + std::sqrt(std::abs(x(i)));
  }
});

FERRY_FUNCTOR(pair_of_weights, {
  int near;
  int far;
});
// A functor that uses another structure, in two dimensions.
FERRY_FUNCTOR_USING((pair_of_weights), weighted, {
  pair_of_weights w;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<const int, 2> u, fr::mdspan<int, 2> v,
                                    pair_of_weights more, bool adds) const {
    const int left = j > 0 ? u(i, j - 1) : 0, up = i > 0 ? u(i - 1, j) : 0;
    v(i, j) = w.near * u(i, j) + w.far * (left + up) + (adds ? more.near - more.far : 0);
  }
});

FERRY_FUNCTOR(sum_of_indices, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<std::int64_t, 3> v) const {
    v(i, j, k) = static_cast<std::int64_t>((i * v.extent(1) + j) * v.extent(2) + k);
}  // namespace
}  // namespace functors
);

// Of ghost cells, in any number of dimensions.
FERRY_FUNCTOR(numbered_ghosts, {
  int first;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<int, 1> v) const { v(i) += first + static_cast<int>(i); }
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<int, 2> v) const {
    v(i, j) += first + static_cast<int>(10 * i + j);
  }
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<int, 3> v) const {
    v(i, j, k) += first + static_cast<int>(100 * i + 10 * j + k);
  }
});

FERRY_FUNCTOR(fill_tile, {
  FERRY_HOST_DEVICE void operator()(fr::tile t, fr::mdspan<int, 2> v) const {
    for (std::size_t i = t.row; i < t.row + t.rows; ++i)
      for (std::size_t j = t.column; j < t.column + t.columns; ++j) v(i, j) += static_cast<int>(t.row + t.column);
  }
});

FERRY_FUNCTOR(count_values, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, unsigned* counts) const {
    fr::atomic_ref<unsigned>(counts[x[i]]).fetch_add(1u);
  }
});

FERRY_FUNCTOR(product, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const double* a, const double* b) const { return a[i] * b[i]; }
});
FERRY_FUNCTOR(element, {
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, fr::mdspan<const int, 2> u) const { return u(i, j); }
});
FERRY_FUNCTOR(joined_by_xor, {
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
  FERRY_HOST_DEVICE T operator()(T a, T b) const {
    return a ^ b;
  }
});

// Of the values of elements.
FERRY_FUNCTOR(scaled_sum, {
  float a;
  FERRY_HOST_DEVICE float operator()(float x, float y) const { return a * x + y; }
});
FERRY_FUNCTOR(quotient_and_rest, {
  int quotient;
  int rest;
});
FERRY_FUNCTOR_USING((quotient_and_rest), divided, {
  int by;
  FERRY_HOST_DEVICE quotient_and_rest operator()(int x) const { return {x / by, x % by}; }
});

template <class T, std::size_t Rank>
fr::unified_array<T, Rank> random_numbers(const fr::extents<Rank>& e, std::mt19937_64& random, int most) {
  fr::unified_array<T, Rank> a(e);
  std::vector<T> v(e.count());
  for (T& x : v) x = static_cast<T>(static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most);
  fr::copy(v, a);
  return a;
}

// Each cell with a number, of those around the interior.
template <std::size_t Rank>
void check_ghosts(const fr::extents<Rank>& e) {
  fr::unified_array<int, Rank> v(e, 1);
  fr::parallel_for(fr::ghosts(v, fr::all_sides, 1), numbered_ghosts{7}, fr::inout(v));
  const std::vector<int> got = fr::to_vector(v);
  std::size_t at[Rank] = {}, wrong = 0;
  for (const int found : got) {
    int number = 0;
    bool is_ghost = false;
    for (std::size_t d = 0; d != Rank; ++d) {
      number = 10 * number + static_cast<int>(at[d]);
      is_ghost = is_ghost || at[d] == 0 || at[d] + 1 == e[d];
    }
    wrong += found != (is_ghost ? 8 + number : 1);
    for (std::size_t d = Rank; d-- > 0 && ++at[d] == e[d];) at[d] = 0;
  }
  BOOST_TEST(wrong == 0u, wrong << " cells of shape " << e.text() << " are wrong");
}

}  // namespace
}  // namespace functors

BOOST_AUTO_TEST_SUITE(functors)
namespace fr = ferry;

BOOST_AUTO_TEST_CASE(lines) {
  std::mt19937_64 random(1);
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{100'003}}) {
    auto x = random_numbers<float>(fr::extents<1>(n), random, 100),
         y = random_numbers<float>(fr::extents<1>(n), random, 100);
    std::vector<float> expected = fr::to_vector(y);
    const std::vector<float> from = fr::to_vector(x);
    for (std::size_t i = 0; i != n; ++i) expected[i] += 3 * from[i];
    fr::parallel_for(n, axpy{3}, fr::in(x), fr::inout(y));
    BOOST_TEST((fr::to_vector(y) == expected), n);
  }
}

BOOST_AUTO_TEST_CASE(ghost_cells) {
  check_ghosts(fr::extents<1>{6});
  check_ghosts(fr::extents<2>{5, 7});
  check_ghosts(fr::extents<3>{4, 3, 5});
}

BOOST_AUTO_TEST_CASE(ghost_cells_of_a_graph) {
  fr::stream s(fr::device(0));
  fr::unified_array<int, 2> v({3, 3}, 0);
  const auto cells = fr::ghosts(v, fr::side::high(1), 1);
  fr::precompile_for(s, cells, numbered_ghosts{1}, fr::inout(v));
  fr::precompile_for(cells, numbered_ghosts{1}, fr::inout(v));
  BOOST_TEST((fr::to_vector(v) == std::vector<int>(9, 0)));
  fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, cells, numbered_ghosts{1}, fr::inout(v)); });
  g.launch(s);
  BOOST_TEST((fr::to_vector(v) == std::vector<int>{0, 0, 3, 0, 0, 13, 0, 0, 23}));
}

BOOST_AUTO_TEST_CASE(members_functions_and_views) {
  std::mt19937_64 random(2);
  const polynomial f{{1, -2, 3, 0.5}};
  auto x = random_numbers<double>(fr::extents<1>(2001), random, 2);
  fr::unified_array<double> y({2001}, 0.);
  const auto every_second = fr::slice(0, 2001, 2);
  auto to = y.slice(every_second);
  fr::parallel_for(1001, f, fr::in(x.slice(every_second)), fr::out(to));
  const std::vector<double> from = fr::to_vector(x), got = fr::to_vector(y);
  for (std::size_t i = 0; i != got.size(); ++i) {
    const double expected = i % 2 ? 0 : f.at(polynomial::clamped(from[i])) + std::sqrt(std::abs(from[i]));
    BOOST_TEST(got[i] == expected, boost::test_tools::tolerance(1e-15));
  }
}

BOOST_AUTO_TEST_CASE(random_planes) {
  for (std::size_t seed = 0; seed != support::seeds(10); ++seed) {
    std::mt19937_64 random(seed);
    const fr::extents<2> e{1 + random() % 200, 1 + random() % 200};
    auto u = random_numbers<int>(e, random, 1000);
    fr::unified_array<int, 2> v(e, 0);
    const weighted f{{static_cast<int>(random() % 9), static_cast<int>(random() % 9)}};
    const bool adds = seed % 2 != 0;
    fr::parallel_for(e, f, fr::in(u), fr::out(v), pair_of_weights{7, 2}, adds);
    const std::vector<int> from = fr::to_vector(u), got = fr::to_vector(v);
    bool agrees = true;
    for (std::size_t i = 0; i != e[0]; ++i)
      for (std::size_t j = 0; j != e[1]; ++j) {
        const int left = j > 0 ? from[i * e[1] + j - 1] : 0, up = i > 0 ? from[(i - 1) * e[1] + j] : 0;
        agrees = agrees && got[i * e[1] + j] == f.w.near * from[i * e[1] + j] + f.w.far * (left + up) + (adds ? 5 : 0);
      }
    BOOST_TEST(agrees, "seed " << seed << ", " << e.text());
    auto turned = u.transpose();
    fr::unified_array<int, 2> w(turned.extents(), 0);
    fr::parallel_for(turned.extents(), f, fr::in(turned), fr::out(w), pair_of_weights{2, 2}, true);
    BOOST_TEST(fr::to_vector(w)[0] == f.w.near * from[0]);
    std::int64_t sum = 0;
    int bits = 0;
    for (const int x : from) sum += x, bits ^= x;
    BOOST_TEST(std::int64_t(fr::parallel_reduce(e, element{}, fr::plus{}, fr::in(u)).value()) == sum);
    BOOST_TEST(int(fr::parallel_reduce(e, element{}, joined_by_xor{}, fr::in(u)).value()) == bits);
  }
}

BOOST_AUTO_TEST_CASE(cubes_tiles_and_atomics) {
  fr::unified_array<std::int64_t, 3> v({17, 19, 23}, 0);
  fr::parallel_for(v.extents(), sum_of_indices{}, fr::out(v));
  std::vector<std::int64_t> expected(v.size());
  for (std::size_t i = 0; i != expected.size(); ++i) expected[i] = static_cast<std::int64_t>(i);
  BOOST_TEST((fr::to_vector(v) == expected));

  fr::unified_array<int, 2> t({70, 33}, 0);
  fr::parallel_for(fr::tiles{t.extents(), 8, 16}, fill_tile{}, t);
  const std::vector<int> tiles = fr::to_vector(t);
  for (std::size_t i = 0; i != tiles.size(); ++i)
    BOOST_REQUIRE(tiles[i] == static_cast<int>(i / 33 / 8 * 8 + i % 33 / 16 * 16));

  std::mt19937_64 random(3);
  std::vector<int> values(10'000);
  std::vector<unsigned> counted(10);
  for (int& x : values) x = static_cast<int>(random() % 10), ++counted[static_cast<std::size_t>(x)];
  fr::unified_array<int> x({values.size()});
  fr::unified_array<unsigned> counts({10}, 0u);
  fr::copy(values, x);
  fr::parallel_for(values.size(), count_values{}, fr::in(x), fr::inout(counts));
  BOOST_TEST((fr::to_vector(counts) == counted));
}

BOOST_AUTO_TEST_CASE(reductions_of_large_spaces) {
  std::mt19937_64 random(4);
  const std::size_t n = 300'001;
  auto a = random_numbers<double>(fr::extents<1>(n), random, 50),
       b = random_numbers<double>(fr::extents<1>(n), random, 50);
  const std::vector<double> x = fr::to_vector(a), y = fr::to_vector(b);
  double sum = 0, most = x[0] * y[0];
  for (std::size_t i = 0; i != n; ++i) sum += x[i] * y[i], most = std::max(most, x[i] * y[i]);
  BOOST_TEST(fr::parallel_reduce(n, product{}, fr::plus{}, fr::in(a), fr::in(b)).value() == sum);
  BOOST_TEST(fr::parallel_reduce(n, product{}, fr::maximum{}, fr::in(a), fr::in(b)).value() == most);
}

BOOST_AUTO_TEST_CASE(values_of_elements) {
  std::mt19937_64 random(5);
  for (const std::size_t n : {std::size_t{1}, std::size_t{1001}, std::size_t{70'002}}) {
    auto x = random_numbers<float>(fr::extents<1>(n), random, 100),
         y = random_numbers<float>(fr::extents<1>(n), random, 100);
    const std::vector<float> from = fr::to_vector(x);
    std::vector<float> expected = fr::to_vector(y);
    for (std::size_t i = 0; i != n; ++i) expected[i] += 2 * from[i];
    fr::transform(fr::out(y), scaled_sum{2}, fr::in(x), fr::in(y));
    BOOST_TEST((fr::to_vector(y) == expected), n);
    for (std::size_t i = 1; i < n; ++i) expected[i] += 3 * from[i];
    auto tail = y.slice({1, n});  // not aligned to vectors
    fr::transform(fr::out(tail), scaled_sum{3}, fr::in(x.slice({1, n})), fr::in(tail));
    BOOST_TEST((fr::to_vector(y) == expected), n);
  }
  auto u = random_numbers<int>(fr::extents<2>{37, 53}, random, 1000);
  fr::unified_array<int, 2> q({53, 37}, 0), r({53, 37}, 0);
  auto q_turned = q.transpose(), r_turned = r.transpose();
  fr::transform(fr::out(q_turned), fr::out(r_turned), divided{7}, fr::in(u));
  const std::vector<int> from = fr::to_vector(u), by = fr::to_vector(q), rest = fr::to_vector(r);
  for (std::size_t i = 0; i != 37; ++i)
    for (std::size_t j = 0; j != 53; ++j) {
      BOOST_REQUIRE(by[j * 37 + i] == from[i * 53 + j] / 7);
      BOOST_REQUIRE(rest[j * 37 + i] == from[i * 53 + j] % 7);
    }
}

BOOST_AUTO_TEST_CASE(in_a_graph) {
  fr::stream s(fr::device(0));
  fr::device_array<float> x({500}, 1.f), y({500}, 0.f);
  fr::parallel_for(s, 500, axpy{0}, fr::in(x), fr::inout(y));  // compiles the kernel
  fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, 500, axpy{2}, fr::in(x), fr::inout(y)); });
  for (int k = 0; k != 3; ++k) g.launch(s);
  BOOST_TEST((fr::to_vector(y) == std::vector<float>(500, 6.f)));
}

BOOST_AUTO_TEST_SUITE_END()
