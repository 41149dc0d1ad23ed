// Uploads that keep the type: wrappers, views, structs with listed members, other kinds of memory, and back.
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <random>
#include <string>

#include "support/failures.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;
using support::failure_of;
using support::has;

namespace adaptions {
namespace {

template <template <class, std::size_t> class A>
struct layer {
  A<float, 2> weights;
  int width;
  FERRY_MEMBERS(weights, width);
};
template <template <class, std::size_t> class A, class Scale = double>
struct network {
  A<double, 1> bias;
  std::array<layer<A>, 2> layers;
  Scale scale;
  std::optional<A<int, 1>> mask;
  std::vector<A<float, 1>> rest;
  std::array<double, 2> bounds;
  FERRY_MEMBERS(bias, layers, scale, mask, rest, bounds);
};
struct table {  // arrays of fixed types
  fr::device_array<float> values;
  fr::unified_array<int> keys;
  bool sorted;
  FERRY_MEMBERS(values, keys, sorted);
};

std::vector<double> random_numbers(std::mt19937& random, std::size_t n) {
  std::vector<double> v(n);
  for (double& x : v) x = static_cast<double>(random() % 1000) + 0.5;
  return v;
}
template <class T>
std::vector<T> as(const std::vector<double>& v) {
  return std::vector<T>(v.begin(), v.end());
}

// A network and its elements.
struct sample {
  std::vector<double> bias, first, second, mask, rest;
  explicit sample(std::mt19937& random)
      : bias(random_numbers(random, 1 + random() % 50)),
        first(random_numbers(random, 12)),
        second(random_numbers(random, 20)),
        mask(random_numbers(random, random() % 3 * 7)),
        rest(random_numbers(random, 1 + random() % 9)) {}
  network<fr::unified_array> arrays(fr::device d) const {
    network<fr::unified_array> n{
        fr::unified_array<double>::from(bias, d),
        {layer<fr::unified_array>{fr::unified_array<float, 2>::from(as<float>(first), {3, 4}, d), 3},
         layer<fr::unified_array>{fr::unified_array<float, 2>::from(as<float>(second), {4, 5}, d), 4}},
        0.25,
        {},
        {},
        {-1, 1}};
    if (!mask.empty()) n.mask = fr::unified_array<int>::from(as<int>(mask), d);
    n.rest.push_back(fr::unified_array<float>::from(as<float>(rest), d));
    n.bias.name("bias of a network");
    return n;
  }
  template <class Network>
  void is_in(const Network& n, fr::device d) const {
    using number = typename decltype(n.bias)::value_type;
    BOOST_TEST(fr::to_vector(n.bias) == as<number>(bias));
    BOOST_TEST(fr::to_vector(n.layers[0].weights) == as<float>(first));
    BOOST_TEST(fr::to_vector(n.layers[1].weights) == as<float>(second));
    BOOST_TEST((n.layers[1].weights.extents() == fr::extents<2>(4, 5)));
    BOOST_TEST((n.layers[0].width == 3 && n.layers[1].width == 4 && n.scale == 0.25 && n.bounds[0] == -1));
    BOOST_TEST(n.mask.has_value() == !mask.empty());
    if (n.mask) BOOST_TEST(fr::to_vector(*n.mask) == as<int>(mask));
    BOOST_TEST(n.rest.size() == 1U);
    BOOST_TEST(fr::to_vector(n.rest[0]) == as<float>(rest));
    BOOST_TEST((n.bias.device() == d && n.layers[1].weights.device() == d && n.rest[0].device() == d));
    BOOST_TEST(n.bias.name() == "bias of a network");
  }
};

void each_schedule(auto run) {
  for (std::size_t seed = 0; seed <= support::seeds(20); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      const fr::simulation sim("devices=2;check=on" +
                               (seed ? ";schedule=random:" + std::to_string(seed) : std::string()));
      std::mt19937 random(static_cast<unsigned>(seed));
      run(random);
    }
}

template <class To, class From>
inline constexpr bool same = std::is_same_v<To, std::remove_cvref_t<From>>;

}  // namespace
}  // namespace adaptions

BOOST_AUTO_TEST_SUITE(adaptions)

BOOST_AUTO_TEST_CASE(structs_go_to_other_kinds_and_devices_and_back) {
  each_schedule([](std::mt19937& random) {
    const sample s(random);
    const network<fr::unified_array> n = s.arrays(fr::device(0));
    const network<fr::device_array> on_device = fr::adapt<fr::device_array>(n);
    s.is_in(on_device, fr::device(0));
    const network<fr::device_array> elsewhere = fr::adapt(fr::device(1), on_device);
    s.is_in(elsewhere, fr::device(1));
    s.is_in(fr::adapt<fr::device_array>(fr::device(1), n), fr::device(1));
    const network<fr::unified_array> same_kind = fr::adapt(fr::device(1), n);
    s.is_in(same_kind, fr::device(1));
    const network<fr::host_array> back = fr::adapt<fr::host_array>(elsewhere);
    s.is_in(back, fr::device(1));
    s.is_in(n, fr::device(0));
  });
}

