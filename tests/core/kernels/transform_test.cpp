// transform(): functors of values against a loop over the elements, with broadcasts, strides, several outputs, places
// that are inputs too, and all that refuses a call.
#include <ferry/core.hpp>
#include <random>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/failures.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;
using support::failure_of;

namespace transforms {
namespace {

struct axpy {
  float a;
  FERRY_HOST_DEVICE float operator()(float x, float y) const { return a * x + y; }
};
struct add_one {
  FERRY_HOST_DEVICE int operator()(int x) const { return x + 1; }
};
struct three_values {
  float sum;
  double difference;
  bool is_less;
};
struct sum_difference_less {
  FERRY_HOST_DEVICE three_values operator()(const float& a, const double& b) const {
    return {static_cast<float>(a + b), a - b, a < b};
  }
};
struct record {
  std::uint8_t of[3];
};
struct turn_record {
  FERRY_HOST_DEVICE record operator()(record x) const { return {{x.of[2], x.of[1], x.of[0]}}; }
};
struct not_the_default {
  int value = 7;
};
struct next_of {
  FERRY_HOST_DEVICE not_the_default operator()(const not_the_default& x, std::int8_t by) const {
    return {x.value + by};
  }
};
struct mix {
  template <class A, class B, class C>
  FERRY_HOST_DEVICE std::int64_t operator()(A a, B b, C c) const {
    return 3 * static_cast<std::int64_t>(a) + 5 * static_cast<std::int64_t>(b) - static_cast<std::int64_t>(c);
  }
};

template <class T, std::size_t Rank>
fr::unified_array<T, Rank> counted(const fr::extents<Rank>& e, int first = 0) {
  fr::unified_array<T, Rank> a(e);
  int next = first;
  for (T& x : a) x = static_cast<T>(next++);
  return a;
}

FERRY_FUNCTION(float, twice, (float x), { return 2 * x; });

}  // namespace
}  // namespace transforms

BOOST_AUTO_TEST_SUITE(transforms)
using namespace transforms;

BOOST_AUTO_TEST_CASE(elements_are_computed_from_elements) {
  for (const std::size_t n : {1u, 3u, 4u, 31u, 32u, 33u, 1000u, 100003u}) {
    auto x = counted<float>(fr::extents<1>{n}), y = counted<float>(fr::extents<1>{n}, 5);
    fr::unified_array<float> z({n}, -1.f);
    fr::transform(fr::out(z), axpy{3}, fr::in(x), fr::in(y));
    bool good = true;
    for (std::size_t i = 0; i != n; ++i) good = good && z[i] == 3 * x[i] + y[i];
    BOOST_TEST(good, n << " elements");
    fr::stream s;
    fr::transform(s, fr::out(y), axpy{-2}, x, y);  // in place, on a stream
    for (std::size_t i = 0; i != n; ++i) good = good && y[i] == 5 - x[i];
    BOOST_TEST(good, n << " elements in place");
  }
}

BOOST_AUTO_TEST_CASE(views_need_not_be_aligned_to_vectors) {
  auto x = counted<int>(fr::extents<1>{1000});
  fr::unified_array<int> y({1000}, 0);
  for (const std::size_t from : {1u, 2u, 3u, 4u}) {
    fr::transform(fr::out(y.slice({0, 900})), add_one{}, x.slice({from, from + 900}));
    bool good = true;
    for (std::size_t i = 0; i != 900; ++i) good = good && y[i] == static_cast<int>(i + from) + 1;
    BOOST_TEST(good, "from " << from);
    BOOST_TEST(y[900] == 0);
  }
}

BOOST_AUTO_TEST_CASE(several_outputs_are_the_members_of_a_struct) {
  auto a = counted<float>(fr::extents<1>{777});
  fr::unified_array<double> b({777}, 100.);
  fr::unified_array<double> sum({777});
  fr::unified_array<float> difference({777});
  fr::unified_array<bool> less({777});
  fr::transform(fr::out(sum), fr::out(difference), fr::out(less), sum_difference_less{}, a, b);
  bool good = true;
  for (std::size_t i = 0; i != 777; ++i)
    good = good && sum[i] == a[i] + 100 && difference[i] == a[i] - 100 && less[i] == (i < 100);
  BOOST_TEST(good);
}

