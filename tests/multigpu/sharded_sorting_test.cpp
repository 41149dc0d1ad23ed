// Sorting of sharded arrays: random ones under random schedules with the race checker; submissions; errors.
#include "multigpu/random_sharded_sorting.hpp"
#include "support/check_error.hpp"

namespace sharded_sorting {
namespace {

using support::check_error;

std::string machine(std::size_t seed, std::size_t devices) {
  return shards::simulated_machine(seed, devices) + ";check=races";
}
constexpr std::size_t members[] = {1, 2, 3, 4, 8};

template <class... T>
void check_on_all(std::size_t seed) {
  for (const std::size_t n : members) {
    BOOST_TEST_CONTEXT("seed " << seed << ", " << n << " members") {
      fr::simulation sim(machine(seed, n));
      dice d(seed * 8 + n);
      fr::team t = fr::team::all();
      if (seed % 6 == 5) t.submit(fr::submission::by_threads);
      check_types<T...>(d, t);
    }
  }
}

}  // namespace
}  // namespace sharded_sorting

BOOST_AUTO_TEST_SUITE(sharded_sorting)

BOOST_AUTO_TEST_CASE(integers) {
  for (std::size_t seed = 0; seed != support::seeds(18); ++seed)
    check_on_all<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                 std::int64_t, std::uint64_t>(seed);
}

BOOST_AUTO_TEST_CASE(floating_point) {
  for (std::size_t seed = 0; seed != support::seeds(18); ++seed)
    check_on_all<fr::half, fr::bfloat16, float, double>(seed);
}

BOOST_AUTO_TEST_CASE(unified_shards) {
  for (std::size_t seed = 0; seed != support::seeds(10); ++seed) {
    fr::simulation sim(machine(seed, 3));
    dice d(seed);
    check_one_dimension<float, fr::memory_kind::unified>(d, fr::team::all());
    check_one_dimension<std::int64_t, fr::memory_kind::unified>(d, fr::team::all());
  }
}

BOOST_AUTO_TEST_CASE(lines) {
  for (std::size_t seed = 0; seed != support::seeds(40); ++seed)
    for (const std::size_t n : members) {
      fr::simulation sim(machine(seed, n));
      dice d(seed * 8 + n);
      check_lines<float>(d, fr::team::all());
      check_lines<std::int16_t>(d, fr::team::all());
    }
}

// Elements of an expression, with cells of neighbours; the destination is an operand.
BOOST_AUTO_TEST_CASE(expressions) {
  for (std::size_t seed = 0; seed != support::seeds(20); ++seed) {
    fr::simulation sim(machine(seed, 3));
    const fr::team t = fr::team::all();
    dice d(seed);
    const std::size_t n = 3 + d.below(40);
    std::vector<float> v(n), want(n);
    for (float& x : v) x = static_cast<float>(d.below(20));
    auto u = shards_of<float, fr::memory_kind::device>(v, t, 1);
    for (std::size_t i = 0; i != n; ++i) want[i] = 2 * v[i] - (i + 1 != n ? v[i + 1] : 3.f);
    std::sort(want.begin(), want.end());
    BOOST_TEST(fr::to_vector(fr::sort(2 * u - fr::shift(u, {1}))) == want);
    fr::sort_into(u, 2 * u - fr::shift(u, {1}));
    BOOST_TEST(fr::to_vector(u) == want);
    fr::exchange_halos(u);
    const float sum = fr::sum(fr::shift(u, {1}) - u).value();
    BOOST_TEST(sum == 3.f - want.front());
  }
}

// What reads the result waits for it on the devices; halos of the result are out of date.
BOOST_AUTO_TEST_CASE(results_are_ordered) {
  for (std::size_t seed = 0; seed != support::seeds(20); ++seed) {
    fr::simulation sim(machine(seed, 4));
    const fr::team t = fr::team::all();
    std::vector<float> v(40);
    std::iota(v.rbegin(), v.rend(), 0.f);
    auto u = shards_of<float, fr::memory_kind::device>(v, t, 1);
    u += 1;
    fr::exchange_halos(u);
    fr::sort_in_place(u);
    fr::sharded_array<float, 1> y(t, {40}, {.halo = 1});
    y = fr::shift(u, {1}) - u;  // exchanges
    u = -u;
    std::vector<float> want(40, 1.f);
    want.back() = 3.f - 40.f;
    BOOST_TEST(fr::to_vector(y) == want);
  }
}

