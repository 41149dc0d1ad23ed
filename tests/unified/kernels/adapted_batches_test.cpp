// Loops over batches of structs of arrays, which are cut along their first axes, and of lists of pieces.
#include <boost/test/unit_test.hpp>
#include <deque>
#include <ferry/unified.hpp>
#include <numeric>

#include "support/apart.hpp"
#include "support/failures.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;
using support::failure_of;
using support::has;

namespace adapted_batches {
namespace {

template <template <class, std::size_t> class A>
struct particles {
  A<double, 2> position;
  std::array<A<int, 1>, 2> keys;
  double dt;
  FERRY_MEMBERS(position, keys, dt);
};
template <template <class, std::size_t> class A>
struct samples {
  A<float, 1> values;
  int label;
  FERRY_MEMBERS(values, label);
};

struct move_all {
  FERRY_HOST_DEVICE void operator()(std::size_t i, particles<fr::mdspan> p) const {
    for (std::size_t j = 0; j != p.position.extent(1); ++j) p.position(i, j) += p.dt * p.keys[0](i);
    p.keys[1](i) = 2 * p.keys[0](i);
  }
};
struct sum_of {
  FERRY_HOST_DEVICE double operator()(std::size_t i, particles<fr::const_mdspan> p) const {
    return p.position(i, 0) + p.keys[0](i);
  }
};
struct value_of {
  FERRY_HOST_DEVICE float operator()(std::size_t i, fr::mdspan<const float, 1> a) const { return a(i); }
};
struct labelled_value {
  FERRY_HOST_DEVICE float operator()(std::size_t i, samples<fr::const_mdspan> s) const {
    return s.values(i) * static_cast<float>(s.label);
  }
};

template <template <class, std::size_t> class A>
particles<A> make_particles(std::size_t n) {
  particles<A> p{A<double, 2>({n, 3}), {A<int, 1>({n}), A<int, 1>({n})}, 0.5};
  std::iota(p.position.begin(), p.position.end(), 0.);
  std::iota(p.keys[0].begin(), p.keys[0].end(), 7);
  fr::fill(p.keys[1], -1);
  return p;
}

constexpr fr::detail::batch_threads both_ways[] = {fr::detail::batch_threads::background,
                                                   fr::detail::batch_threads::none};

float sum_of_values(const fr::device_array<float>& a) {
  return fr::parallel_reduce(a.size(), value_of{}, fr::plus{}, fr::in(a)).value();
}

}  // namespace
}  // namespace adapted_batches

BOOST_AUTO_TEST_SUITE(adapted_batches)

BOOST_AUTO_TEST_CASE(a_struct_is_cut_and_results_come_back) {
  for (const auto threads : both_ways)
    for (const std::size_t n : {0u, 1u, 99u, 100u, 1007u}) {
      auto p = make_particles<fr::unified_array>(n);
      std::size_t rows = 0;
      for (auto&& part : fr::batches(fr::inout(p), {.size = 100, .depth = 2, .threads = threads})) {
        static_assert(std::is_same_v<particles<fr::device_view>, std::remove_cvref_t<decltype(part)>>);
        BOOST_TEST((part.position.extent(0) <= 100 && part.keys[1].extent(0) == part.position.extent(0)));
        fr::parallel_for(part.position.extent(0), move_all{}, fr::inout(part));
        rows += part.position.extent(0);
      }
      BOOST_TEST(rows == n);
      bool right = true;
      for (std::size_t i = 0; i != n; ++i) {
        const int key = static_cast<int>(i) + 7;
        for (std::size_t j = 0; j != 3; ++j)
          right = right && p.position(i, j) == static_cast<double>(3 * i + j) + 0.5 * key;
        right = right && p.keys[0](i) == key && p.keys[1](i) == 2 * key;
      }
      BOOST_TEST(right, n << " rows");
    }
}

BOOST_AUTO_TEST_CASE(a_struct_that_is_only_read_stays_as_it_is) {
  const auto p = make_particles<fr::host_array>(250);
  double sum = 0;
  for (auto&& part : fr::batches(p, {.size = 64}))
    sum += fr::parallel_reduce(part.position.extent(0), sum_of{}, fr::plus{}, fr::in(part)).value();
  double expected = 0;
  for (std::size_t i = 0; i != 250; ++i) expected += static_cast<double>(3 * i) + static_cast<double>(i + 7);
  BOOST_TEST(sum == expected);
  BOOST_TEST(std::count(p.keys[1].begin(), p.keys[1].end(), -1) == 250);
}