BOOST_AUTO_TEST_CASE(a_struct_of_fixed_types_moves_to_another_device) {
  const fr::simulation sim("devices=2;check=on");
  const table t{fr::device_array<float>::from({1.f, 2.f}), fr::unified_array<int>::from({3, 4, 5}), true};
  const table u = fr::adapt(fr::device(1), t);
  BOOST_TEST((u.values.device() == fr::device(1) && u.keys.device() == fr::device(1) && u.sorted));
  BOOST_TEST((fr::to_vector(u.values) == std::vector<float>{1, 2} && fr::to_vector(u.keys) == std::vector{3, 4, 5}));
}

BOOST_AUTO_TEST_CASE(wrappers_keep_their_types) {
  const fr::simulation sim("devices=2;check=on");
  const fr::device d(1);
  const std::tuple all(std::vector<float>{1, 2}, 7, std::pair(fr::host_array<int>::from({5}), 0.5),
                       std::array{fr::unified_array<double>::from({1.5}), fr::unified_array<double>::from({2.5})},
                       std::optional<std::vector<bool>>(std::vector<bool>{true, false}),
                       std::optional<std::vector<int>>());
  const auto made = fr::adapt(d, all);
  static_assert(same<std::tuple<fr::device_array<float>, int, std::pair<fr::host_array<int>, double>,
                                std::array<fr::unified_array<double>, 2>, std::optional<fr::device_array<bool>>,
                                std::optional<fr::device_array<int>>>,
                     decltype(made)>);
  BOOST_TEST((fr::to_vector(std::get<0>(made)) == std::vector<float>{1, 2} && std::get<0>(made).device() == d));
  BOOST_TEST((fr::to_vector(std::get<2>(made).first) == std::vector{5} && std::get<2>(made).second == 0.5));
  BOOST_TEST((fr::to_vector(std::get<3>(made)[1]) == std::vector{2.5} && std::get<3>(made)[1].device() == d));
  BOOST_TEST((fr::to_vector(*std::get<4>(made)) == std::vector<bool>{true, false}));
  BOOST_TEST((std::get<1>(made) == 7 && !std::get<5>(made)));

  const auto back = fr::adapt<fr::cpu_vector>(made);
  static_assert(
      same<std::tuple<std::vector<float>, int, std::pair<std::vector<int>, double>, std::array<std::vector<double>, 2>,
                      std::optional<std::vector<bool>>, std::optional<std::vector<int>>>,
           decltype(back)>);
  BOOST_TEST((std::get<0>(back) == std::get<0>(all) && std::get<2>(back).first == std::vector{5}));
  BOOST_TEST((*std::get<4>(back) == *std::get<4>(all) && std::get<3>(back)[0] == std::vector{1.5}));
}

BOOST_AUTO_TEST_CASE(vectors_of_vectors_are_uploaded) {
  const fr::simulation sim("devices=2;check=on");
  const std::pair vectors(std::vector<double>{1, 2, 3}, std::vector<std::vector<float>>{{1}, {2, 3}});
  const auto made = fr::adapt<fr::host_array>(fr::device(1), vectors);
  static_assert(same<std::pair<fr::host_array<double>, std::vector<fr::host_array<float>>>, decltype(made)>);
  BOOST_TEST((fr::to_vector(made.second.at(1)) == std::vector<float>{2, 3} && made.first.device() == fr::device(1)));
}

BOOST_AUTO_TEST_CASE(views_and_transposes_stay_views) {
  each_schedule([](std::mt19937& random) {
    fr::unified_array<double, 3> a({4, 5, 6}, 0);
    for (double& x : a) x = static_cast<double>(random() % 100);
    const auto transpose = std::as_const(a).transpose();
    const auto part = a.slice({{1, 3}, {2, 4}, {0, 6, 2}});
    const auto t = fr::adapt<fr::device_array>(transpose);
    static_assert(same<fr::array_view<const double, 3, fr::memory_kind::device>, decltype(t)>);
    BOOST_TEST((t.extents() == fr::extents<3>(6, 5, 4) && t.strides() == fr::strides<3>{1, 6, 30}));
    BOOST_TEST(fr::to_vector(t) == fr::to_vector(transpose));
    const auto p = fr::adapt(fr::device(1), std::tuple(part, 1));
    static_assert(same<std::tuple<fr::array_view<double, 3, fr::memory_kind::unified>, int>, decltype(p)>);
    BOOST_TEST(fr::to_vector(std::get<0>(p)) == fr::to_vector(part));
    BOOST_TEST((std::get<0>(p).is_contiguous() && std::get<0>(p).device() == fr::device(1)));
    const auto reversed = a.slice({{0, 4, -1}, {0, 5, 2}});
    BOOST_TEST(fr::to_vector(fr::adapt<fr::host_array>(reversed)) == fr::to_vector(reversed));
  });
}