BOOST_AUTO_TEST_CASE(elements_of_any_type) {
  fr::unified_array<record> r({100});
  for (std::size_t i = 0; i != 100; ++i) r[i] = {{static_cast<std::uint8_t>(i), 2, 3}};
  fr::transform(fr::out(r), turn_record{}, r);
  BOOST_TEST((r[40].of[0] == 3 && r[40].of[1] == 2 && r[40].of[2] == 40));
  fr::unified_array<not_the_default> d({65});
  auto by = counted<std::int8_t>(fr::extents<1>{65});
  for (std::size_t i = 0; i != 65; ++i) d[i] = {static_cast<int>(i)};
  fr::transform(fr::out(d), next_of{}, d, by);
  BOOST_TEST(d[64].value == 128);
  const fr::scalar<float> one = fr::sum(counted<float>(fr::extents<1>{2}));
  fr::unified_array<float> y({10}, 2.f);
  fr::transform(fr::out(y), axpy{4}, one, y);  // a scalar of the device, without waiting
  BOOST_TEST(y[9] == 6);
}

BOOST_AUTO_TEST_CASE(inputs_broadcast) {
  auto column = counted<float>(fr::extents<2>{30, 1});
  auto row = counted<float>(fr::extents<1>{70}, 1000);
  fr::unified_array<float, 2> m({30, 70}, 0.f);
  fr::transform(fr::out(m), axpy{2}, column, row);
  bool good = true;
  for (std::size_t i = 0; i != 30; ++i)
    for (std::size_t j = 0; j != 70; ++j) good = good && m(i, j) == 2 * column(i, 0) + row[j];
  BOOST_TEST(good);
  fr::unified_array<float, 2> none({0, 70});
  fr::transform(fr::out(none), axpy{2}, row, row);
}

BOOST_AUTO_TEST_CASE(functions_of_expressions_are_functors) {
  auto x = counted<float>(fr::extents<1>{100});
  fr::unified_array<float> y({100});
  fr::transform(fr::out(y), twice, fr::in(x));
  BOOST_TEST(y[99] == 198);
  fr::unified_array<double, 2> m({3, 100});
  fr::stream s;
  fr::transform(s, fr::out(m), twice, x);
  BOOST_TEST(m(2, 7) == 14);
}