BOOST_AUTO_TEST_CASE(relatives) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 1> u(t, {7});
  u = fr::cast<float>(fr::index(0) % 4);  // 0 1 2 3 0 1 2
  BOOST_TEST(fr::to_vector(fr::unique(2 * u)) == std::vector<float>({0, 2, 4, 6}));
  const auto [values, places] = fr::top_k(-u, 3);
  BOOST_TEST(fr::to_vector(values) == std::vector<float>({0, 0, -1}));
  BOOST_TEST(fr::to_vector(places) == std::vector<std::int64_t>({0, 4, 1}));
  const fr::replicated_array<double, 1> half(t, {2}, 1.5);
  BOOST_TEST(fr::to_vector(fr::searchsorted(half, u)) == std::vector<std::int64_t>({0, 0, 2, 2, 0, 0, 2}));
  fr::sharded_array<float, 2> rows(t, {7, 2}, {.axis = 0});
  rows = fr::cast<float>(fr::index(0) + fr::index(1));
  const auto found = fr::searchsorted(fr::cast<float>(half), rows);
  BOOST_TEST(fr::to_vector(found) == std::vector<std::int64_t>({0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}));
  const fr::sharded_array<float, 1> none(t, {0});
  BOOST_TEST(fr::unique(none).size() == 0u);
  BOOST_TEST(fr::sort(none).size() == 0u);
  BOOST_TEST(fr::top_k(none, 0).values.size() == 0u);
}

BOOST_AUTO_TEST_CASE(bad_input) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all(), other(fr::devices().subspan(0, 1));
  fr::sharded_array<float, 1> u(t, {6}, {}, 1.f), small(t, {5}, {}, 1.f), foreign(other, {6}, {}, 1.f);
  fr::sharded_array<float, 2> rows(t, {6, 4}, {}, 1.f), columns(t, {6, 4}, {.axis = 1}, 1.f);
  fr::replicated_array<float, 1> copies(t, {6}, 1.f);
  u.name("u"), small.name("small"), foreign.name("foreign"), rows.name("rows"), columns.name("columns");
  using error = fr::invalid_argument;
  check_error<error>([&] { (void)fr::sort(u, 1); }, {"fr::sort: there is no axis 1", "1 dimensions"});
  check_error<error>([&] { (void)fr::sort(rows, 0); }, {"fr::sort('rows')", "along axis 0", "'rows'", "reshard it"});
  check_error<error>([&] { fr::sort_in_place(columns); },
                     {"fr::sort_in_place('columns')", "along axis 1", "reshard it"});
  check_error<error>([&] { fr::sort_into(small, u); }, {"fr::sort_into('u') to", "'small'", "shape", "'u'"});
  check_error<error>([&] { fr::sort_into(foreign, u); }, {"'foreign'", "team", "'u'"});
  check_error<error>([&] { fr::sort_into(columns, rows, 1); }, {"'columns'", "distribution of", "'rows'"});
  check_error<error>([&] { (void)fr::sort(u + small); }, {"'u' of 6", "'small' of 5"});
  check_error<error>([&] { (void)fr::argsort(copies); }, {"reads no sharded array"});
  check_error<error>([&] { (void)fr::top_k(u, 7); }, {"fr::top_k", "7 elements", "6"});
  check_error<error>([&] { (void)fr::top_k(u, 1, 1); }, {"fr::top_k: there is no axis 1"});
  check_error<error>([&] { (void)fr::searchsorted(u, small); }, {"fr::searchsorted in 'u'", "'u' of 6", "replicated"});
  check_error<error>([&] { (void)fr::searchsorted(copies, foreign); }, {"fr::searchsorted", "another team"});
  check_error<error>([&] { (void)fr::capture(t.stream(0), [&] { fr::sort_in_place(u); }); }, {"fr::sort_in_place"});
  BOOST_TEST(fr::to_vector(u) == std::vector<float>(6, 1.f));
}

BOOST_AUTO_TEST_SUITE_END()