BOOST_AUTO_TEST_CASE(narrowing_turns_arrays_of_double_to_float) {
  each_schedule([](std::mt19937& random) {
    const sample s(random);
    const auto n = s.arrays(fr::device(0));
    const auto narrow = fr::adapt<fr::device_array>(n, fr::narrow);
    static_assert(same<network<fr::narrowed<fr::device_array>::array>, decltype(narrow)>);
    static_assert(same<fr::device_array<float>, decltype(narrow.bias)> && same<double, decltype(narrow.scale)>);
    s.is_in(narrow, fr::device(0));
    const auto elsewhere = fr::adapt(fr::device(1), n, fr::narrow);
    static_assert(same<fr::unified_array<float>, decltype(elsewhere.bias)>);
    s.is_in(elsewhere, fr::device(1));
    const auto t = fr::adapt(fr::device(1), std::tuple(s.bias, 0.5, std::vector{1}), fr::narrow);
    static_assert(same<std::tuple<fr::device_array<float>, double, fr::device_array<int>>, decltype(t)>);
    BOOST_TEST(fr::to_vector(std::get<0>(t)) == as<float>(s.bias));
  });
}

BOOST_AUTO_TEST_CASE(structures_of_arrays_are_uploaded) {
  const fr::simulation sim("devices=2;check=on");
  const auto s = fr::unified_soa<float, int>::from(std::vector<float>{1, 2}, std::vector<int>{3, 4});
  const auto made = fr::adapt<fr::device_array>(fr::device(1), std::pair(fr::to_unified(s), 1));
  static_assert(same<std::pair<fr::device_soa<float, int>, int>, decltype(made)>);
  BOOST_TEST((fr::to_vector(made.first.member<1>()) == std::vector{3, 4} && made.first.device() == fr::device(1)));
}

// Uploads wait for work that writes the members, and work on the members waits for copies out of them.
BOOST_AUTO_TEST_CASE(uploads_are_ordered_with_work_on_members) {
  each_schedule([](std::mt19937&) {
    const fr::stream one(fr::device(0)), two(fr::device(1));
    network<fr::device_array> n{fr::device_array<double>({64}, 0.),
                                {layer<fr::device_array>{fr::device_array<float, 2>({8, 8}, 0.f), 8},
                                 layer<fr::device_array>{fr::device_array<float, 2>({8, 8}, 0.f), 8}},
                                1,
                                {},
                                {},
                                {}};
    for (int round = 1; round <= 3; ++round) {
      fr::fill(one, n.bias, static_cast<double>(round));
      fr::fill(two, n.layers[1].weights, static_cast<float>(-round));
      const auto copy = fr::adapt(fr::device(1), n);
      fr::fill(two, n.bias, 100.);
      fr::fill(one, n.layers[1].weights, 100.f);
      BOOST_TEST(fr::to_vector(copy.bias) == std::vector<double>(64, round));
      BOOST_TEST(fr::to_vector(copy.layers[1].weights) == std::vector<float>(64, static_cast<float>(-round)));
    }
  });
}

BOOST_AUTO_TEST_CASE(errors_name_the_member) {
  const fr::simulation sim("devices=2;check=on");
  network<fr::device_array> n{fr::device_array<double>({4}, 0.),
                              {layer<fr::device_array>{fr::device_array<float, 2>({2, 2}, 0.f), 2},
                               layer<fr::device_array>{fr::device_array<float, 2>({2, 2}, 0.f), 2}},
                              1,
                              {},
                              {},
                              {}};
  n.layers[1].weights.free();
  const std::string text = failure_of<fr::use_after_free>([&] { (void)fr::adapt(fr::device(1), n); });
  BOOST_TEST(has(text, "network.layers[1].weights: "), text);
  BOOST_TEST(has(text, "adapt_test.cpp:"), text);
  std::tuple t(1, fr::device_array<int>({3}, 0));
  std::get<1>(t).free();
  const std::string of_tuple = failure_of<fr::use_after_free>([&] { (void)fr::adapt<fr::host_array>(t); });
  BOOST_TEST(has(of_tuple, "tuple[1]: "), of_tuple);
}

BOOST_AUTO_TEST_CASE(empty_and_moved_arrays_are_adapted) {
  const fr::simulation sim("devices=2;check=on");
  const auto t = fr::adapt<fr::device_array>(std::tuple(fr::unified_array<float, 2>(), std::vector<int>()));
  BOOST_TEST((std::get<0>(t).empty() && std::get<1>(t).empty()));
  BOOST_TEST(fr::adapt<fr::cpu_vector>(std::get<1>(t)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