// Random shapes, strides and broadcasts of three inputs of different types.
BOOST_AUTO_TEST_CASE(random_views_give_the_results_of_a_loop) {
  for (std::size_t seed = 0; seed != support::seeds(60); ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    const std::size_t sizes[] = {1, 2, 5, 33, 130};
    const fr::extents<3> shape{sizes[below(3)], sizes[below(4)], sizes[below(5)]};
    const bool is_turned = below(3) == 0;
    const auto view_of = [&](auto& whole, bool broadcasts) {
      using T = typename std::remove_cvref_t<decltype(whole)>::value_type;
      fr::extents<3> e = shape;
      for (std::size_t d = 0; d != 3; ++d)
        if (broadcasts && below(4) == 0) e[d] = 1;
      const std::size_t gap = 1 + below(2);
      fr::strides<3> s{};
      const std::size_t order[][3] = {{2, 1, 0}, {0, 1, 2}};
      std::ptrdiff_t step = static_cast<std::ptrdiff_t>(gap);
      for (const std::size_t d : order[is_turned && below(2) == 0 ? 1 : 0])
        s[d] = step, step *= static_cast<std::ptrdiff_t>(e[d]);
      std::ptrdiff_t first = 0;
      if (below(4) == 0) first = s[2] * static_cast<std::ptrdiff_t>(e[2] - 1), s[2] = -s[2];
      first += static_cast<std::ptrdiff_t>(below(5));
      return fr::array_view<T, 3, fr::memory_kind::unified>(whole.owner(), whole.unsynchronized_data() + first, e, s);
    };
    const std::size_t room = 2 * 5 * 33 * 130 + 10;
    auto a = counted<int>(fr::extents<1>{room}, -50);
    auto b = counted<std::int8_t>(fr::extents<1>{room});
    auto c = counted<double>(fr::extents<1>{room}, 7);
    fr::unified_array<std::int64_t> y({room}, -1);
    const auto va = view_of(a, true);
    const auto vb = view_of(b, true);
    const auto vc = view_of(c, true);
    auto vy = view_of(y, false);
    fr::transform(fr::out(vy), mix{}, va, vb, vc);
    const auto at = [](const auto& v, std::size_t i, std::size_t j, std::size_t k) {
      return v(v.extent(0) == 1 ? 0 : i, v.extent(1) == 1 ? 0 : j, v.extent(2) == 1 ? 0 : k);
    };
    bool good = true;
    for (std::size_t i = 0; i != shape[0]; ++i)
      for (std::size_t j = 0; j != shape[1]; ++j)
        for (std::size_t k = 0; k != shape[2]; ++k)
          good = good && vy(i, j, k) == mix{}(at(va, i, j, k), at(vb, i, j, k), at(vc, i, j, k));
    BOOST_TEST(good, "seed " << seed << ", shape " << shape.text());
    std::size_t written = 0;
    for (const std::int64_t v : y) written += v != -1;
    BOOST_TEST(written <= shape.count());
  }
}

BOOST_AUTO_TEST_CASE(orders_of_streams_hold_under_random_schedules) {
  if (!fr::runtime::current().is_simulated()) return;
  for (std::size_t seed = 0; seed != support::seeds(20); ++seed) {
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    fr::unified_array<int> x({500}, 0), y({500}, 0);
    fr::stream s, t;
    for (int k = 0; k != 10; ++k) {
      fr::transform(s, fr::out(y), add_one{}, x);
      fr::transform(t, fr::out(x), add_one{}, y);
    }
    BOOST_TEST(x[499] == 20);
    BOOST_TEST(y[0] == 19);
  }
}

BOOST_AUTO_TEST_CASE(calls_that_do_not_fit_are_refused) {
  fr::unified_array<float> x({10}, 1.f), y({10}, 2.f), z({7}, 3.f);
  fr::unified_array<float, 2> m({2, 10}, 1.f);
  x.name("x"), y.name("y"), z.name("z"), m.name("m");
  const auto fails = [](auto call, std::initializer_list<const char*> parts) {
    const std::string text = failure_of<fr::invalid_argument>(call);
    for (const char* part : parts)
      BOOST_TEST((text.find(part) != text.npos), "'" << part << "' is missing in: " << text);
  };
  fails([&] { fr::transform(fr::out(y), axpy{1}, z, y); }, {"'z'", "'y'", "extents must be equal"});
  fails([&] { fr::transform(fr::out(y), axpy{1}, m, y); }, {"'m'", "more dimensions"});
  fails(
      [&] {
        fr::transform(fr::out(y.slice({1, 10})), axpy{1}, y.slice({0, 9}), x.slice({0, 9}));
      },
      {"overlaps", "clone()"});
  fr::unified_array<double> d({10});
  fails([&] { fr::transform(fr::out(d), fr::out(z), fr::out(x), sum_difference_less{}, x, d); }, {"'z'", "one shape"});
  BOOST_TEST(y[0] == 2);
  fr::transform(fr::out(y.slice({0, 10, 2})), axpy{1}, y.slice({1, 10, 2}), x.slice({0, 5}));  // no element in common
  BOOST_TEST(y[8] == 3);
  y.free();
  BOOST_CHECK_THROW(fr::transform(fr::out(x), axpy{1}, y, x), fr::use_after_free);
}

BOOST_AUTO_TEST_SUITE_END()