BOOST_AUTO_TEST_CASE(narrow_structs_are_cut) {
  const auto p = fr::adapt<fr::host_array>(make_particles<fr::host_array>(10), fr::narrow);
  float first = 0;
  for (auto&& part : fr::batches(p, {.size = 4})) {
    static_assert(std::is_same_v<float, std::remove_cvref_t<decltype(part.position)>::value_type>);
    first += fr::to_vector(part.position).front();
  }
  BOOST_TEST(first == 0.f + 12.f + 24.f);
}

BOOST_AUTO_TEST_CASE(members_of_a_struct_have_equal_lengths) {
  auto p = make_particles<fr::unified_array>(10);
  p.keys[1] = fr::unified_array<int>({11}, 0);
  const std::string text = failure_of<fr::invalid_argument>([&] { (void)fr::batches(p).begin(); });
  BOOST_TEST(has(text, "one source has 10 rows and another 11"), text);
}

BOOST_AUTO_TEST_CASE(elements_of_a_list_are_pieces) {
  for (const auto threads : both_ways)
    for (const std::size_t n : {0u, 1u, 2u, 9u}) {
      std::vector<std::tuple<std::vector<float>, int>> list;
      for (std::size_t i = 0; i != n; ++i)
        list.emplace_back(std::vector<float>(100 * i + 1, static_cast<float>(i)), static_cast<int>(i));
      std::size_t pieces = 0;
      for (auto&& [values, number] : fr::batches(list, {.depth = 2, .threads = threads})) {
        static_assert(std::is_same_v<fr::device_array<float>, std::remove_cvref_t<decltype(values)>>);
        BOOST_TEST((values.size() == 100 * pieces + 1 && number == static_cast<int>(pieces)));
        BOOST_TEST(sum_of_values(values) == static_cast<float>(pieces * (100 * pieces + 1)));
        ++pieces;
      }
      BOOST_TEST(pieces == n);
    }
}

BOOST_AUTO_TEST_CASE(lists_of_structs_and_of_vectors) {
  std::deque<samples<fr::cpu_vector>> list;
  for (int i = 1; i <= 4; ++i) list.push_back({std::vector<float>(10, 1.f), i});
  float sum = 0;
  for (auto& s : fr::batches(list))
    sum += fr::parallel_reduce(s.values.size(), labelled_value{}, fr::plus{}, fr::in(s)).value();
  BOOST_TEST(sum == 100.f);
  const std::vector<std::vector<float>> ragged{{1}, {}, {2, 3}};
  sum = 0;
  for (auto& a : fr::batches(ragged)) sum += a.empty() ? 0.f : sum_of_values(a);
  BOOST_TEST(sum == 6.f);
}

BOOST_AUTO_TEST_CASE(generators_return_pieces) {
  int made = 0;
  const auto next = [&]() -> std::optional<std::pair<std::vector<float>, double>> {
    if (made == 5) return {};
    ++made;
    return std::pair(std::vector<float>(10, static_cast<float>(made)), 0.5);
  };
  float sum = 0;
  for (auto& [values, factor] : fr::batches(fr::generate(next), {.depth = 2}))
    sum += sum_of_values(values) * static_cast<float>(factor);
  BOOST_TEST(sum == 75.f);
}

BOOST_AUTO_TEST_CASE(a_list_has_no_size_of_pieces) {
  const std::vector<std::vector<float>> list{{1}, {2}};
  const std::string text = failure_of<fr::invalid_argument>([&] { (void)fr::batches(list, {.size = 2}); });
  BOOST_TEST(has(text, "leave the size at 0"), text);
}

// Pieces of a struct and of a list are ordered with the work of the loop on other streams, and freed in flight.
BOOST_AUTO_TEST_CASE(pieces_are_ordered_with_the_loop,
                     *boost::unit_test::precondition(support::devices_are_simulated)) {
  for (std::size_t seed = 0; seed <= support::seeds(20); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      const fr::simulation sim("devices=2;check=on" +
                               (seed ? ";schedule=random:" + std::to_string(seed) : std::string()));
      const fr::stream s(fr::device(1));
      auto p = make_particles<fr::host_array>(23);
      for (auto&& part : fr::batches(fr::inout(p), {.size = 5, .depth = 2, .on = fr::device(1)}))
        fr::parallel_for(s, part.position.extent(0), move_all{}, fr::inout(part));
      BOOST_TEST((p.keys[1](22) == 2 * 29 && p.position(22, 2) == 68. + 0.5 * 29));
      const std::vector<std::pair<std::vector<float>, int>> list(5, {std::vector<float>(64, 2.f), 1});
      float sum = 0;
      for (auto& [values, one] : fr::batches(list, {.depth = 2, .on = fr::device(1)})) {
        sum += sum_of_values(values);
        fr::fill(s, values, 3.f);
      }
      BOOST_TEST(sum == 5 * 128.f);
    }
}

BOOST_AUTO_TEST_SUITE_END()
